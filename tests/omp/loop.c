/* loop with each binding, order(concurrent) and its modifiers, distribute with a schedule, masked with a filter: each
 * iteration once. */
#include "check.h"

enum { N = 500 };
static int hits[N];

static void once(const char *what, int times)
{
    for (int i = 0; i < N; i++) {
        if (hits[i] != times)
            fprintf(stderr, "%s: iteration %d ran %d times\n", what, i, hits[i]);
        CHECK(hits[i] == times);
        hits[i] = 0;
    }
}

/* No OpenMP construct may stand in a loop region. */
#define EACH                    \
    for (int i = 0; i < N; i++) \
    __atomic_fetch_add(&hits[i], 1, __ATOMIC_RELAXED)

int main(void)
{
    for (int round = 0; round < 2; round++) {
        long sum = 0;
        int n = 0;
#pragma omp parallel
#pragma omp loop bind(parallel)
        EACH;
        once("bind(parallel)", 1);
#pragma omp parallel
        {
#pragma omp single
            n = omp_get_num_threads();
#pragma omp loop bind(thread)
            EACH;
        }
        once("bind(thread)", n);
#pragma omp teams num_teams(3) thread_limit(2)
#pragma omp loop bind(teams)
        EACH;
        once("bind(teams)", 1);
#pragma omp parallel loop reduction(+ : sum) collapse(2) order(concurrent)
        for (int i = 0; i < 20; i++)
            for (int j = 0; j < 30; j++)
                sum += 30 * i + j;
        CHECK(sum == 600L * 599 / 2);
#pragma omp parallel for order(concurrent) schedule(dynamic, 3)
        EACH;
        once("order(concurrent)", 1);
        static int whose[2][N];
#pragma omp parallel
        for (int k = 0; k < 2; k++) {
            int me = omp_get_thread_num();
#pragma omp for order(reproducible : concurrent)
            for (int i = 0; i < N; i++)
                whose[k][i] = me;
        }
        CHECK(memcmp(whose[0], whose[1], sizeof whose[0]) == 0);
#pragma omp teams distribute parallel for simd dist_schedule(static, 7) order(unconstrained : concurrent) num_teams(2)
        for (int i = 0; i < N; i++)
            hits[i]++;
        once("teams distribute parallel for simd", 1);
        int filtered = 0;
#pragma omp parallel
        {
            int last = omp_get_num_threads() - 1;
#pragma omp masked filter(last)
            {
                filtered += 100 + omp_get_thread_num();
#pragma omp taskloop grainsize(10)
                EACH;
            }
        }
        once("masked and taskloop", 1);
        CHECK(filtered == 100 + n - 1);
    }
    return 0;
}
