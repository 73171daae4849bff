/* A handler of a signal that is sent to one member runs as that member: on its stack, below what it was doing, with its
 * thread-local variables, and while it does nothing else. So a collector that looks at stacks finds all that the member
 * has. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#define N 5
#define ROUNDS 12

static pthread_t self[N];
static volatile uintptr_t deepest[N], low[N]; /* where the member has called from last; its stack's end */
static sem_t seen;
static _Thread_local int who = -1;
static volatile int handled[N], stranger, elsewhere;
static bool waiting_ones;

static void on_signal(int number)
{
    int before = errno;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    (void)number;
    if (who < 0 || !pthread_equal(pthread_self(), self[who]))
        stranger = 1;
    else {
        handled[who]++;
        if (here < low[who] || here > deepest[who])
            elsewhere = 1;
    }
    sem_post(&seen);
    errno = before;
}

static void __attribute__((noinline)) live(int id, volatile int *over)
{
    deepest[id] = (uintptr_t)__builtin_frame_address(0);
    while (!*over) {
        waits_compute_us(50);
        if (waiting_ones)
            wait_in_a_critical();
    }
}

static void sends(void)
{
    volatile int over = 0;
    stranger = elsewhere = 0;
#pragma omp parallel num_threads(N)
    {
        int id = omp_get_thread_num();
        pthread_attr_t attr;
        void *bottom;
        size_t bytes;
        self[id] = pthread_self();
        who = id;
        handled[id] = 0;
        CHECK(pthread_getattr_np(pthread_self(), &attr) == 0 && pthread_attr_getstack(&attr, &bottom, &bytes) == 0);
        pthread_attr_destroy(&attr);
        low[id] = (uintptr_t)bottom;
        deepest[id] = (uintptr_t)__builtin_frame_address(0);
        wait_in_a_barrier();
        if (id == 0) {
            for (int i = 0; i < ROUNDS; i++)
                for (int to = 1; to < N; to++) {
                    CHECK(pthread_kill(self[to], SIGUSR1) == 0);
                    while (sem_wait(&seen))
                        CHECK(errno == EINTR);
                }
            over = 1;
        } else {
            live(id, &over);
        }
#pragma omp barrier
        who = -1;
    }
    CHECK(!stranger);
    CHECK(!elsewhere);
    for (int id = 1; id < N; id++)
        CHECK(handled[id] == ROUNDS);
}

static void start(bool waiting)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0 && sem_init(&seen, 0, 0) == 0);
    waiting_ones = waiting;
    for (int i = 0; i < 2; i++)
        sends();
}
static void computing(void) { start(false); }
static void waiting(void) { start(true); }

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"computing", computing}, {"waiting", waiting}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
