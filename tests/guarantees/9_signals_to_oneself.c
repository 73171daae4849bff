/* A handler sends its own thread a signal, wherever it has interrupted the thread: also as that asks for the first time
 * for what makes it a kernel thread of its own. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/time.h>

#define N 5
#define TEAMS 150

static _Thread_local volatile int known, own;
static bool raises;
static int sent, astray;

static void on_signal(int number)
{
    (void)number;
    own++;
}

/* What is sent to oneself is handled before the call returns. */
static void send_to_oneself(void)
{
    int before = own;
    __atomic_add_fetch(&sent, 1, __ATOMIC_SEQ_CST);
    CHECK((raises ? raise(SIGUSR1) : pthread_kill(pthread_self(), SIGUSR1)) == 0);
    if (own == before)
        __atomic_add_fetch(&astray, 1, __ATOMIC_SEQ_CST);
}

static void on_alarm(int number)
{
    int before = errno;
    (void)number;
    if (known)
        send_to_oneself();
    errno = before;
}

static void handle(int number, void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaddset(&action.sa_mask, SIGALRM); /* else it might find the other signal blocked */
    action.sa_flags = SA_RESTART;
    CHECK(sigaction(number, &action, NULL) == 0);
}

static void alarms(long us)
{
    struct itimerval timer = {{0, us}, {0, us}};
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

static void *open_region(void *arg)
{
#pragma omp parallel num_threads(N)
    {
        known = 1;
#pragma omp barrier
        waits_compute_us(20 * omp_get_thread_num());
        CHECK(gettid() > 0);
#pragma omp barrier
        known = 0;
    }
    return arg;
}

/* The kernel would give the first thread most of them. */
static void take_alarms(int how)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    CHECK(pthread_sigmask(how, &set, NULL) == 0);
}

/* Each opener has a team of its own, whose members have no kernel threads so far. */
static void teams(void)
{
    handle(SIGUSR1, on_signal);
    handle(SIGALRM, on_alarm);
    for (int i = 0; i < TEAMS; i++) {
        pthread_t opener;
        alarms(100 + i);
        CHECK(pthread_create(&opener, NULL, open_region, NULL) == 0);
        take_alarms(SIG_BLOCK);
        CHECK(pthread_join(opener, NULL) == 0);
        alarms(0);
        take_alarms(SIG_UNBLOCK);
    }
    CHECK(sent > 0 && !astray);
}

static void by_kill(void) { teams(); }
static void by_raise(void)
{
    raises = true;
    teams();
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"by_kill", by_kill}, {"by_raise", by_raise}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
