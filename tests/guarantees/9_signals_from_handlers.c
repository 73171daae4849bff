/* A signal handler sends signals to members that it has not sent any before, wherever it has interrupted the thread
 * that it runs in: in malloc as well. pthread_kill may be called there. */
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#define N 6

static pthread_t thread[N];
static int next = N, handled; /* member that is to be sent one; members that have had theirs */

static void on_signal(int number)
{
    (void)number;
    __atomic_add_fetch(&handled, 1, __ATOMIC_ACQ_REL);
}

static void on_alarm(int number)
{
    int before = errno;
    (void)number;
    if (__atomic_load_n(&next, __ATOMIC_ACQUIRE) < N) {
        int to = __atomic_fetch_add(&next, 1, __ATOMIC_ACQ_REL);
        if (to < N)
            CHECK(pthread_kill(thread[to], SIGUSR1) == 0);
    }
    errno = before;
}

static void handle(int number, void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    CHECK(sigaction(number, &action, NULL) == 0);
}

static void alarms(long us)
{
    struct itimerval timer = {{0, us}, {0, us}};
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

static void allocate(void)
{
    void *piece[50];
    for (int i = 0; i < 50; i++) {
        piece[i] = malloc(20 + 977 * (size_t)i);
        CHECK(piece[i] != NULL);
        *(volatile char *)piece[i] = 1;
    }
    for (int i = 0; i < 50; i++)
        free(piece[i]);
}

int main(void)
{
    handle(SIGUSR1, on_signal);
    handle(SIGALRM, on_alarm);
#pragma omp parallel num_threads(N)
    {
        thread[omp_get_thread_num()] = pthread_self();
#pragma omp barrier
#pragma omp single nowait
        {
            __atomic_store_n(&next, 0, __ATOMIC_RELEASE);
            alarms(500);
        }
        while (__atomic_load_n(&handled, __ATOMIC_ACQUIRE) < N) /* hangs where one is lost */
            allocate();
    }
    alarms(0);
    return 0;
}
