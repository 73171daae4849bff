/* A library that wants code on stacks (GCC's nested functions, gfortran's internal procedures) is opened after the
 * first regions. Members that exist and new ones call it, also in nested regions and tasks. argv[2] "within": a member
 * opens it, and calls it in the same region, as the others do. */
#include "check.h"
#include <dlfcn.h>

typedef long add_function(long mine, long x);

/* By members that have run before, and by some that have not; behind a barrier, where they have stacks of their own. */
static void use(add_function *add, int n)
{
    long sum = 0, inner = 0, tasks = 0;
#pragma omp parallel num_threads(n) reduction(+ : sum, inner)
    {
        int id = omp_get_thread_num();
#pragma omp barrier
        sum += add(id, 100);
#pragma omp parallel num_threads(2) reduction(+ : inner)
        {
#pragma omp barrier
            inner += add(omp_get_thread_num(), 10);
        }
#pragma omp single
        for (long i = 0; i < 20; i++)
#pragma omp task shared(tasks)
        {
            long one = add(i, 1);
#pragma omp atomic
            tasks += one;
        }
    }
    CHECK(sum == 100L * n + (long)n * (n - 1) / 2);
    CHECK(inner == 21L * n);
    CHECK(tasks == 190 + 20);
}

/* NULL: not to be had. */
static add_function *open_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) { /* C libraries from 2.41 on open none */
        printf("SKIPPED: %s\n", dlerror());
        return NULL;
    }
    add_function *add = (add_function *)dlsym(library, "library_add");
    CHECK(add);
    return add;
}

/* Each member is on a stack of its own by then, for all wait for the one that opens the library. */
static add_function *open_within(const char *path, int n)
{
    add_function *add = NULL;
    long sum = 0, inner = 0;
#pragma omp parallel num_threads(n) reduction(+ : sum, inner)
    {
        int id = omp_get_thread_num();
#pragma omp barrier
        if (id == n - 1) {
            add = open_library(path);
            sum += add ? add(id, 100) : 0;
        }
#pragma omp barrier
        if (add && id != n - 1)
            sum += add(id, 100);
        if (add) {
#pragma omp parallel num_threads(2) reduction(+ : inner)
            {
#pragma omp barrier
                inner += add(omp_get_thread_num(), 10);
            }
        }
    }
    CHECK(!add || (sum == 100L * n + (long)n * (n - 1) / 2 && inner == 21L * n));
    return add;
}

int main(int argc, char **argv)
{
    int within = argc == 3 && !strcmp(argv[2], "within");
    CHECK(argc == 2 || within);
    omp_set_max_active_levels(2);
    int before = 0;
#pragma omp parallel num_threads(4) reduction(+ : before)
    {
#pragma omp barrier
#pragma omp parallel num_threads(2) reduction(+ : before)
        {
#pragma omp barrier
            before++;
        }
    }
    CHECK(before == 8);
    add_function *add = within ? open_within(argv[1], 4) : open_library(argv[1]);
    if (!add)
        return 77;
    use(add, 4);
    use(add, 12);
    return 0;
}
