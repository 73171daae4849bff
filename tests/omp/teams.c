/* teams on the host, with distribute and an inner parallel; thread_limit. */
#include "check.h"

static int teams, limits;

static void note(void)
{
#pragma omp atomic write
    teams = omp_get_num_teams();
#pragma omp atomic write
    limits = omp_get_thread_limit();
    CHECK(omp_get_team_num() >= 0 && omp_get_team_num() < omp_get_num_teams());
}

int main(void)
{
    int hits[100] = {0};
#pragma omp teams num_teams(4) thread_limit(2)
    {
#pragma omp distribute parallel for
        for (int i = 0; i < 100; i++) {
            CHECK(omp_get_num_threads() <= 2);
            if (omp_get_thread_num() == 0)
                note();
            hits[i]++;
        }
    }
    CHECK(teams >= 1 && teams <= 4 && limits == 2);
    for (int i = 0; i < 100; i++)
        CHECK(hits[i] == 1);
    CHECK(omp_get_num_teams() == 1 && omp_get_team_num() == 0 && omp_get_thread_limit() > 2);
    return 0;
}
