/* More threads than the system has stacks for: the region runs with fewer, one line says so, each member runs once, and
 * a barrier opens. Where guards of stacks cost no mappings (Linux 6.13) all of them run, and nothing is said. Also with
 * places. Not on kernel threads: all of the system's would be taken for a while, and libgomp ends the program. */
#include "check.h"
#include "respawn.h"

#define WANTED 100000
#define ALL 3 /* exit status: none was refused */

static int respawned(void)
{
    int ran = 0, got = 0, late = 0;
    omp_set_dynamic(0);
#pragma omp parallel num_threads(WANTED) reduction(+ : ran, late)
    {
        if (omp_get_thread_num() == 0)
            got = omp_get_num_threads();
        ran++;
#pragma omp barrier
        late++;
    }
    CHECK(ran == got && late == got && got > 100 && got <= WANTED);
#pragma omp parallel num_threads(4) reduction(+ : ran)
    ran++;
    CHECK(ran == got + 4);
    return got == WANTED ? ALL : 0;
}

int main(int argc, char **argv)
{
    char text[4096];
    if (argc > 1 && strcmp(argv[1], "run") == 0)
        return respawned();
    const char *bind[] = {"OMP_PROC_BIND=false", "OMP_PROC_BIND=true"};
    for (int i = 0; i < 2; i++) {
        int status = respawn(text, sizeof text, "run", bind[i], "OMP_STACKSIZE=64k", NULL);
        if ((status != 0 || occurrences(text, "\n") != 1) && status != ALL)
            fprintf(stderr, "%s: status %d\n%s", bind[i], status, text);
        CHECK(status == 0 || status == ALL);
        CHECK(occurrences(text, "psthreads: ") == (status == 0));
    }
    return 0;
}
