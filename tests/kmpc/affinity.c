/* KMP_AFFINITY and KMP_HW_SUBSET: places in the order asked for, processors taken away. Each case is a run of this
 * program of its own, with settings made of the processors that there are. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../omp/check.h"

static int cpu[CPU_SETSIZE], cpus;

static int only(int place)
{
    int id[CPU_SETSIZE];
    CHECK(omp_get_place_num_procs(place) == 1);
    omp_get_place_proc_ids(place, id);
    return id[0];
}

/* From the initial thread's place on, which is the offset. */
static void members_follow_the_list(void)
{
    int first = omp_get_place_num();
#pragma omp parallel num_threads(cpus)
    CHECK(omp_get_place_num() == (first + omp_get_thread_num()) % cpus);
}

static void explicit_list(void)
{
    CHECK(omp_get_num_places() == cpus);
    for (int i = 0; i < cpus; i++)
        CHECK(only(i) == cpu[cpus - 1 - i]);
    members_follow_the_list();
}

static void every_processor(void)
{
    CHECK(omp_get_num_places() == cpus);
    for (int i = 0; i < cpus; i++)
        for (int j = i + 1; j < cpus; j++)
            CHECK(only(i) != only(j));
    members_follow_the_list();
}

static void one_processor(void)
{
    CHECK(omp_get_num_procs() == 1);
#pragma omp parallel
    CHECK(omp_get_num_threads() == 1);
}

static void second_processor(void)
{
    one_processor();
    CHECK(omp_get_num_places() == 1);
    CHECK(only(0) != cpu[0]);
}

static void none(void)
{
    CHECK(omp_get_place_num() == (omp_get_num_places() == 1 ? 0 : -1) && omp_get_proc_bind() == omp_proc_bind_false);
}

static void run(char *self, const char *which, const char *name, const char *value, const char *more)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        unsetenv("OMP_NUM_THREADS");
        setenv(name, value, 1);
        if (more != NULL)
            putenv((char *)more);
        execl(self, self, which, NULL);
        _exit(127);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    if (status != 0)
        fprintf(stderr, "failed: %s=%s\n", name, value);
    CHECK(status == 0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*check)(void);
    } checks[] = {{"explicit", explicit_list},
                  {"every", every_processor},
                  {"one", one_processor},
                  {"second", second_processor},
                  {"none", none}};
    cpu_set_t set;
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set))
            cpu[cpus++] = i;
    for (size_t i = 0; argc > 1 && i < sizeof checks / sizeof *checks; i++)
        if (strcmp(argv[1], checks[i].name) == 0) {
            checks[i].check();
            return 0;
        }
    CHECK(argc == 1);
    char list[16 * CPU_SETSIZE] = "explicit,proclist=[";
    for (int i = cpus - 1; i >= 0; i--)
        sprintf(list + strlen(list), "%d%s", cpu[i], i > 0 ? "," : "]");
    run(argv[0], "explicit", "KMP_AFFINITY", list, NULL);
    run(argv[0], "every", "KMP_AFFINITY", "granularity=fine,compact", NULL);
    run(argv[0], "every", "KMP_AFFINITY", "granularity=thread,scatter,0,1", NULL);
    run(argv[0], "none", "KMP_AFFINITY", "disabled", NULL);
    run(argv[0], "explicit", "KMP_AFFINITY", list, "OMP_PLACES=sockets(1)"); /* libomp's own is stronger */
    run(argv[0], "one", "KMP_HW_SUBSET", "1s,1c,1t", NULL);
    if (cpus > 1)
        run(argv[0], "second", "KMP_HW_SUBSET", ":1t@1", "OMP_PLACES=threads");
    return 0;
}
