/* ordered(n) with depend(source/sink): a wavefront, compared with its sequential twin; long and unsigned long long. */
#include "wavefront.h"

static long c[N][N][4];

int main(void)
{
    for (int round = 0; round < 10; round++) {
        WAVES(int);
        WAVES(unsigned long long);
        memset(c, 0, sizeof c);
#pragma omp parallel for ordered(3) schedule(dynamic, 2)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                for (int k = 0; k < 4; k++) {
#pragma omp ordered depend(sink : i - 2, j + 1, k - 1)
                    c[i][j][k] = 1 + (i >= 2 && j + 1 < N && k >= 1 ? c[i - 2][j + 1][k - 1] : 0);
#pragma omp ordered depend(source)
                }
        CHECK(c[N - 1][0][3] == 4);
    }
    return 0;
}
