/* Dynamic loops whose chunks are claimed several at once and taken from each other. Each iteration is run once,
 * whatever the bodies take. A member is idle only when everything has begun. An iteration that waits for the one before
 * goes on. The last iteration's values are copied. */
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"

typedef unsigned long long ull;

#define MOST 5000
static atomic_uchar hits[MOST];

static void expect(int n, int times)
{
    for (int i = 0; i < MOST; i++) {
        CHECK(hits[i] == (i < n ? times : 0));
        hits[i] = 0;
    }
}

static unsigned random_next(unsigned *seed) { return (*seed = *seed * 1664525 + 1013904223) >> 8; }

/* Nothing; or now and then much. */
static void body(int i, int kind, unsigned salt)
{
    unsigned r = (unsigned)i * 2654435761u ^ salt * 40503u;
    r ^= r >> 15;
    if (kind == 1 && r % 512 == 0)
        usleep(r % 900);
    if (kind == 2 && r % 64 == 0)
        for (volatile int k = 0; k < (int)(r % 4000); k++)
            continue;
    if (kind == 3 && r % 1024 == 0)
        sched_yield();
}

static void shapes(void)
{
    static const int sizes[] = {0, 1, 2, 7, 8, 9, 63, 64, 100, 257, 1000, 3001, MOST};
    unsigned seed = 1;
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int chunk = 1; chunk <= 7; chunk += 1 + (chunk > 2))
            for (int threads = 1; threads <= 16; threads += threads < 4 ? 1 : 6) {
                int n = sizes[s], kind = (int)(random_next(&seed) % 4);
                unsigned salt = random_next(&seed);
#pragma omp parallel for schedule(nonmonotonic : dynamic, chunk) num_threads(threads)
                for (int i = 0; i < n; i++) {
                    hits[i]++;
                    body(i, kind, salt);
                }
                expect(n, 1);
#pragma omp parallel num_threads(threads)
                {
#pragma omp for schedule(dynamic, chunk) nowait
                    for (long i = 3L * n - 3; i >= 0; i -= 3) {
                        hits[i / 3]++;
                        body((int)i, kind, salt);
                    }
#pragma omp for schedule(nonmonotonic : dynamic, chunk)
                    for (ull i = ULLONG_MAX - 2ULL * (ull)n; i < ULLONG_MAX; i += 2) {
                        hits[(ULLONG_MAX - 1 - i) / 2]++;
                        body((int)i, kind, salt);
                    }
#pragma omp for schedule(dynamic, chunk)
                    for (ull i = 5ULL * (ull)n + 1; i > 1; i -= 5) {
                        hits[i / 5 - 1 + (i % 5 != 1)]++;
                        body((int)i, kind, salt);
                    }
                }
                expect(n, 3);
            }
}

/* Members are in different loops at once. */
static void in_a_row(void)
{
    for (int round = 0; round < 30; round++) {
#pragma omp parallel num_threads(4)
        {
            if (omp_get_thread_num() == round % 4)
                usleep(200);
            for (int loop = 0; loop < 24; loop++) {
                int n = 200 + loop * 53;
#pragma omp for schedule(dynamic) nowait
                for (int i = 0; i < n; i++) {
                    hits[i]++;
                    body(i, 1 + loop % 3, (unsigned)round);
                }
            }
        }
        for (int i = 0; i < MOST; i++) {
            int times = 0;
            for (int loop = 0; loop < 24; loop++)
                times += i < 200 + loop * 53;
            CHECK(hits[i] == times);
            hits[i] = 0;
        }
    }
}

static void nested(void)
{
    atomic_int sum = 0;
    for (int round = 0; round < 5; round++) {
#pragma omp parallel num_threads(4)
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 200; i++) {
            if (i % 10 == 3) {
#pragma omp parallel for schedule(dynamic) num_threads(3)
                for (int k = 0; k < 300; k++)
                    sum++;
            } else {
                sum++;
            }
        }
    }
    CHECK(sum == 5 * (20 * 300 + 180));
}

/* Iterations `from` on, one for each member, all must run at once; the others are nothing. */
static void at_once(int threads, int n, int chunk, int from)
{
    atomic_int there = 0, sum = 0;
#pragma omp parallel num_threads(threads)
    {
        int members = omp_get_num_threads();
#pragma omp for schedule(dynamic, chunk) nowait
        for (int i = 0; i < n; i++) {
            sum++;
            if (i % chunk == 0 && i / chunk >= from && i / chunk < from + members) {
                there++;
                while (there < members)
                    sched_yield();
            }
        }
    }
    CHECK(sum == n);
}

static void conserving(void)
{
    for (int round = 0; round < 4; round++) {
        for (int threads = 2; threads <= 8; threads *= 2) {
            at_once(threads, 4000, 1, 0);
            at_once(threads, 4000, 1, 900 + 37 * round);
            at_once(threads, 4000, 1, 3000 + 61 * round);
            at_once(threads, 4000, 1, 4000 - threads);
            at_once(threads, 4000, 3, 500 + 37 * round);
            at_once(threads, 3998, 3, 1333 - threads);
        }
    }
    at_once(70, 9000, 1, 4000);
    at_once(70, 9000, 1, 9000 - 70);
}

/* By hand: each iteration waits for the one before. */
static void chain(int threads, int n)
{
    static atomic_uchar flag[MOST];
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int i = 0; i < n; i++) {
        if (i > 0)
            for (int looks = 0; !flag[i - 1]; looks++)
                if (looks > 50)
                    sched_yield();
        flag[i] = 1;
    }
    for (int i = 0; i < n; i++) {
        CHECK(flag[i] == 1);
        flag[i] = 0;
    }
}

static void last_values(void)
{
    for (int round = 0; round < 200; round++) {
        int n = 100 + 17 * round, x = -1, i;
        long y = -1;
#pragma omp parallel num_threads(2 + round % 4)
        {
#pragma omp for schedule(dynamic) lastprivate(i, x) nowait
            for (i = 0; i < n; i++) {
                x = i;
                if (i == n / 2 || i == n / 2 + 3)
                    usleep(50);
            }
#pragma omp for schedule(nonmonotonic : dynamic, 3) lastprivate(y)
            for (long k = n; k > 0; k--) {
                y = k;
                if (k == n / 3)
                    usleep(50);
            }
        }
        CHECK(x == n - 1 && i == n && y == 1);
    }
}

/* Chunks of a monotonic loop grow. */
static void monotonic(void)
{
    for (int round = 0; round < 20; round++) {
#pragma omp parallel num_threads(4)
        {
            int last = -1;
#pragma omp for schedule(monotonic : dynamic, 1) nowait
            for (int i = 0; i < MOST; i++) {
                CHECK(i > last);
                last = i;
                body(i, 2, (unsigned)round);
            }
            omp_set_schedule((omp_sched_t)(omp_sched_dynamic | omp_sched_monotonic), 2);
            last = -1;
#pragma omp for schedule(runtime) nowait
            for (int i = 0; i < MOST; i++) {
                CHECK(i > last);
                last = i;
            }
            omp_set_schedule(omp_sched_dynamic, 2);
#pragma omp for schedule(runtime)
            for (int i = 0; i < MOST; i++)
                hits[i]++;
        }
        expect(MOST, 1);
    }
}

int main(void)
{
    omp_set_max_active_levels(2);
    shapes();
    in_a_row();
    nested();
    conserving();
    chain(2, 600);
    chain(4, 600);
    last_values();
    monotonic();
    return 0;
}
