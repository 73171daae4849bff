/* Untied tasks come in parts that compiled code hands back one after the other: every part once, in order, with what is
 * private kept. */
#include "../omp/check.h"

static int leaves(int depth)
{
    if (depth == 0)
        return 1;
    int left = 0, right = 0, parts = 0;
#pragma omp task untied shared(left, parts) firstprivate(depth)
    {
        int mine = 1;
        parts += 1;
        left = leaves(depth - 1);
#pragma omp taskyield
        mine++;
        parts += 10;
#pragma omp taskwait
        mine++;
        parts += mine == 3 ? 100 : 1000;
    }
#pragma omp task untied shared(right)
    right = leaves(depth - 1);
#pragma omp taskwait
    CHECK(parts == 111);
    return left + right;
}

int main(void)
{
    int n = 0;
#pragma omp parallel
#pragma omp single
    n = leaves(9);
    CHECK(n == 512);
    CHECK(leaves(4) == 16);
    return 0;
}
