/* KMP_DETERMINISTIC_REDUCTION: a reduction has the same bits however the threads come to it. Their numbers differ so
 * much in size that each order of additions has a sum of its own. */
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "../omp/check.h"

#define N 6

static double share(int thread)
{
    static const double shares[N] = {1e16, 3.0, -7e15, 0.7, 5.0, 1e-3};
    return shares[thread];
}

static atomic_int arrived;

/* The caller comes to the reduction as the `place`-th one. */
static void arrive_as(int place)
{
    while (atomic_load(&arrived) < place)
        sched_yield();
}

static void come(int thread, int round) { arrive_as((thread * (round % 2 ? 5 : 1) + round) % N); }

static double region(int round)
{
    double sum = 1.5;
    atomic_store(&arrived, 0);
#pragma omp parallel num_threads(N) reduction(+ : sum)
    {
        come(omp_get_thread_num(), round);
        sum += share(omp_get_thread_num());
        atomic_fetch_add(&arrived, 1);
    }
    return sum;
}

/* The construct with a barrier of its own, on an array and a number. */
static double loop(int round)
{
    double sum = 1.5, parts[3] = {0};
    atomic_store(&arrived, 0);
#pragma omp parallel num_threads(N)
    {
#pragma omp for schedule(static, 1) reduction(+ : sum, parts)
        for (int i = 0; i < N; i++) {
            come(omp_get_thread_num(), round);
            sum += share(i);
            parts[i % 3] += share(N - 1 - i);
            atomic_fetch_add(&arrived, 1);
        }
        CHECK(sum != 1.5); /* for everybody, behind the construct */
    }
    return sum + parts[0] + parts[1] + parts[2];
}

int main(void)
{
    omp_set_dynamic(0);
    double regions = region(0), loops = loop(0);
    for (int round = 1; round < 4 * N; round++) {
        double again = region(round);
        CHECK(memcmp(&again, &regions, sizeof again) == 0);
        again = loop(round);
        CHECK(memcmp(&again, &loops, sizeof again) == 0);
    }
    return 0;
}
