/* ordered: regions run in the order of the iterations, also where an iteration has none. */
#include "check.h"

#define RUN(...)                                                                 \
    do {                                                                         \
        int next = 0, inside = 0;                                                \
        PRAGMA(omp parallel for ordered __VA_ARGS__) for (int i = 0; i < n; i++) \
        {                                                                        \
            if (i % skip == 0) {                                                 \
                PRAGMA(omp ordered)                                              \
                {                                                                \
                    inside++;                                                    \
                    CHECK(inside == 1 && next == i);                             \
                    next += skip;                                                \
                    inside--;                                                    \
                }                                                                \
            }                                                                    \
        }                                                                        \
        CHECK(next == (n + skip - 1) / skip * skip);                             \
    } while (0)

int main(void)
{
    for (int n = 0; n < 70; n += 23)
        for (int skip = 1; skip <= 5; skip += 2) {
            RUN(schedule(static));
            RUN(schedule(static, 1));
            RUN(schedule(static, 4));
            RUN(schedule(dynamic));
            RUN(schedule(dynamic, 3));
            RUN(schedule(guided, 2));
            RUN(schedule(runtime));
        }
    return 0;
}
