/* A thread that has been cancelled, and has not come to a cancellation point yet, opens regions, the process's first
 * one, too. It ends where it asks whether it has been cancelled, and no lock of the runtime's with it. */
#define _GNU_SOURCE
#include "waits.h"
#include <pthread.h>

#define N 3
#define REGIONS 3

static int regions, cleaned;

static void clean(void *arg)
{
    (void)arg;
    cleaned++;
}

static void *open_regions(void *arg)
{
    CHECK(pthread_cancel(pthread_self()) == 0);
    pthread_cleanup_push(clean, NULL);
    for (int i = 0; i < REGIONS; i++) {
        int members = 0;
#pragma omp parallel num_threads(N) reduction(+ : members)
        {
            members++;
            waits_compute_us(100);
        }
        CHECK(members == N);
        regions++;
    }
    pthread_testcancel();
    pthread_cleanup_pop(0);
    return arg;
}

int main(void)
{
    for (int round = 0; round < 3; round++) {
        pthread_t thread;
        void *result;
        regions = cleaned = 0;
        CHECK(pthread_create(&thread, NULL, open_regions, NULL) == 0);
        CHECK(pthread_join(thread, &result) == 0);
        CHECK(regions == REGIONS && cleaned == 1 && result == PTHREAD_CANCELED);
    }
    int members = 0;
#pragma omp parallel num_threads(N) reduction(+ : members)
    members++;
    CHECK(members == N);
    return 0;
}
