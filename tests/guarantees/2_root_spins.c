/* A member waits for the initial thread, which waits in a lock on the same processor, perhaps, and asks something at
 * each look: the time, its number, a lock, the C library. The initial thread can go on nowhere else; it must come on
 * whatever the member spends its time with. */
#include "check.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static omp_lock_t lock, taken;
static volatile int there, done;
static volatile double sum;
static char text[4096];

enum { TIME, NUMBER, TEST, FLUSH, CRITICAL, TASKYIELD, TASK, CLOCK, RANDOM, MEMORY, SYSTEM_CALL, KINDS };

static void look(int kind)
{
    struct timespec now;
    switch (kind) {
    case TIME:
        sum = omp_get_wtime();
        break;
    case NUMBER:
        sum = omp_get_thread_num() + omp_get_num_threads();
        break;
    case TEST:
        CHECK(!omp_test_lock(&taken));
        break;
    case FLUSH: {
#pragma omp flush
    } break;
    case CRITICAL:
#pragma omp critical
        sum = 1;
        break;
    case TASKYIELD: {
#pragma omp taskyield
    } break;
    case TASK:
#pragma omp task
        sum = 1;
#pragma omp taskwait
        break;
    case CLOCK:
        clock_gettime(CLOCK_MONOTONIC, &now);
        break;
    case RANDOM:
        sum = rand();
        break;
    case MEMORY:
        memset(text, kind, sizeof text);
        break;
    case SYSTEM_CALL:
        sum = getppid();
        break;
    }
}

static void member(int kind)
{
    if (omp_get_thread_num() == 1)
        omp_set_lock(&lock);
#pragma omp barrier
    if (omp_get_thread_num() == 1) {
        while (!there)
            usleep(100);
        for (int i = 0; i < 1000; i++) /* the initial thread comes to wait */
            look(TASKYIELD);
        omp_unset_lock(&lock);
        while (!done)
            look(kind);
    } else {
        there = 1;
        omp_set_lock(&lock);
        omp_unset_lock(&lock);
        done = 1;
    }
}

int main(void)
{
    omp_init_lock(&lock);
    omp_init_lock(&taken);
    omp_set_lock(&taken);
    for (int kind = 0; kind < KINDS; kind++)
        for (int round = 0; round < 3; round++) {
            there = done = 0;
#pragma omp parallel num_threads(2)
            member(kind);
        }
    return 0;
}
