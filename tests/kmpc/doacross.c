/* doacross nests whose sinks stay inside at the upper edge: clang counts one iteration too many for each loop, so that a sink just beyond
 * the edge waits for ever under any runtime. Below the lower edge nothing is waited for. */
#include "../omp/check.h"

#define N 24
static long a[N][N], b[N][N];

#define WAVE(type, ...)                                                                                         \
    do {                                                                                                        \
        for (int i = 0; i < N; i++)                                                                             \
            for (int j = 0; j < N; j++)                                                                         \
                a[i][j] = b[i][j] = i == 0 || j == 0 ? i + 2 * j : 0;                                           \
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

/* Downwards, with a stride, and nests one after the other without a barrier. */
static void strides(void)
{
    static int done[3][40];
    memset(done, 0, sizeof done);
#pragma omp parallel
    for (int nest = 0; nest < 3; nest++) {
#pragma omp for ordered(1) schedule(dynamic) nowait
        for (int i = 39; i >= 0; i -= 3) {
#pragma omp ordered depend(sink : i + 3)
            CHECK(i == 39 || done[nest][i + 3] == 40 - (i + 3));
            done[nest][i] = 40 - i;
#pragma omp ordered depend(source)
        }
    }
    for (int nest = 0; nest < 3; nest++)
        for (int i = 39; i >= 0; i -= 3)
            CHECK(done[nest][i] == 40 - i);
}

int main(void)
{
    for (int round = 0; round < 10; round++) {
        ALL(int);
        ALL(unsigned long long);
        strides();
    }
    return 0;
}
