/* cancel for and sections: the rest of the construct is skipped, the next one is whole. */
#include "check.h"
#include "need_env.h"

int main(int argc, char **argv)
{
    (void)argc;
    need_env(argv, "OMP_CANCELLATION", "true");
    CHECK(omp_get_cancellation());
#pragma omp parallel num_threads(4)
    for (int round = 0; round < 50; round++) {
        static int done, whole, sections;
#pragma omp single
        done = whole = sections = 0;
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < 100000; i++) {
#pragma omp atomic
            done++;
            if (i == 50) {
#pragma omp cancel for
            }
#pragma omp cancellation point for
        }
        int d;
#pragma omp atomic read
        d = done;
        CHECK(d < 100000);
#pragma omp barrier
#pragma omp for schedule(dynamic, 7)
        for (int i = 0; i < 1000; i++)
#pragma omp atomic
            whole++;
        CHECK(whole == 1000);
#pragma omp sections
        {
#pragma omp section
            {
#pragma omp cancel sections
#pragma omp atomic
                sections += 100;
            }
#pragma omp section
            {
#pragma omp cancellation point sections
#pragma omp atomic
                sections += 1;
            }
        }
        CHECK(sections < 100);
#pragma omp barrier
    }
    return 0;
}
