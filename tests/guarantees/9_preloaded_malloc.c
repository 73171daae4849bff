/* A preloaded malloc has a mutex. A member holds it for long, while the first member, on whose kernel thread it runs,
 * can go on. Both go on: the first member calls malloc as well, and so does the runtime, also to start a kernel
 * thread. 9_preloaded_malloc LIBRARY; MALLOC_IN_PROGRAM: the same, where the program has that malloc itself. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "check.h"
#include "malloc_library.h"
#include <stdlib.h>
#include <unistd.h>
#if defined(MALLOC_IN_PROGRAM)
#include "malloc_library.c"
#endif

#define MEMBERS 4
#define ROUNDS 12

static omp_lock_t lock;

static void dally(void)
{
    void *volatile p = malloc(DALLY_BYTES);
    CHECK(p);
    free(p);
}

/* The member lets the first one go on, and is inside malloc before that one runs. */
static void region(int holder)
{
    int inside = 0;
#pragma omp parallel num_threads(MEMBERS)
    {
        int id = omp_get_thread_num();
        if (id == holder)
            omp_set_lock(&lock);
#pragma omp barrier
        if (id == holder) {
            omp_unset_lock(&lock);
            dally();
        } else if (id == 0) {
            omp_set_lock(&lock);
            omp_unset_lock(&lock);
            void *volatile p = malloc(100);
            free(p);
            inside = 1;
        }
#pragma omp barrier
        CHECK(inside == 1);
        for (int i = 0; i < 100; i++) {
            void *volatile p = malloc((size_t)(16 + i));
            free(p);
        }
    }
}

int main(int argc, char **argv)
{
#if !defined(MALLOC_IN_PROGRAM)
    CHECK(argc > 1);
    if (!getenv("LD_PRELOAD")) {
        setenv("LD_PRELOAD", argv[1], 1);
        execv("/proc/self/exe", argv);
    }
#else
    (void)argc, (void)argv;
#endif
    omp_init_lock(&lock);
    for (int i = 0; i < ROUNDS; i++)
        region(1 + i % (MEMBERS - 1));
    return 0;
}
