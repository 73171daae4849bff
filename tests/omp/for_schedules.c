/* for: each iteration exactly once under every schedule, with odd bounds, negative steps and empty loops, over long. */
#include "check.h"

#define MAX 1100
static int hits[MAX];

static void verify(long from, long to, long step)
{
    for (long v = -500; v < MAX - 500; v++) {
        int in =
            step > 0 ? v >= from && v < to && (v - from) % step == 0 : v <= from && v > to && (from - v) % -step == 0;
        CHECK(hits[v + 500] == in);
    }
    memset(hits, 0, sizeof hits);
}

#define LOOP(...)                                                                               \
    do {                                                                                        \
        if (step > 0) {                                                                         \
            PRAGMA(omp for __VA_ARGS__) for (long i = from; i < to; i += step) hits[i + 500]++; \
        } else {                                                                                \
            PRAGMA(omp for __VA_ARGS__) for (long i = from; i > to; i += step) hits[i + 500]++; \
        }                                                                                       \
        PRAGMA(omp single) verify(from, to, step);                                              \
    } while (0)

static void all(long from, long to, long step, int chunk)
{
#pragma omp parallel
    {
        LOOP(schedule(static));
        LOOP(schedule(static, chunk));
        LOOP(schedule(dynamic));
        LOOP(schedule(dynamic, chunk));
        LOOP(schedule(guided));
        LOOP(schedule(guided, chunk));
        LOOP(schedule(auto));
        LOOP(schedule(monotonic : dynamic, chunk));
        LOOP(schedule(nonmonotonic : dynamic, chunk));
        LOOP(schedule(nonmonotonic : guided, chunk));
        LOOP(schedule(dynamic, chunk) ordered);
        LOOP(schedule(static, chunk) ordered);
        LOOP(schedule(guided, chunk) ordered);
    }
    static const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided, omp_sched_auto};
    for (int k = 0; k < 4; k++) {
        omp_set_schedule(kinds[k], k % 2 ? chunk : 0);
#pragma omp parallel
        {
            LOOP(schedule(runtime));
            LOOP(schedule(nonmonotonic : runtime));
            LOOP(schedule(runtime) ordered);
        }
    }
}

int main(void)
{
    static const long loops[][3] = {{0, 100, 1},    {0, 0, 1},     {5, 4, 1},    {-7, 13, 3},
                                    {100, -3, -1},  {100, -3, -7}, {0, 1, 1},    {0, 7, 100},
                                    {-500, 599, 2}, {3, 4, -1},    {17, 17, -2}, {-1, -500, -13}};
    static const int chunks[] = {1, 2, 7, 1000};
    for (unsigned l = 0; l < sizeof loops / sizeof *loops; l++)
        for (unsigned c = 0; c < 4; c++)
            all(loops[l][0], loops[l][1], loops[l][2], chunks[c]);
    return 0;
}
