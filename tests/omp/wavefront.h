/* ordered(2) with depend(source/sink): a wavefront under every schedule, compared with its sequential twin. No sink
 * lies outside at the upper edge. */
#ifndef WAVEFRONT_H
#define WAVEFRONT_H

#include "check.h"

#define N 24
static long a[N][N], b[N][N];

/* The edges and, in b, the answer. */
static void wave_begin(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = b[i][j] = i == 0 || j == 0 ? i + 2 * j : 0;
    for (int i = 1; i < N; i++)
        for (int j = 1; j < N; j++)
            b[i][j] = (b[i - 1][j] + 3 * b[i][j - 1] + b[i - 1][j - 1]) % 1000003;
}

#define WAVE(type, ...)                                                                                         \
    do {                                                                                                        \
        wave_begin();                                                                                           \
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

#define WAVES(type)                   \
    WAVE(type, schedule(static));     \
    WAVE(type, schedule(static, 1));  \
    WAVE(type, schedule(static, 5));  \
    WAVE(type, schedule(dynamic));    \
    WAVE(type, schedule(dynamic, 3)); \
    WAVE(type, schedule(guided));     \
    WAVE(type, schedule(runtime))

#endif
