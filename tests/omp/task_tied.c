/* The tied-task scheduling constraint: a task that waits with a lock held is never interrupted by a task, not its
 * descendant, that wants the same lock. Also: a tied task stays on its thread. */
#include "check.h"
#include "work.h"

int main(void)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
    int total = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 200; i++) {
#pragma omp task shared(total, lock)
        {
            int me = omp_get_thread_num();
            omp_set_lock(&lock);
            for (int k = 0; k < 3; k++) {
#pragma omp task
                work(200);
            }
#pragma omp taskwait
            total++;
            omp_unset_lock(&lock);
#pragma omp taskyield
            CHECK(omp_get_thread_num() == me);
        }
    }
    CHECK(total == 200);
    omp_destroy_lock(&lock);
    return 0;
}
