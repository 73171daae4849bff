/* Ranges of nearly 2^63 values with steps so large that few iterations remain. */
#include <limits.h>

#include "check.h"

#define TRY(...)                                                    \
    do {                                                            \
        int n = 0, last = 0;                                        \
        PRAGMA(omp parallel for reduction(+ : n, last) __VA_ARGS__) \
        for (long i = from; i < to; i += step) {                    \
            n++;                                                    \
            last += i == from + 5 * step;                           \
        }                                                           \
        CHECK(last == 1);                                           \
        CHECK(n == expected);                                       \
    } while (0)

int main(void)
{
    long step = LONG_MAX / 10, from = -(LONG_MAX / 2), to = LONG_MAX / 2 - step;
    int expected = 0;
    for (long i = from; i < to; i += step)
        expected++;
    TRY(schedule(static));
    TRY(schedule(static, 2));
    TRY(schedule(dynamic));
    TRY(schedule(dynamic, 3));
    TRY(schedule(guided));
    TRY(schedule(runtime));
    return 0;
}
