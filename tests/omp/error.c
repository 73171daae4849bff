/* error at(execution): a warning goes on, a fatal one ends the program with a status; the program's own words are
 * told. */
#include "check.h"
#include "respawn.h"

static int respawned(const char *mode)
{
    if (mode[0] == 'f') {
#pragma omp parallel num_threads(2)
#pragma omp masked
        {
#pragma omp error at(execution) severity(fatal) message("the end")
        }
        return 0; /* not reached */
    }
    if (mode[0] == 'n') {
#pragma omp error at(execution) severity(warning)
    } else {
#pragma omp error at(execution) severity(warning) message("these words")
    }
    return 0;
}

int main(int argc, char **argv)
{
    char text[4096];
    if (argc > 1)
        return respawned(argv[1]);
    CHECK(respawn(text, sizeof text, "warning", NULL) == 0);
    CHECK(occurrences(text, "these words") == 1 && occurrences(text, "\n") >= 1);
    CHECK(respawn(text, sizeof text, "nothing to say", NULL) == 0 && text[0] != '\0');
    CHECK(respawn(text, sizeof text, "fatal", NULL) != 0 && occurrences(text, "the end") == 1);
    return 0;
}
