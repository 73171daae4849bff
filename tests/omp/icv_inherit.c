/* A data environment's ICVs: inherited by regions, changed by one thread for itself alone, gone at the region's end. */
#include "check.h"

int main(void)
{
    omp_set_dynamic(0);
    omp_set_max_active_levels(3);
    omp_set_num_threads(3);
    omp_set_schedule(omp_sched_guided, 7);
    for (int round = 0; round < 20; round++) {
#pragma omp parallel
        {
            omp_sched_t kind;
            int chunk, id = omp_get_thread_num();
            CHECK(omp_get_num_threads() == 3 && omp_get_max_threads() == 3);
            omp_get_schedule(&kind, &chunk);
            CHECK((kind & ~omp_sched_monotonic) == omp_sched_guided && chunk == 7);
            omp_set_num_threads(id + 1);
            omp_set_schedule(omp_sched_dynamic, id + 2);
#pragma omp barrier
            CHECK(omp_get_max_threads() == id + 1);
#pragma omp parallel
            {
                omp_sched_t inner;
                int inner_chunk;
                CHECK(omp_get_num_threads() == id + 1 && omp_get_max_threads() == id + 1);
                omp_get_schedule(&inner, &inner_chunk);
                CHECK((inner & ~omp_sched_monotonic) == omp_sched_dynamic && inner_chunk == id + 2);
                omp_set_num_threads(9);
            }
            CHECK(omp_get_max_threads() == id + 1);
        }
        CHECK(omp_get_max_threads() == 3);
    }
    return 0;
}
