/* Bounds of static and dispatched loops: every iteration once for all types, strides, chunks and the ends of the types;
 * lastprivate is the last one's. */
#include <limits.h>
#include <stdint.h>

#include "../omp/check.h"

#define MOST 4096
static int seen[MOST];

/* Iteration number k of the loop marks seen[k]. */
#define LOOP(T, from, condition, step, n, ...)                                                            \
    do {                                                                                                  \
        T last = 0;                                                                                       \
        memset(seen, 0, sizeof seen);                                                                     \
        PRAGMA(omp parallel for lastprivate(last) __VA_ARGS__) for (T i = (from); condition; i += (step)) \
        {                                                                                                 \
            uint64_t k = ((uint64_t)i - (uint64_t)(from)) / (uint64_t)(step);                             \
            if ((step) < 0)                                                                               \
                k = ((uint64_t)(from) - (uint64_t)i) / (uint64_t) - (int64_t)(step);                      \
            CHECK(k < MOST);                                                                              \
            PRAGMA(omp atomic) seen[k]++;                                                                 \
            last = i;                                                                                     \
        }                                                                                                 \
        for (int k = 0; k < MOST; k++)                                                                    \
            CHECK(seen[k] == (k < (n)));                                                                  \
        if ((n) > 0)                                                                                      \
            CHECK(last == (T)((from) + (T)((n)-1) * (step)));                                             \
    } while (0)

#define KINDS(T, from, condition, step, n)                               \
    LOOP(T, from, condition, step, n, schedule(static));                 \
    LOOP(T, from, condition, step, n, schedule(static, 1));              \
    LOOP(T, from, condition, step, n, schedule(static, 7));              \
    LOOP(T, from, condition, step, n, schedule(static, 100000));         \
    LOOP(T, from, condition, step, n, schedule(dynamic));                \
    LOOP(T, from, condition, step, n, schedule(monotonic : dynamic, 7)); \
    LOOP(T, from, condition, step, n, schedule(nonmonotonic : guided));  \
    LOOP(T, from, condition, step, n, schedule(guided, 5));              \
    LOOP(T, from, condition, step, n, schedule(auto));                   \
    LOOP(T, from, condition, step, n, schedule(runtime));                \
    LOOP(T, from, condition, step, n, schedule(static) ordered);         \
    LOOP(T, from, condition, step, n, schedule(dynamic, 3) ordered)

static void teams(void)
{
    memset(seen, 0, sizeof seen);
    int leagues = 0;
#pragma omp teams num_teams(3) thread_limit(4) reduction(+ : leagues)
    {
        leagues++;
#pragma omp distribute parallel for schedule(static, 5)
        for (int i = 0; i < 100; i++)
#pragma omp atomic
            seen[i]++;
#pragma omp distribute dist_schedule(static, 3)
        for (int i = 100; i < 200; i++)
            seen[i]++;
#pragma omp distribute parallel for schedule(dynamic, 2)
        for (int i = 299; i >= 200; i--)
#pragma omp atomic
            seen[i]++;
    }
    CHECK(leagues >= 1 && leagues <= 3);
    for (int i = 0; i < 300; i++)
        CHECK(seen[i] == 1);
}

int main(void)
{
    KINDS(int, 0, i < 1000, 1, 1000);
    KINDS(int, 10, i < 11, 3, 1);
    KINDS(int, 10, i < 10, 1, 0);
    KINDS(int, 5, i >= -995, -2, 501);
    KINDS(unsigned, 3, i < 100, 4, 25);
    KINDS(long, -1000, i < 1000, 7, 286);
    KINDS(unsigned long, 0, i < 3000, 1, 3000);
    LOOP(int, INT_MAX - 20, i < INT_MAX - 1, 2, 10, schedule(static));
    LOOP(int, INT_MAX - 20, i < INT_MAX - 3, 2, 9, schedule(dynamic, 2));
    LOOP(long, LONG_MIN, i < LONG_MIN + 50, 1, 50, schedule(static, 3));
    LOOP(long, LONG_MIN, i < LONG_MIN + 50, 1, 50, schedule(guided));
    LOOP(unsigned long, ULONG_MAX - 30, i < ULONG_MAX - 4, 3, 9, schedule(dynamic));
    teams();
    return 0;
}
