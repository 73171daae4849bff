/* A combined parallel loop whose compiler divides the iterations itself, so that no thread enters or leaves the
 * work-share that the region's beginning prepared, takes nothing from the regions and loops after it. Built at -O0, -O2
 * and -O3: what is combined depends on that. */
#include "check.h"

#define N 1000
static long sum_of[N];

/* GCC combines where the loop is all that the region holds and its bounds are constants of type long; each in a
 * function of its own, with the data in the program's variables. */
static void alone(void)
{
#pragma omp parallel num_threads(4)
#pragma omp for schedule(auto)
    for (long i = 0; i < N; i++)
        sum_of[i] += i;
}
static void combined(void)
{
#pragma omp parallel for num_threads(3) schedule(auto)
    for (long i = 0; i < N; i++)
        sum_of[i] -= i;
}
static void empty(void)
{
#pragma omp parallel for num_threads(4) schedule(auto)
    for (long i = 0; i < -N; i++)
        sum_of[i] += 1;
}
static void downwards(void)
{
#pragma omp parallel num_threads(4)
#pragma omp for schedule(auto) nowait
    for (long i = N - 1; i >= 0; i -= 1)
        sum_of[i] += 2;
}
static void unsigned_long(void)
{
#pragma omp parallel for num_threads(4) schedule(auto)
    for (unsigned long i = 0; i < N; i++)
        sum_of[i] -= 1;
}
static void collapsed(void)
{
#pragma omp parallel for num_threads(4) schedule(auto) collapse(2)
    for (long i = 0; i < N / 10; i++)
        for (long k = 0; k < 10; k++)
            sum_of[10 * i + k] -= 1;
}
static void cut_in_chunks(void)
{
#pragma omp parallel for num_threads(4) schedule(static, 7)
    for (long i = 0; i < N; i++)
        sum_of[i] += 1;
}
static void by_request(void)
{
#pragma omp parallel for num_threads(4) schedule(runtime)
    for (long i = 0; i < N; i++)
        sum_of[i] -= 1;
}

static void divided_by_the_compiler(int kind)
{
    alone();
    combined();
    if (kind % 2) {
        empty();
        downwards();
        unsigned_long();
        collapsed();
    } else if (kind % 4) {
        cut_in_chunks();
        by_request();
    }
}

static long divided_by_the_runtime(int kind, long n)
{
    long sum = 0;
#pragma omp parallel num_threads(3 + kind % 2) reduction(+ : sum)
    {
        if (kind % 4 == 0) {
#pragma omp for schedule(dynamic)
            for (long i = 0; i < n; i++)
                sum += i;
        } else if (kind % 4 == 1) {
#pragma omp for schedule(guided) nowait
            for (unsigned long long i = 0; i < (unsigned long long)n; i++)
                sum += (long)i;
        } else if (kind % 4 == 2) {
#pragma omp for schedule(dynamic, 3) ordered
            for (long i = 0; i < n; i++)
#pragma omp ordered
                sum += i;
        } else {
#pragma omp single
            sum += n * (n - 1) / 2;
#pragma omp sections
            {
#pragma omp section
                sum += 1;
#pragma omp section
                sum -= 1;
            }
        }
    }
    return sum;
}

static void all(void)
{
    for (int round = 0; round < 10; round++) {
        long n = round % 5 == 4 ? 0 : N; /* also a loop without iterations */
        divided_by_the_compiler(round);
        for (int i = 0; i < 12; i++)
            CHECK(divided_by_the_runtime(round % 2 ? i : 0, n) == n * (n - 1) / 2);
    }
}

int main(void)
{
    omp_set_schedule(omp_sched_auto, 0);
    all();
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp critical /* one after the other: the sums are the process's */
    all();
    for (int i = 0; i < N; i++)
        CHECK(sum_of[i] == 0);
    return 0;
}
