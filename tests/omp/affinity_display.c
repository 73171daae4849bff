/* OMP_DISPLAY_AFFINITY: a line for each member when a team is new or has another size, none when it is as before. */
#include "check.h"
#include "respawn.h"

static volatile int number; /* the compiler keeps regions that do something */

static int respawned(void)
{
    omp_set_dynamic(0);
    for (int i = 0; i < 3; i++) {
#pragma omp parallel num_threads(2)
#pragma omp atomic
        number++;
    }
    fprintf(stderr, "more\n");
#pragma omp parallel num_threads(3)
#pragma omp atomic
    number++;
    return 0;
}

int main(int argc, char **argv)
{
    char text[8192];
    if (argc > 1 && strcmp(argv[1], "run") == 0)
        return respawned();
    CHECK(respawn(text, sizeof text, "run", "OMP_DISPLAY_AFFINITY=TRUE", "OMP_AFFINITY_FORMAT=<%L:%n/%N>", NULL) == 0);
    char *more = strstr(text, "more\n");
    CHECK(more != NULL);
    *more = '\0';
    CHECK(occurrences(text, "\n") == 2 && occurrences(text, "<1:0/2>\n") == 1 && occurrences(text, "<1:1/2>\n") == 1);
    CHECK(occurrences(more + 1, "<1:2/3>\n") == 1);
    CHECK(respawn(text, sizeof text, "run", "OMP_DISPLAY_AFFINITY=false", NULL) == 0 && strcmp(text, "more\n") == 0);
    return 0;
}
