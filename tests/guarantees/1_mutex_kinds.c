/* Recursive and error-checking mutexes, taken and given back between two points at which a thread may wait. */
#include "check.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>

#define N 8

static volatile sig_atomic_t signals;
static void count_signal(int number)
{
    (void)number;
    signals++;
}

int main(void)
{
    pthread_mutex_t recursive, checking;
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checking, &attr);
    signal(SIGUSR1, count_signal);
    int value = 0;
#pragma omp parallel num_threads(N)
    for (int i = 0; i < 50; i++) {
        CHECK(pthread_mutex_lock(&recursive) == 0 && pthread_mutex_lock(&recursive) == 0);
        value++;
        CHECK(pthread_mutex_unlock(&recursive) == 0 && pthread_mutex_unlock(&recursive) == 0);
        CHECK(pthread_mutex_unlock(&recursive) == EPERM);
        CHECK(pthread_mutex_lock(&checking) == 0);
        CHECK(pthread_mutex_lock(&checking) == EDEADLK);
        int before = signals;
        raise(SIGUSR1); /* is handled before it returns: the signal went to this very thread */
        CHECK(signals == before + 1);
        pthread_kill(pthread_self(), SIGUSR1);
        CHECK(signals == before + 2);
        CHECK(pthread_mutex_unlock(&checking) == 0);
#pragma omp barrier
    }
    CHECK(value == 50 * N);
    return 0;
}
