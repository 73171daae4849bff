/* The first mutex that the kernel compares is made when regions have run whose members needed nothing of the kernel:
 * those of the next region own it by the number of the kernel thread that they run on. */
#define _GNU_SOURCE
#include "check.h"
#include <omp.h>
#include <pthread.h>
#include <unistd.h>

#define N 4

int main(void)
{
    pthread_mutexattr_t attr;
    pthread_mutex_t mutex;
    int inside = 0;
    for (int region = 0; region < 200; region++) {
#pragma omp parallel num_threads(N)
        __asm__ volatile("" ::: "memory");
    }
    CHECK(pthread_mutexattr_init(&attr) == 0);
    CHECK(pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT) == 0);
    CHECK(pthread_mutex_init(&mutex, &attr) == 0);
    for (int region = 0; region < 5; region++) {
#pragma omp parallel num_threads(N)
        {
            CHECK(pthread_mutex_lock(&mutex) == 0);
            inside++;
            int owner = mutex.__data.__owner;
            CHECK(pthread_mutex_unlock(&mutex) == 0);
            CHECK(owner == gettid());
        }
    }
    CHECK(inside == 5 * N);
    return 0;
}
