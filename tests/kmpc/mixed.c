/* A program whose parts were built by clang, GCC and gfortran has one runtime: regions of either nest in the other's as
 * parent and child, and what one sets the other sees. Under libomp and libgomp side by side there would be two of
 * everything. */
#include "mixed.h"

#include "../omp/check.h"

static int leaf(int level, int argument)
{
    CHECK(level == argument && omp_get_level() == level);
    CHECK(omp_get_team_size(level) == omp_get_num_threads());
    return 1;
}

/* Called in GCC's region, opens one of clang's, which calls GCC's again. */
static int middle(int level, int argument)
{
    CHECK(level == argument && omp_get_level() == argument);
    int sum = 0, size = omp_get_team_size(level);
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
        CHECK(omp_get_level() == level + 1 && omp_get_team_size(level) == size);
        CHECK(omp_get_ancestor_thread_num(level) >= 0 && omp_get_ancestor_thread_num(level) < size);
        sum += by_gcc(2, leaf, level + 2);
    }
    return sum;
}

#ifdef FORTRAN
/* Called in gfortran's region, which stands in one of clang's: opens one of clang's, in that one of GCC's. */
static int from_fortran(int level, int argument)
{
    CHECK(level == argument && omp_get_level() == level);
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += by_gcc(2, leaf, level + 2);
    return sum;
}

static void three_compilers(void)
{
    int sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
    sum += by_fortran(2, from_fortran, 2);
    CHECK(sum == 3 * 2 * (1 + 2 * (2 + 2 * 4)));
}
#else
static void three_compilers(void) {}
#endif

int main(void)
{
    omp_set_max_active_levels(8);
    omp_set_num_threads(5);
    CHECK(gcc_sees_threads() == 5);
    for (int round = 0; round < 30; round++) {
        int inner = 2 + 2 * 4, of_middle = 2 * inner;
        CHECK(by_gcc(3, middle, 1) == 3 * of_middle + 3 * 4);
        int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
        {
            sum += by_gcc(3, middle, 2);
            omp_set_num_threads(7);
            CHECK(gcc_sees_threads() == 7);
        }
        CHECK(sum == 2 * (3 * of_middle + 3 * 4));
        CHECK(gcc_sees_threads() == 5);
        three_compilers();
    }
    return 0;
}
