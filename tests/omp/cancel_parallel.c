/* cancel parallel: members waiting in a barrier of the region come out, tasks not begun are dropped, the next region is
 * whole. */
#include "check.h"
#include "need_env.h"
#include "work.h"

int main(int argc, char **argv)
{
    (void)argc;
    need_env(argv, "OMP_CANCELLATION", "true");
    CHECK(omp_get_cancellation());
    for (int round = 0; round < 100; round++) {
        int after = 0, n = 0;
#pragma omp parallel num_threads(4) shared(after, n)
        {
            int me = omp_get_thread_num();
#pragma omp atomic
            n++;
            if (me == omp_get_num_threads() - 1) {
#pragma omp task
                work(100);
                work(round * 20);
#pragma omp cancel parallel
                after = 1;
            }
#pragma omp barrier
            if (me != omp_get_num_threads() - 1)
                after = 2;
#pragma omp cancellation point parallel
            after = 3;
        }
        CHECK(after == 0);
        int all = 0;
#pragma omp parallel num_threads(4)
        {
#pragma omp atomic
            all++;
#pragma omp barrier
            CHECK(all == n);
        }
    }
    return 0;
}
