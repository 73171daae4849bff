/* clang-format off */ /* Queues in tasks, several deep, with reductions and regions of their own. */
#include "check.h"
static int count(int depth, int width)
{
    int n = 1;
#pragma omp taskq reduction(+ : n)
    {
        for (int i = 0; depth && i < width; i++) {
#pragma omp task
            {
#pragma omp taskq reduction(+ : n)
                {
#pragma omp task
                    {
                        int m = 0;
#pragma omp taskq reduction(max : m)
                        for (int k = 0; k < 3; k++)
#pragma omp task
                            m = k > m ? k : m;
                        n += m - 2;
                    }
#pragma omp task
                    n += count(depth - 1, width);
                }
            }
        }
    }
    return n;
}
static int deep(void)
{
    int got[3][3][3] = {{{0}}}, total = 0;
#pragma omp parallel taskq
    for (int i = 0; i < 3; i++)
#pragma omp task
#pragma omp parallel taskq num_threads(2)
        for (int j = 0; j < 3; j++)
#pragma omp task
        {
#pragma omp taskq
            for (int k = 0; k < 3; k++) {
#pragma omp task
                got[i][j][k] = i * 9 + j * 3 + k;
            }
        }
    for (int k = 0; k < 27; k++) total += (&got[0][0][0])[k] == k;
    return total;
}
int main(void)
{
    int n = 0;
#pragma omp parallel taskq
#pragma omp task
    n = count(3, 3);
    CHECK(n == 1 + 3 + 9 + 27);
    CHECK(deep() == 27);
    CHECK(count(2, 4) == 21);
    return 0;
}
