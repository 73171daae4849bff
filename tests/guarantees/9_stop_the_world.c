/* A collector of garbage stops all threads and lets them go on: each other member gets a signal, says in its handler
 * that it has come, and waits there for another signal. No thread runs meanwhile, whatever everybody did: compute, wait
 * in the runtime, block. Twice: by sigsuspend, and by a flag; and where a kernel thread of the program's own stops the
 * members of a region. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "stop_world.h"
#include "waits.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#define N 6

static pthread_t self[N];
static volatile long work[N];
static bool by_flag;
static const bool waits_with[3][2] = {{false, false}, {true, false}, {true, true}}; /* runtime, kernel */

static void on_stop(int number)
{
    int before = errno;
    (void)number;
    stay_stopped(by_flag);
    errno = before;
}

static void stop_and_go(int but)
{
    long before[N];
    int others = 0;
    world_runs = 0;
    for (int id = 0; id < N; id++)
        if (id != but) {
            CHECK(pthread_kill(self[id], SIGUSR1) == 0);
            others++;
        }
    wait_for(&stopped, others); /* hangs where one does not come */
    for (int id = 0; id < N; id++)
        before[id] = work[id];
    waits_compute_us(1000);
    for (int id = 0; id < N; id++)
        CHECK(work[id] == before[id]);
    world_runs = 1;
    for (int id = 0; id < N && !by_flag; id++)
        if (id != but)
            CHECK(pthread_kill(self[id], SIGUSR2) == 0);
    wait_for(&resumed, others);
}

static void *stop_from_outside(void *ready)
{
    while (!*(volatile int *)ready)
        usleep(100);
    for (int i = 0; i < 5; i++) {
        stop_and_go(-1);
        usleep(500);
    }
    over = 1;
    return NULL;
}

static void live(int id, int way, int collector)
{
    for (int i = 0; i < (collector < 0 ? 1000000 : 5) && !over; i++) {
        waits_compute_us(100);
        work[id]++;
        if (waits_with[way][0])
            wait_in_a_critical();
        if (waits_with[way][1])
            usleep(200);
        if (id == collector)
            stop_and_go(id);
    }
}

static void rounds(int way, bool outside)
{
    handle_stops(on_stop);
    for (int round = 0; round < 4; round++) {
        pthread_t thread;
        volatile int ready = 0;
        over = 0;
        if (outside)
            CHECK(pthread_create(&thread, NULL, stop_from_outside, (void *)&ready) == 0);
#pragma omp parallel num_threads(N)
        {
            int id = omp_get_thread_num();
            self[id] = pthread_self();
            wait_in_a_barrier();
            if (id == 0)
                ready = 1;
            live(id, way, outside ? -1 : round);
#pragma omp barrier /* where others wait to the end, and are stopped */
        }
        if (outside)
            pthread_join(thread, NULL);
    }
}

static void computing(void) { rounds(0, false); }
static void waiting(void) { rounds(1, false); }
static void blocking(void) { rounds(2, false); }
static void from_outside(void) { rounds(0, true); }
static void waiting_from_outside(void) { rounds(2, true); }
static void with_flag(void)
{
    by_flag = true;
    rounds(1, false);
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {
        {"computing", computing}, {"waiting", waiting},           {"blocking", blocking},
        {"by_flag", with_flag},   {"from_outside", from_outside}, {"waiting_from_outside", waiting_from_outside}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
