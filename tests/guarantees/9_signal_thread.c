/* A thread of the program's waits for all signals, and the other threads block all. It gets what was sent, and none of
 * the runtime's own signals. Members compute meanwhile, wait for one another, and want the region's first thread. */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define ROUNDS 12
#define N 6

static volatile int begun, others;

static int wait_in_turns(const sigset_t *set, int turn)
{
    const struct timespec limit = {.tv_sec = 100};
    int number = 0;
    if (turn % 3 == 0)
        return sigwait(set, &number) == 0 ? number : -1;
    return turn % 3 == 1 ? sigwaitinfo(set, NULL) : sigtimedwait(set, NULL, &limit);
}

static void *take_all(void *unused)
{
    (void)unused;
    int members = 0, number = 0;
    sigset_t all;
    sigfillset(&all);
#pragma omp parallel num_threads(3) reduction(+ : members)
    members++;
    CHECK(members == 3);
    begun = 1;
    for (int turn = 0; number != SIGTERM; turn++) {
        number = wait_in_turns(&all, turn);
        others += number > 0 && number != SIGUSR1 && number != SIGTERM;
    }
    return NULL;
}

int main(void)
{
    sigset_t all;
    pthread_t taker;
    sigfillset(&all);
    CHECK(pthread_sigmask(SIG_SETMASK, &all, NULL) == 0);
    omp_set_max_active_levels(2);
    CHECK(pthread_create(&taker, NULL, take_all, NULL) == 0);
    while (!begun)
        usleep(100);
    for (int round = 0; round < ROUNDS; round++) {
        volatile int flag = 0;
#pragma omp parallel num_threads(N)
        {
#pragma omp parallel num_threads(3)
            for (volatile int i = 0; i < 1000; i++)
                ;
            if (omp_get_thread_num() == 1)
                CHECK(kill(getpid(), SIGUSR1) == 0);
            if (omp_get_thread_num() == N - 1)
                flag = 1;
            while (!flag)
                ;
        }
    }
    CHECK(kill(getpid(), SIGTERM) == 0);
    CHECK(pthread_join(taker, NULL) == 0);
    CHECK(others == 0);
    return 0;
}
