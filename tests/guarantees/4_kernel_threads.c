/* However deep and wide the nesting is, the process has at most one kernel thread for each vp and one for each foreign
 * caller, and the watchdog where it has just been started (see kernel_threads.h). libgomp has a kernel thread for each
 * OpenMP thread. */
#include "check.h"
#include "kernel_threads.h"

#include <pthread.h>

#define FOREIGN 3
#define DEPTH 6
#define WIDTH 4

static long most;

static void nest(int depth, long *leaves)
{
    if (depth == 0) {
        __atomic_add_fetch(leaves, 1, __ATOMIC_RELAXED);
        if (omp_get_ancestor_thread_num(1) == 0 && omp_get_thread_num() == WIDTH - 1) {
            long n = count_kernel_threads(0), seen = __atomic_load_n(&most, __ATOMIC_RELAXED);
            while (n > seen && !__atomic_compare_exchange_n(&most, &seen, n, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
                continue;
        }
        return;
    }
#pragma omp parallel num_threads(WIDTH)
    {
#pragma omp barrier
        nest(depth - 1, leaves);
    }
}

static void *foreign(void *arg)
{
    long leaves = 0;
    omp_set_max_active_levels(DEPTH); /* each root has its own */
    nest(DEPTH - 2, &leaves);
    CHECK(leaves == 256);
    return arg;
}

int main(void)
{
    pthread_t other[FOREIGN];
    const char *vps = getenv("PSTHREADS_NUM_VPS");
    long allowed = (vps ? atol(vps) : omp_get_num_procs()) + FOREIGN + 1, leaves = 0;
    omp_set_max_active_levels(DEPTH);
    for (int i = 0; i < FOREIGN; i++)
        CHECK(pthread_create(&other[i], NULL, foreign, NULL) == 0);
    nest(DEPTH, &leaves);
    for (int i = 0; i < FOREIGN; i++)
        pthread_join(other[i], NULL);
    CHECK(leaves == 4096);
    printf("at most %ld kernel threads, %ld allowed\n", most, allowed);
    CHECK(most > 0 && most <= allowed);
    return 0;
}
