/* ordered(n) with depend(source/sink): a wavefront, compared with its sequential twin; long and unsigned long long. */
#include "check.h"

#define N 24
static long a[N][N], b[N][N], c[N][N][4];

static void fill(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = b[i][j] = i == 0 || j == 0 ? i + 2 * j : 0;
}

#define WAVE(type, ...)                                                                                         \
    do {                                                                                                        \
        fill();                                                                                                 \
        for (int i = 1; i < N; i++)                                                                             \
            for (int j = 1; j < N; j++)                                                                         \
                b[i][j] = (b[i - 1][j] + 3 * b[i][j - 1] + b[i - 1][j - 1]) % 1000003;                          \
        PRAGMA(omp parallel for ordered(2) __VA_ARGS__) for (type i = 1; i < N; i++)                            \
        {                                                                                                       \
            for (type j = 1; j < N; j++) {                                                                      \
                PRAGMA(omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1) depend(sink : i - 1, j - 1)) \
                a[i][j] = (a[i - 1][j] + 3 * a[i][j - 1] + a[i - 1][j - 1]) % 1000003;                          \
                PRAGMA(omp ordered depend(source))                                                              \
            }                                                                                                   \
        }                                                                                                       \
        CHECK(memcmp(a, b, sizeof a) == 0);                                                                     \
    } while (0)

#define ALL(type)                     \
    WAVE(type, schedule(static));     \
    WAVE(type, schedule(static, 1));  \
    WAVE(type, schedule(static, 5));  \
    WAVE(type, schedule(dynamic));    \
    WAVE(type, schedule(dynamic, 3)); \
    WAVE(type, schedule(guided));     \
    WAVE(type, schedule(runtime))

int main(void)
{
    for (int round = 0; round < 10; round++) {
        ALL(int);
        ALL(unsigned long long);
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
