/* What does it cost to hand a cache line to another processor and have it back? The measure of everything that two
 * threads agree on: a region's start and end is one such round trip at least. Two kernel threads on a processor each
 * write a counter in turn. Prints the median of the samples, in us; on one processor there is nothing to measure (exit
 * status 77). */
#include "sample.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

enum { SAMPLES = 31, TRIPS = 5000 };

static _Alignas(128) _Atomic unsigned long counter;
static int processors[2];

static cpu_set_t only(int processor)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    return one;
}

/* Writes every other value: those of the parity `mine`. */
static void play(unsigned long mine, unsigned long until)
{
    for (unsigned long next = mine; next < until; next += 2) {
        while (atomic_load_explicit(&counter, memory_order_acquire) != next)
            ;
        atomic_store_explicit(&counter, next + 1, memory_order_release);
    }
}

static void *partner(void *arg)
{
    play(1, *(unsigned long *)arg);
    return NULL;
}

int main(void)
{
    cpu_set_t all;
    int found = 0;
    sched_getaffinity(0, sizeof all, &all);
    for (int i = 0; i < CPU_SETSIZE && found < 2; i++)
        if (CPU_ISSET(i, &all))
            processors[found++] = i;
    if (found < 2) {
        fprintf(stderr, "line: one processor, nothing to measure\n");
        return 77;
    }
    cpu_set_t here = only(processors[0]), there = only(processors[1]);
    pthread_attr_t attr; /* on its processor from the beginning: moving there itself would need a turn on this one */
    pthread_attr_init(&attr);
    pthread_attr_setaffinity_np(&attr, sizeof there, &there);
    sched_setaffinity(0, sizeof here, &here);
    double us[SAMPLES];
    unsigned long until = 2ul * TRIPS;
    unsigned num = 0;
    /* where the processors are busy with something else, a sample takes seconds, and three must do */
    for (double begin = sample_now(); num < SAMPLES && (num < 3 || sample_now() - begin < 2); num++) {
        pthread_t t;
        atomic_store(&counter, 0);
        if (pthread_create(&t, &attr, partner, &until)) {
            fprintf(stderr, "line: no thread\n");
            return 1;
        }
        play(0, until / 10 * 2); /* the partner is there */
        double start = sample_now();
        play(until / 10 * 2, until);
        us[num] = (sample_now() - start) / (TRIPS * 0.8) * 1e6;
        pthread_join(t, NULL);
    }
    sample_print("line round trip", "us", us, num);
    return 0;
}
