/* Many events fulfilled by a foreign thread while regions come and go: nothing completes twice, too early or into a
 * team that is gone. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "check.h"

#define SLOTS 64
static _Atomic(omp_event_handle_t) slot[SLOTS];
static atomic_int stop;

static void *fulfiller(void *arg)
{
    while (!atomic_load(&stop)) {
        for (int i = 0; i < SLOTS; i++) {
            omp_event_handle_t e = atomic_exchange(&slot[i], (omp_event_handle_t)0);
            if (e)
                omp_fulfill_event(e);
        }
        sched_yield();
    }
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, fulfiller, NULL);
    for (int round = 0; round < 100; round++) {
        int done = 0;
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < SLOTS; i++) {
            omp_event_handle_t event;
            int x;
#pragma omp task detach(event) depend(out : x) shared(done)
            {
#pragma omp atomic
                done++;
            }
            atomic_store(&slot[i], event);
#pragma omp task depend(in : x) shared(done)
#pragma omp atomic
            done++;
        }
        CHECK(done == 2 * SLOTS);
    }
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);
    return 0;
}
