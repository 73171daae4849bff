/* A collector of garbage stops the others by SIGUSR1, and lets them go on by SIGUSR2: what both sides need. */
#ifndef STOP_WORLD_H
#define STOP_WORLD_H

#include "check.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

static sem_t stopped, resumed;
static volatile int world_runs = 1, over;

/* In the handler: says that it has come, and waits until the world runs. by_flag: without the other signal. */
static inline void stay_stopped(bool by_flag)
{
    sigset_t all_but_go;
    sigfillset(&all_but_go);
    sigdelset(&all_but_go, SIGUSR2);
    sem_post(&stopped);
    while (!world_runs)
        if (!by_flag)
            sigsuspend(&all_but_go);
    sem_post(&resumed);
}

static inline void wait_for(sem_t *sem, int n)
{
    for (int i = 0; i < n; i++)
        while (sem_wait(sem))
            CHECK(errno == EINTR);
}

static inline void on_go(int number) { (void)number; }

static inline void handle_stops(void (*on_stop)(int number))
{
    struct sigaction stop, go;
    memset(&stop, 0, sizeof stop);
    sigemptyset(&stop.sa_mask);
    stop.sa_flags = SA_RESTART;
    go = stop;
    sigaddset(&stop.sa_mask, SIGUSR2);
    stop.sa_handler = on_stop;
    go.sa_handler = on_go;
    CHECK(sigaction(SIGUSR1, &stop, NULL) == 0 && sigaction(SIGUSR2, &go, NULL) == 0);
    CHECK(sem_init(&stopped, 0, 0) == 0 && sem_init(&resumed, 0, 0) == 0);
}

#endif
