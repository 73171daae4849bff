/* Other processes that keep every processor busy, one or more pinned to each, until this process ends. */
#ifndef PS_GUARANTEES_LOAD_H
#define PS_GUARANTEES_LOAD_H

#include "check.h"
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    pid_t caller, process[1024];
    int n;
} load;

static inline void load_ends(void)
{
    if (getpid() != load.caller) /* a child's exit */
        return;
    for (int i = 0; i < load.n; i++)
        kill(load.process[i], SIGKILL);
    for (int i = 0; i < load.n; i++)
        waitpid(load.process[i], NULL, 0);
}

/* To be called before the first region. */
static inline void load_processors(int processes_each)
{
    cpu_set_t allowed, one;
    pid_t parent = load.caller = getpid();
    atexit(load_ends);
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        for (int i = 0; CPU_ISSET(cpu, &allowed) && i < processes_each; i++) {
            pid_t child = fork();
            CHECK(child >= 0);
            if (child) {
                CHECK(load.n < 1024);
                load.process[load.n++] = child;
                continue;
            }
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof one, &one);
            while (getppid() == parent)
                for (volatile int k = 0; k < 10000000; k++)
                    continue;
            _exit(0);
        }
}

#endif
