/* An environment of the program's own; cancellation of loops, regions and taskgroups; threadprivate variables, which
 * are their core's. */
#include "check.h"

const char *const manycore_environment[] = {"OMP_CANCELLATION=true",   "OMP_SCHEDULE=guided,3",
                                            "OMP_PLACES=numa_domains", "OMP_PROC_BIND=spread",
                                            "OMP_MAX_ACTIVE_LEVELS=3", NULL};

static int own;
#pragma omp threadprivate(own)

int main(void)
{
    omp_sched_t kind;
    int chunk, found = -1, after = 0, done = 0, sum = 0, tasks = 0;
    omp_get_schedule(&kind, &chunk);
    CHECK(omp_get_cancellation() && kind == omp_sched_guided && chunk == 3 && omp_get_max_active_levels() == 3);
    CHECK(omp_get_proc_bind() == omp_proc_bind_spread);

    for (int round = 0; round < 3; round++) {
        done = after = 0;
#pragma omp parallel num_threads(24)
        {
#pragma omp for schedule(dynamic)
            for (int i = 0; i < 4000; i++) {
#pragma omp atomic
                done++;
                if (i == 50) {
#pragma omp atomic write
                    found = i;
#pragma omp cancel for
                }
#pragma omp cancellation point for
            }
#pragma omp atomic
            after++;
        }
        CHECK(found == 50 && done < 4000 && after == 24);

        done = after = 0;
#pragma omp parallel num_threads(24)
        {
#pragma omp atomic
            done++;
            if (omp_get_thread_num() == 7) {
#pragma omp cancel parallel
            }
#pragma omp barrier
#pragma omp cancellation point parallel
#pragma omp atomic
            after++;
        }
        CHECK(done >= 1 && after < 24);
    }

#pragma omp parallel num_threads(16)
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < 200; i++)
#pragma omp task shared(tasks)
    {
#pragma omp atomic
        tasks++;
#pragma omp cancel taskgroup
    }
    CHECK(tasks >= 1 && tasks < 200);

    own = 5;
#pragma omp parallel num_threads(64) copyin(own)
    {
        CHECK(own == 5);
        own += omp_get_thread_num();
    }
#pragma omp parallel num_threads(64) reduction(+ : sum)
    sum += own - 5;
    CHECK(sum == 64 * 63 / 2);
    return 0;
}
