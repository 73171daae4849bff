/* Nested regions to five levels: sizes, ancestors, levels, and each innermost thread exactly once. */
#include "check.h"

static int leaves;
static int sizes[] = {1, 3, 2, 4, 1, 2}; /* by level */

static void descend(int level, const int *path)
{
    int here[6];
    memcpy(here, path, sizeof here);
    if (level == 6) {
#pragma omp atomic
        leaves++;
        return;
    }
#pragma omp parallel num_threads(sizes[level]) firstprivate(here)
    {
        here[level] = omp_get_thread_num();
        CHECK(omp_get_num_threads() == sizes[level]);
        CHECK(omp_get_level() == level);
        for (int l = 0; l <= level; l++) {
            CHECK(omp_get_ancestor_thread_num(l) == here[l]);
            CHECK(omp_get_team_size(l) == sizes[l]);
        }
        CHECK(omp_get_ancestor_thread_num(level + 1) == -1 && omp_get_team_size(-1) == -1);
#pragma omp barrier
        descend(level + 1, here);
#pragma omp barrier
        CHECK(omp_get_thread_num() == here[level]);
    }
}

int main(void)
{
    omp_set_max_active_levels(5);
    omp_set_dynamic(0);
    int path[6] = {0};
    for (int round = 1; round <= 10; round++) {
        descend(1, path);
        CHECK(leaves == round * 3 * 2 * 4 * 1 * 2);
    }
    return 0;
}
