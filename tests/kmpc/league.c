/* The teams of a league on the host: all at once (each waits for the others), each an initial thread of its own, with
 * numbers, limits, settings, inner regions, distribute loops and reductions. */
#include <omp.h>
#include <sched.h>

#include "../check.h"

#define TEAMS 5
#define N 1000

static int here, seen[TEAMS], own;
#pragma omp threadprivate(own)
static int hits[N], in_all[N];

static void meet(int n)
{
    int now;
#pragma omp atomic
    here++;
    do {
        sched_yield();
#pragma omp atomic read
        now = here;
    } while (now < n);
}

static void identity(void)
{
    here = 0;
    memset(seen, 0, sizeof seen);
    own = -1;
#pragma omp teams num_teams(TEAMS) thread_limit(3)
    {
        int me = omp_get_team_num();
        own = me;
        CHECK(omp_get_num_teams() == TEAMS && me >= 0 && me < TEAMS);
        CHECK(omp_get_level() == 0 && omp_get_active_level() == 0 && !omp_in_parallel());
        CHECK(omp_get_num_threads() == 1 && omp_get_thread_num() == 0 && omp_get_thread_limit() == 3);
        CHECK(omp_get_ancestor_thread_num(0) == 0 && omp_get_team_size(0) == 1 && omp_get_ancestor_thread_num(1) == -1);
#pragma omp atomic
        seen[me]++;
        meet(TEAMS);
        CHECK(own == me);
        omp_set_num_threads(me % 3 + 1); /* its own setting, not the others' */
        int members = 0, wrong = 0;
#pragma omp parallel reduction(+ : members, wrong)
        {
            members++;
            wrong += omp_get_team_num() != me || omp_get_num_teams() != TEAMS || omp_get_level() != 1 ||
                     omp_get_thread_limit() != 3;
            wrong += omp_get_ancestor_thread_num(0) != 0 || omp_get_num_threads() > 3;
        }
        CHECK(wrong == 0 && members >= 1 && members <= me % 3 + 1);
        meet(2 * TEAMS);
        CHECK(omp_get_max_threads() == me % 3 + 1);
    }
    for (int i = 0; i < TEAMS; i++)
        CHECK(seen[i] == 1);
    CHECK(omp_get_num_teams() == 1 && omp_get_team_num() == 0 && omp_get_level() == 0);
}

static void loops(void)
{
    long sum = 0, product = 0;
    memset(hits, 0, sizeof hits);
    memset(in_all, 0, sizeof in_all);
#pragma omp teams distribute num_teams(TEAMS) reduction(+ : sum)
    for (int i = 0; i < N; i++) {
        hits[i]++;
        sum += i;
    }
    CHECK(sum == (long)N * (N - 1) / 2);
#pragma omp teams distribute parallel for num_teams(3) reduction(+ : product) dist_schedule(static, 7)
    for (int i = 0; i < N; i++) {
        in_all[i]++;
        product += 2 * i;
    }
    CHECK(product == (long)N * (N - 1));
    for (int i = 0; i < N; i++)
        CHECK(hits[i] == 1 && in_all[i] == 1);
}

/* More than one word: no atomics, a lock. */
static void pairs(void)
{
    struct pair {
        long a, b;
    } total = {0, 0};
#pragma omp declare reduction(both                                            \
                              : struct pair                                   \
                              : omp_out.a += omp_in.a, omp_out.b -= omp_in.b) \
    initializer(omp_priv = (struct pair){0, 0})
#pragma omp teams num_teams(TEAMS) reduction(both : total)
    {
        total.a += omp_get_team_num() + 1;
        total.b += 1;
    }
    CHECK(total.a == TEAMS * (TEAMS + 1) / 2 && (total.b == TEAMS || total.b == -TEAMS));
}

int main(void)
{
    int before = omp_get_max_threads();
    for (int i = 0; i < 20; i++) {
        identity();
        loops();
        pairs();
    }
    CHECK(omp_get_max_threads() == before);
    int threads = 0;
#pragma omp parallel reduction(+ : threads)
    threads++;
    CHECK(threads >= 1);
    return 0;
}
