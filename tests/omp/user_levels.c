/* level, active_level, ancestor_thread_num, team_size, in_parallel: three levels, one of them serialized. */
#include "check.h"

static void check_root(void)
{
    CHECK(omp_get_level() == 0 && omp_get_active_level() == 0 && !omp_in_parallel());
    CHECK(omp_get_thread_num() == 0 && omp_get_num_threads() == 1);
    CHECK(omp_get_ancestor_thread_num(0) == 0 && omp_get_team_size(0) == 1);
    CHECK(omp_get_ancestor_thread_num(-1) == -1 && omp_get_ancestor_thread_num(1) == -1);
    CHECK(omp_get_team_size(-1) == -1 && omp_get_team_size(1) == -1);
}

int main(void)
{
    check_root();
    CHECK(omp_get_supported_active_levels() >= 3);
    omp_set_dynamic(0);
    omp_set_max_active_levels(3);
    int innermost = 0;
#pragma omp parallel num_threads(3)
    {
        int outer = omp_get_thread_num();
        CHECK(omp_get_num_threads() == 3 && omp_get_level() == 1 && omp_get_active_level() == 1 && omp_in_parallel());
#pragma omp parallel num_threads(4) if (0)
        {
            CHECK(omp_get_num_threads() == 1 && omp_get_thread_num() == 0);
            CHECK(omp_get_level() == 2 && omp_get_active_level() == 1 && omp_in_parallel());
#pragma omp parallel num_threads(2)
            {
                int id = omp_get_thread_num();
                CHECK(omp_get_level() == 3 && omp_get_active_level() == 2);
                CHECK(omp_get_ancestor_thread_num(0) == 0 && omp_get_team_size(0) == 1);
                CHECK(omp_get_ancestor_thread_num(1) == outer && omp_get_team_size(1) == 3);
                CHECK(omp_get_ancestor_thread_num(2) == 0 && omp_get_team_size(2) == 1);
                CHECK(omp_get_ancestor_thread_num(3) == id && omp_get_team_size(3) == 2);
                CHECK(omp_get_ancestor_thread_num(4) == -1 && omp_get_team_size(4) == -1);
#pragma omp atomic
                innermost++;
            }
            CHECK(omp_get_level() == 2);
        }
        CHECK(omp_get_level() == 1 && omp_get_thread_num() == outer);
    }
    CHECK(innermost == 6);
    /* a serialized region alone is no parallel one */
#pragma omp parallel if (0)
    CHECK(omp_get_level() == 1 && omp_get_active_level() == 0 && !omp_in_parallel());
    check_root();
    return 0;
}
