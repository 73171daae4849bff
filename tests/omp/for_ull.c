/* for over unsigned long long: near the end of the range, downwards, with chunks that would wrap around. */
#include <limits.h>

#include "check.h"

typedef unsigned long long ull;

#define COUNT(from, cond, step, expected, ...)                                                               \
    do {                                                                                                     \
        ull n = 0, sum = 0;                                                                                  \
        PRAGMA(omp parallel for reduction(+ : n, sum) __VA_ARGS__) for (ull i = (from); i cond; i += (step)) \
        {                                                                                                    \
            n++;                                                                                             \
            sum += i - (from);                                                                               \
        }                                                                                                    \
        CHECK(n == (expected));                                                                              \
        CHECK(sum == (ull)(step) * (n * (n - 1) / 2));                                                       \
    } while (0)

#define SCHEDULES(from, cond, step, expected)                                    \
    COUNT(from, cond, step, expected, schedule(static));                         \
    COUNT(from, cond, step, expected, schedule(static, 3));                      \
    COUNT(from, cond, step, expected, schedule(dynamic));                        \
    COUNT(from, cond, step, expected, schedule(dynamic, 1ULL << 40));            \
    COUNT(from, cond, step, expected, schedule(dynamic, 5));                     \
    COUNT(from, cond, step, expected, schedule(guided, 2));                      \
    COUNT(from, cond, step, expected, schedule(runtime));                        \
    COUNT(from, cond, step, expected, schedule(monotonic : dynamic, 7) ordered); \
    COUNT(from, cond, step, expected, schedule(static, 7) ordered)

int main(void)
{
    SCHEDULES(0, < 1000, 1, 1000);
    SCHEDULES(1, < 1000, 7, 143);
    SCHEDULES(ULLONG_MAX - 1000, < ULLONG_MAX, 1, 1000);
    SCHEDULES(ULLONG_MAX - 1000, < ULLONG_MAX - 10, 9, 110);
    SCHEDULES((ull)LONG_MAX - 50, < (ull)LONG_MAX + 50, 1, 100);
    SCHEDULES(1000ULL, > 0, -1ULL, 1000);
    SCHEDULES(ULLONG_MAX, > ULLONG_MAX - 500, -3ULL, 167);
    SCHEDULES(10ULL, < 10, 1, 0);
    return 0;
}
