/* Points at which a thread may wait in the runtime, for all members of a team: a runtime whose threads share kernel
 * threads goes on with another one there, and may go on with this one on another kernel thread. */
#ifndef PS_GUARANTEES_WAITS_H
#define PS_GUARANTEES_WAITS_H

#include "check.h"
#include <time.h>
#include <unistd.h>

static inline void waits_compute_us(long us)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    for (long long now = 0, end = t.tv_sec * 1000000LL + t.tv_nsec / 1000 + us; now < end;
         now = t.tv_sec * 1000000LL + t.tv_nsec / 1000)
        clock_gettime(CLOCK_MONOTONIC, &t);
}

static inline void wait_in_a_barrier(void)
{
    if (omp_get_thread_num() % 2)
        waits_compute_us(200);
#pragma omp barrier
}

static inline void wait_in_a_critical(void)
{
#pragma omp critical(waits)
    if (omp_get_thread_num() % 3)
        usleep(300);
    else
        waits_compute_us(300);
}

static inline void wait_for_tasks(void)
{
    int done = 0;
    for (int i = 0; i < 3; i++)
#pragma omp task shared(done)
    {
        waits_compute_us(50);
#pragma omp atomic
        done++;
    }
#pragma omp taskwait
    CHECK(done == 3);
}

static inline void wait_for_a_turn(void)
{
#pragma omp for ordered schedule(static, 1)
    for (int i = 0; i < 12; i++)
#pragma omp ordered
        waits_compute_us(20);
}

static inline void wait_in_all_ways(void)
{
    wait_in_a_barrier();
    wait_in_a_critical();
    wait_in_a_barrier();
    wait_for_a_turn();
#pragma omp single
    usleep(500);
}

#endif
