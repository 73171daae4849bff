/* Work-sharing, locks, and the rest: what a tool is told of them. The compilers call the runtime for different
 * constructs: GCC not for static loops, sections it calls loops, masked it tests itself. */
#include <omp.h>

#include "checker.h"

#ifdef __clang__
#define CLANG 1
#else
#define CLANG 0
#endif

/* Loops without a barrier behind them run beside the next ones. */
#define ADD_ONE(to) __atomic_fetch_add(&(to), 1, __ATOMIC_RELAXED)

enum { N = 4, ITERATIONS = 100 };
enum { SECTIONS = 2, EXECUTOR = 3, OTHER = 4, TASKLOOP = 7, STATIC = 10, DYNAMIC = 11, GUIDED = 12 };

int main(void)
{
    static int sum, hits[ITERATIONS];
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_set_dynamic(0);
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
    COUNT(n_locks, 2);
#pragma omp parallel num_threads(N)
    {
#pragma omp for schedule(static)
        for (int i = 0; i < ITERATIONS; i++)
            hits[i]++;
#pragma omp for schedule(dynamic, 5) nowait
        for (int i = 0; i < ITERATIONS; i++)
            ADD_ONE(hits[i]);
#pragma omp for schedule(guided)
        for (int i = 0; i < ITERATIONS; i++)
            ADD_ONE(hits[i]);
#pragma omp sections
        {
#pragma omp section
            ADD_ONE(sum);
#pragma omp section
            ADD_ONE(sum);
        }
#pragma omp single
        sum = 0;
#pragma omp master
        omp_set_lock(&lock), ADD_ONE(sum), omp_unset_lock(&lock);
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        ADD_ONE(sum); /* the other lock is another's */
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
        if (omp_test_lock(&lock))
            omp_unset_lock(&lock);
#pragma omp barrier
#pragma omp for reduction(+ : sum)
        for (int i = 0; i < ITERATIONS; i++)
            sum += hits[i];
#pragma omp for ordered schedule(dynamic)
        for (int i = 0; i < N; i++) {
#pragma omp ordered
            hits[i]++;
        }
#pragma omp single
#pragma omp taskloop num_tasks(7)
        for (int i = 0; i < ITERATIONS; i++)
            hits[i] = 0;
    }
    omp_destroy_nest_lock(&nest);
    omp_destroy_lock(&lock);
    EXPECT(sum == 1 + N + 3 * ITERATIONS);
    COUNT(n_locks, 0);
    COUNT(n_work[DYNAMIC], 2 * N);
    COUNT(n_work[GUIDED], N);
    COUNT(n_work[SECTIONS], N);
    COUNT(n_work[EXECUTOR], 2);
    COUNT(n_work[OTHER], 2 * (N - 1));
    COUNT(n_work[TASKLOOP], 1);
    COUNT(n_created, 7);
    EXPECT(n_acquired[1] == 1 && n_released[1] == 1 + n_acquired[2]);
    COUNT(n_acquired[3], N);
    COUNT(n_released[3], N);
    COUNT(n_acquired[7], N);
    COUNT(n_released[7], N);
    EXPECT(n_chunks >= ITERATIONS / 5 + N + 7);
    COUNT(n_work[STATIC], CLANG ? 2 * N : 0);
    COUNT(n_masked, CLANG ? 1 : 0);
    COUNT(n_reductions, CLANG ? N : 0);
    return 0;
}
