/* scope: every member runs it; private, reductions (of tasks too), its barrier and nowait; inside of nested regions. */
#include "check.h"

static long sum, tasks, product;

static void barrier_at_the_end(int n)
{
    int before = 0, early = 0;
#pragma omp parallel num_threads(n) reduction(+ : early)
    for (int round = 0; round < 5; round++) {
#pragma omp scope
        {
#pragma omp atomic
            before++;
        }
        int seen;
#pragma omp atomic read
        seen = before;
        early += seen < (round + 1) * omp_get_num_threads();
    }
    CHECK(early == 0);
}

static void reductions(int n)
{
    int mine = -1, team = 0;
    sum = tasks = 0;
    product = 3;
#pragma omp parallel num_threads(n)
    {
#pragma omp single
        team = omp_get_num_threads();
#pragma omp scope private(mine) reduction(+ : sum) reduction(* : product)
        {
            mine = omp_get_thread_num();
            sum += mine;
            product *= 2;
        }
        CHECK(sum == (long)team * (team - 1) / 2 && product == 3L << team);
#pragma omp scope reduction(task, + : tasks)
        {
            tasks++;
            for (int i = 0; i < 10; i++) {
#pragma omp task in_reduction(+ : tasks)
                tasks += 10;
            }
        }
        CHECK(tasks == 101L * team);
    }
    CHECK(mine == -1);
}

/* With nowait no thread waits: the first member leaves before the last one has come. */
static void nowait(int n)
{
    int left = 0;
#pragma omp parallel num_threads(n)
    {
        int last = omp_get_num_threads() - 1;
        for (int seen = 0; omp_get_thread_num() == last && last > 0 && !seen;) {
#pragma omp taskyield
#pragma omp atomic read
            seen = left;
        }
#pragma omp scope nowait
        {
        }
        if (omp_get_thread_num() == 0)
#pragma omp atomic write
            left = 1;
    }
    CHECK(left == 1);
}

int main(void)
{
    int n = omp_get_max_threads();
    omp_set_max_active_levels(2);
    for (int round = 0; round < 3; round++) {
        barrier_at_the_end(n);
        reductions(n);
        nowait(n);
    }
    int inner = 0;
#pragma omp parallel num_threads(3)
    {
        long own = 0;
        int team = 0;
#pragma omp parallel num_threads(2) shared(own)
        {
#pragma omp single
            team = omp_get_num_threads();
#pragma omp scope reduction(+ : own)
            own++;
        }
#pragma omp atomic
        inner += own == team;
#pragma omp barrier
        CHECK(inner == omp_get_num_threads());
    }
    return 0;
}
