/* Kernel threads that end by pthread_exit after regions, or are cancelled between them; the main thread ends before
 * another one. */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

static int region(void)
{
    int sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
    sum++;
    return sum;
}

static void *exits(void *arg)
{
    CHECK(region() == 4);
    pthread_exit(arg);
}

static void *waits(void *arg)
{
    CHECK(region() == 4);
    *(volatile int *)arg = 1;
    for (;;)
        pause();
}

static void *stays(void *arg)
{
    usleep(20000);
    CHECK(region() == 4);
    (void)arg;
    exit(0);
}

int main(void)
{
    pthread_t thread;
    void *result;
    for (int i = 0; i < 20; i++) {
        CHECK(pthread_create(&thread, NULL, exits, &result) == 0);
        CHECK(pthread_join(thread, &result) == 0 && result == &result);
        volatile int ready = 0;
        CHECK(pthread_create(&thread, NULL, waits, (void *)&ready) == 0);
        while (!ready)
            usleep(100);
        pthread_cancel(thread);
        CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    }
    CHECK(region() == 4);
    CHECK(pthread_create(&thread, NULL, stays, NULL) == 0);
    pthread_exit(NULL);
}
