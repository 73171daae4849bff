/* OMP_DISPLAY_AFFINITY with a league: its teams run at once all the same, each initial thread has a line at the level
 * around the construct, and each member one at the level of its region, with its team's number. */
#include <sched.h>

#include "../omp/check.h"
#include "../omp/respawn.h"

enum { TEAMS = 3 };

static int here;

/* No thread comes back before all teams are there: the test ends only where they run at once. */
static void meet(void)
{
    int now;
#pragma omp atomic
    here++;
    do {
        sched_yield();
#pragma omp atomic read
        now = here;
    } while (now < TEAMS);
}

static int respawned(void)
{
    dup2(2, 1); /* lines appear on standard output */
#pragma omp teams num_teams(TEAMS) thread_limit(2)
    {
        meet();
        int inner = 0;
#pragma omp parallel num_threads(2)
#pragma omp atomic
        inner++;
        CHECK(inner == 2);
    }
    return 0;
}

int main(int argc, char **argv)
{
    static char text[8192];
    char line[64];
    if (argc > 1 && strcmp(argv[1], "run") == 0)
        return respawned();
    int status = respawn(text, sizeof text, "run", "OMP_DISPLAY_AFFINITY=TRUE", "OMP_DYNAMIC=false",
                         "OMP_AFFINITY_FORMAT=<%L:%n/%N:%t/%T:%a>", "KMP_TEAMS_THREAD_LIMIT=16", NULL);
    if (status != 0)
        fprintf(stderr, "status %d\n%s", status, text);
    CHECK(status == 0);
    for (int team = 0; team < TEAMS; team++) {
        snprintf(line, sizeof line, "<0:%d/%d:0/1:-1>\n", team, TEAMS);
        CHECK(occurrences(text, line) == 1);
        for (int member = 0; member < 2; member++) {
            snprintf(line, sizeof line, "<1:%d/2:%d/%d:0>\n", member, team, TEAMS);
            CHECK(occurrences(text, line) == 1);
        }
    }
    CHECK(occurrences(text, "\n") == 3 * TEAMS);
    return 0;
}
