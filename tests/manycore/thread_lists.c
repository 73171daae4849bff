/* A list of numbers of threads in the program's own environment: each level has its element, in regions that are alike
 * and in others between them; the team's ICVs stand behind the first use (src/ort/region/members_apart.c). */
#include "check.h"

const char *const manycore_environment[] = {"OMP_NUM_THREADS=3,4,2", "OMP_MAX_ACTIVE_LEVELS=3",
                                            "OMP_PLACES=numa_domains", "OMP_PROC_BIND=spread,close", NULL};

static int count;

static void nest(int most)
{
#pragma omp parallel
    {
        CHECK(omp_get_num_threads() == 3 && omp_get_max_threads() == 4);
#pragma omp parallel
        {
            CHECK(omp_get_num_threads() == 4 && omp_get_max_threads() == 2);
            if (most > 2) {
#pragma omp parallel
                {
                    CHECK(omp_get_num_threads() <= 2);
                    __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
                }
            }
            __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
        }
    }
}

int main(void)
{
    for (int i = 0; i < 4; i++) {
        count = 0;
        nest(2);
        CHECK(count == 12);
#pragma omp parallel num_threads(5)
        CHECK(omp_get_num_threads() == 5 && omp_get_max_threads() == 4);
    }
    count = 0;
    nest(3);
    CHECK(count > 12 && count <= 36);
    omp_set_num_threads(6);
#pragma omp parallel
    CHECK(omp_get_num_threads() == 6);
    puts("ok");
    return 0;
}
