/* Threads call a library that lets one team at a time in, and has others spin. All go on, and none of them notices a
 * thing, whether the runtime lets them spin or makes them wait. With the argument "held" until each has been made to
 * wait where it asks whether it is in a region. */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <fenv.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>

#define CALLERS 4
#define CALLS 50

static atomic_int in_use, inside, were_held;
static int held_wanted;

static long given_away(void)
{
    struct rusage usage;
    CHECK(getrusage(RUSAGE_THREAD, &usage) == 0);
    return usage.ru_nvcsw;
}

/* As OpenBLAS does. True: it was made to wait. */
static int call_library(void)
{
    long before = given_away();
    CHECK(!omp_in_parallel());
    int held = given_away() != before, sum = 0;
    while (atomic_exchange(&in_use, 1))
        continue;
    CHECK(atomic_fetch_add(&inside, 1) == 0);
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
        for (volatile int i = 0; i < 300000; i++)
            continue;
        sum++;
    }
    CHECK(sum == 2);
    atomic_fetch_sub(&inside, 1);
    atomic_store(&in_use, 0);
    return held;
}

static void *calls(void *arg)
{
    sigset_t before = {0}, after = {0}; /* the C library may set but the bytes that the kernel knows */
    int was_held = 0;
    fesetround(FE_UPWARD);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    for (int i = 0; i < CALLS || (held_wanted && atomic_load(&were_held) < CALLERS); i++) {
        errno = 4321;
        int held = call_library();
        CHECK(errno == 4321 && fegetround() == FE_UPWARD);
        if (held && !was_held)
            atomic_fetch_add(&were_held, 1);
        was_held |= held;
    }
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    CHECK(memcmp(&before, &after, sizeof before) == 0);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t thread[CALLERS];
    held_wanted = argc > 1 && !strcmp(argv[1], "held");
    for (int i = 0; i < CALLERS; i++)
        CHECK(pthread_create(&thread[i], NULL, calls, NULL) == 0);
    for (int i = 0; i < CALLERS; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
