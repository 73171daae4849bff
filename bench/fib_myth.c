/* fib_task.c's recursion on massivethreads, a thread a call: a peer that is no OpenMP. fib_myth LIBRARY [N]
 * LIBRARY: its libmyth.so, opened when this runs, so that nothing here needs it to be built. */
#include "sample.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *(*create)(void *(*f)(void *), void *arg);
static int (*join)(void *thread, void **result);

static void *fib(void *arg)
{
    unsigned long n = (unsigned long)arg;
    void *a;
    if (n < 2)
        return arg;
    void *child = create(fib, (void *)(n - 1));
    unsigned long b = (unsigned long)fib((void *)(n - 2));
    join(child, &a);
    return (void *)((unsigned long)a + b);
}

int main(int argc, char **argv)
{
    unsigned n = argc > 2 ? (unsigned)atoi(argv[2]) : 25;
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
    if (!library) {
        fprintf(stderr, "fib_myth LIBRARY [N]: %s\n", argc > 1 ? dlerror() : "no library");
        return 2;
    }
    *(void **)&create = dlsym(library, "myth_create");
    *(void **)&join = dlsym(library, "myth_join");
    if (!create || !join) {
        fprintf(stderr, "fib_myth: %s has no myth_create and myth_join\n", argv[1]);
        return 2;
    }
    double ns[5];
    unsigned long x = 1, y = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned long z = x + y;
        y = x, x = z;
    }
    for (int i = 0; i < 5; i++) {
        double start = sample_now();
        unsigned long result = (unsigned long)fib((void *)(unsigned long)n);
        ns[i] = (sample_now() - start) / ((double)x - 1) * 1e9;
        if (result != y) {
            fprintf(stderr, "fib_myth: fib(%u) = %lu, wanted %lu\n", n, result, y);
            return 1;
        }
    }
    sample_print("fib, a task", "ns", ns, 5);
    return 0;
}
