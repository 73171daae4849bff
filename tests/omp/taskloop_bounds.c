/* taskloop: every iteration once, for steps up and down, long and unsigned long long, with grainsize, num_tasks and
 * neither. */
#include <limits.h>
#include <string.h>

#include "check.h"

#define N 1000
static int seen[2 * N];

static void expect(int from, int to, int step)
{
    for (int i = 0; i < 2 * N; i++) {
        int want = step > 0 ? i - N >= from && i - N < to && (i - N - from) % step == 0
                            : i - N <= from && i - N > to && (from - (i - N)) % -step == 0;
        CHECK(seen[i] == want);
    }
    memset(seen, 0, sizeof seen);
}

#define MARK(i) _Pragma("omp atomic") seen[(i) + N] += 1

static void loops(int from, int to)
{
#pragma omp taskloop
    for (int i = from; i < to; i++)
        MARK(i);
    expect(from, to, 1);
#pragma omp taskloop grainsize(7)
    for (long i = from; i < to; i += 3)
        MARK(i);
    expect(from, to, 3);
#pragma omp taskloop num_tasks(11)
    for (int i = to; i > from; i -= 2)
        MARK(i);
    expect(to, from, -2);
#pragma omp taskloop grainsize(strict : 10)
    for (int i = from; i < to; i++)
        MARK(i);
    expect(from, to, 1);
#pragma omp taskloop num_tasks(5) nogroup
    for (unsigned long long i = 0; i < 100; i += 7)
        MARK((int)i);
#pragma omp taskwait
    expect(0, 100, 7);
#pragma omp taskloop grainsize(1000000) untied
    for (int i = from; i < to; i++)
        MARK(i);
    expect(from, to, 1);
#pragma omp taskloop if (0)
    for (int i = from; i < to; i++)
        MARK(i);
    expect(from, to, 1);
}

static void extremes(void)
{
    int count = 0;
#pragma omp taskloop num_tasks(4) shared(count)
    for (long i = LONG_MAX - 10; i < LONG_MAX; i += 3)
#pragma omp atomic
        count++;
    CHECK(count == 4);
    count = 0;
#pragma omp taskloop num_tasks(3) shared(count)
    for (unsigned long long i = ULLONG_MAX - 5; i < ULLONG_MAX; i++)
#pragma omp atomic
        count++;
    CHECK(count == 5);
    count = 0;
#pragma omp taskloop num_tasks(6) shared(count)
    for (unsigned long long i = ULLONG_MAX; i > ULLONG_MAX - 12; i -= 2)
#pragma omp atomic
        count++;
    CHECK(count == 6);
}

int main(void)
{
    loops(0, 17);
#pragma omp parallel
#pragma omp single
    {
        loops(-500, 500);
        loops(3, 3);
        loops(5, 6);
        extremes();
    }
    return 0;
}
