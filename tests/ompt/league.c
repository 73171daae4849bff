/* The teams of a league: what a tool is told of them, and what the program's routines and the inquiries answer in its
 * callbacks. The league is a region, each team one of a single thread inside of it; neither is a level, and outside of
 * `parallel` a thread works serially (checker.h). */
#include "checker.h"

enum { TEAMS = 3, INNER = 2, ROUNDS = 20, SERIAL = 0, PARALLEL = 1 };

static atomic_int in_league, in_regions;

/* A team's code, or that of a region in it: the regions around it have these sizes. */
static void check_around(const int *sizes, int n)
{
    int size;
    for (int i = 0; i < n; i++)
        EXPECT(get_parallel_info(i, NULL, &size) == 2 && size == sizes[i]);
    EXPECT(get_parallel_info(n, NULL, &size) == 0);
}

static void team(void)
{
    static const int around[] = {1, TEAMS, 1}, around_inner[] = {INNER, 1, TEAMS, 1};
    int flags = 0, me = omp_get_team_num();
    check_place(0, me);
    check_around(around, 3);
    EXPECT(get_state(NULL) == SERIAL);
    EXPECT(get_task_info(1, &flags, NULL, NULL, NULL, NULL) == 2 && (flags & INITIAL));
    in_league++;
#pragma omp parallel num_threads(INNER)
    {
        check_place(1, me);
        check_around(around_inner, 4);
        EXPECT(get_state(NULL) == PARALLEL);
        in_regions++;
#pragma omp parallel num_threads(INNER)
        {
            check_place(2, me);
            in_regions++;
        }
    }
    check_place(0, me);
    EXPECT(get_state(NULL) == SERIAL);
}

int main(void)
{
    omp_set_dynamic(0);
    omp_set_max_active_levels(2);
    for (int round = 0; round < ROUNDS; round++) {
        /* As many threads before and behind as there are teams: a league is no such region. */
#pragma omp parallel num_threads(TEAMS)
        check_place(1, 0);
#pragma omp teams num_teams(TEAMS)
        team();
#pragma omp parallel num_threads(TEAMS)
        check_place(1, 0);
    }
    COUNT(in_league, ROUNDS * TEAMS);
    COUNT(in_regions, ROUNDS * TEAMS * INNER * (1 + INNER));
    COUNT(n_regions, ROUNDS * (3 + TEAMS * (2 + INNER)));
    COUNT(n_implicit, ROUNDS * (2 * TEAMS + TEAMS * (1 + INNER + INNER * INNER)));
    return 0;
}
