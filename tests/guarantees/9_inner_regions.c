/* A member of an inner region begins with the signal mask that the region's opener has: a member that has set its own,
 * or the program's thread as the first member of the outer region. */
#define _GNU_SOURCE
#include "check.h"
#include "waits.h"
#include <pthread.h>
#include <signal.h>

#define N 3

static int signal_of(int id) { return SIGRTMIN + id; }

static void set_own(int id)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal_of(id));
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
}

static void check_inner(int outer)
{
    sigset_t blocked;
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0);
    for (int id = 0; id < N; id++)
        CHECK(sigismember(&blocked, signal_of(id)) == (id == outer));
}

int main(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(N)
    {
        int outer = omp_get_thread_num();
        wait_in_a_barrier();
        set_own(outer);
        for (int round = 0; round < 2; round++) {
            wait_in_a_barrier();
#pragma omp parallel num_threads(N)
            {
                wait_in_all_ways();
                check_inner(outer);
                wait_in_a_barrier();
            }
        }
    }
    return 0;
}
