/* Threads that spin outside of regions, for one that opens them: all go on, and none of them notices a thing, whether
 * the runtime lets them run or makes them wait. With the argument "held" until each has been made to wait: a loop
 * without a system call never gives its processor away of its own will, as the system counts it. */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>

#define SPINNERS 3

static atomic_int stop, were_held;
static int held_wanted;

static long given_away(void)
{
    struct rusage usage;
    CHECK(getrusage(RUSAGE_THREAD, &usage) == 0);
    return usage.ru_nvcsw;
}

static void *spins(void *arg)
{
    sigset_t before = {0}, after = {0}; /* the C library may set but the bytes that the kernel knows */
    int sum = 0, was_held = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum++;
    CHECK(sum == 2);
    fesetround(FE_UPWARD);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    errno = 4321;
    long given = given_away();
    while (!atomic_load(&stop)) {
        for (volatile int i = 0; i < 100000; i++)
            continue;
        if (!was_held && given_away() != given) {
            was_held = 1;
            atomic_fetch_add(&were_held, 1);
        }
    }
    CHECK(errno == 4321 && fegetround() == FE_UPWARD);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    CHECK(memcmp(&before, &after, sizeof before) == 0);
    return arg;
}

/* So that there are too many of them on any machine. */
static void take_two_processors(void)
{
    cpu_set_t all, two;
    CPU_ZERO(&two);
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&two) < 2; cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &two);
    CHECK(sched_setaffinity(0, sizeof two, &two) == 0);
}

int main(int argc, char **argv)
{
    pthread_t thread[SPINNERS];
    held_wanted = argc > 1 && !strcmp(argv[1], "held");
    if (held_wanted)
        take_two_processors();
    for (int i = 0; i < SPINNERS; i++)
        CHECK(pthread_create(&thread[i], NULL, spins, NULL) == 0);
    for (int round = 0; round < 300 || (held_wanted && atomic_load(&were_held) < SPINNERS); round++) {
        int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
        {
            for (volatile int i = 0; i < 20000; i++)
                continue;
            sum++;
        }
        CHECK(sum == 2);
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < SPINNERS; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
