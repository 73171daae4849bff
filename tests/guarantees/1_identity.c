/* What a nested member is to the C library: a thread of its own, on a stack whose bounds are known, with the kernel's
 * number of what carries it now. Signals to itself arrive at once. Affinity, name and clock of itself can be asked for.
 * sched_getcpu is right. */
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define OUTER 3
#define INNER 3

static cpu_set_t allowed;
static volatile sig_atomic_t arrived[OUTER * INNER];
static __thread int mine = -1;

static void on_signal(int number)
{
    (void)number;
    if (mine >= 0)
        arrived[mine]++;
}

static void check_stack(void)
{
    char here;
    void *low;
    size_t bytes, guard;
    pthread_attr_t attr;
    CHECK(pthread_getattr_np(pthread_self(), &attr) == 0);
    CHECK(pthread_attr_getstack(&attr, &low, &bytes) == 0 && pthread_attr_getguardsize(&attr, &guard) == 0);
    CHECK((char *)low <= &here && &here < (char *)low + bytes);
    pthread_attr_destroy(&attr);
    if (omp_get_thread_num() == 0)
        return;
    /* All of it can be used: its lowest page, which nothing may have touched yet, is read. */
    CHECK(*(volatile char *)low == *(volatile char *)low);
}

static void check_self(int id)
{
    int before = arrived[id];
    mine = id;
    CHECK(raise(SIGUSR1) == 0 && arrived[id] == before + 1);
    CHECK(pthread_kill(pthread_self(), SIGUSR1) == 0 && arrived[id] == before + 2);
    CHECK(pthread_kill(pthread_self(), 0) == 0);
    cpu_set_t set;
    CHECK(pthread_getaffinity_np(pthread_self(), sizeof set, &set) == 0 && CPU_COUNT(&set) > 0);
    int cpu = sched_getcpu();
    CHECK(cpu >= 0 && CPU_ISSET(cpu, &allowed));
    char name[32];
    CHECK(pthread_getname_np(pthread_self(), name, sizeof name) == 0 && name[0]);
    clockid_t clock;
    struct timespec used;
    CHECK(pthread_getcpuclockid(pthread_self(), &clock) == 0 && clock_gettime(clock, &used) == 0);
    int policy;
    struct sched_param param;
    CHECK(pthread_getschedparam(pthread_self(), &policy, &param) == 0 && policy == SCHED_OTHER);
    int old;
    CHECK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old) == 0 && pthread_setcancelstate(old, NULL) == 0);
    check_stack();
}

int main(void)
{
    pthread_t self[OUTER * INNER];
    omp_set_max_active_levels(2);
    signal(SIGUSR1, on_signal);
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    for (int round = 0; round < 5; round++) {
#pragma omp parallel num_threads(OUTER)
        {
            int outer = omp_get_thread_num();
            pthread_t parent = pthread_self();
#pragma omp parallel num_threads(INNER)
            {
                int id = outer * INNER + omp_get_thread_num();
                self[id] = pthread_self();
                CHECK((omp_get_thread_num() == 0) == (pthread_equal(parent, pthread_self()) != 0));
                for (int i = 0; i < 10; i++) {
                    check_self(id);
#pragma omp barrier
                    CHECK(pthread_equal(self[id], pthread_self()) && mine == id);
                    for (int other = outer * INNER; other < (outer + 1) * INNER;
                         other++) /* those that live now for sure */
                        CHECK(other == id || !pthread_equal(self[other], self[id]));
                }
            }
        }
    }
    return 0;
}
