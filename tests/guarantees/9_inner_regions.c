/* A member of an inner region begins with the signal mask, the name and the processors that the region's opener has: a
 * member that has set its own, or the program's thread as the first member of the outer region. */
#define _GNU_SOURCE
#include "check.h"
#include "waits.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#define N 3

static int signal_of(int id) { return SIGRTMIN + id; }

static void set_own(int id)
{
    sigset_t set;
    cpu_set_t one;
    char name[16];
    sigemptyset(&set);
    sigaddset(&set, signal_of(id));
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    snprintf(name, sizeof name, "outer-%d", id);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0 && pthread_setname_np(pthread_self(), name) == 0);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
}

static void check_inner(int outer, const cpu_set_t *cpus)
{
    sigset_t blocked;
    cpu_set_t own;
    char name[32] = "", expected[16];
    snprintf(expected, sizeof expected, "outer-%d", outer);
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0);
    for (int id = 0; id < N; id++)
        CHECK(sigismember(&blocked, signal_of(id)) == (id == outer));
    CHECK(pthread_getname_np(pthread_self(), name, sizeof name) == 0 && !strcmp(name, expected));
    CHECK(sched_getaffinity(0, sizeof own, &own) == 0 && CPU_EQUAL(&own, cpus));
}

int main(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(N)
    {
        int outer = omp_get_thread_num();
        cpu_set_t cpus;
        wait_in_a_barrier();
        set_own(outer);
        CHECK(sched_getaffinity(0, sizeof cpus, &cpus) == 0);
        for (int round = 0; round < 2; round++) {
            wait_in_a_barrier();
#pragma omp parallel num_threads(N)
            {
                wait_in_all_ways();
                check_inner(outer, &cpus);
                wait_in_a_barrier();
            }
        }
    }
    return 0;
}
