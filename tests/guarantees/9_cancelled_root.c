/* A thread of the program's that is cancelled while it is a region's first member ends when it allows it, after the
 * region, and no other thread does: the other members pass cancellation points meanwhile. Its clean-up handlers run
 * once, in it. */
#define _GNU_SOURCE
#include "waits.h"
#include <pthread.h>

#define N 6

static volatile int inside, cancelled, cleaned, passed;
static pthread_t thread;

static void clean(void *arg)
{
    (void)arg;
    CHECK(pthread_equal(pthread_self(), thread) != 0);
    cleaned++;
}

static void *root(void *asynchronous)
{
    int old;
    thread = pthread_self();
    CHECK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old) == 0);
    if (asynchronous)
        CHECK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old) == 0);
    pthread_cleanup_push(clean, NULL);
#pragma omp parallel num_threads(N)
    {
        inside = 1;
        for (int i = 0; i < 5 || !cancelled; i++) {
            usleep(200);
            if (omp_get_thread_num())
                pthread_testcancel();
#pragma omp atomic
            passed++;
        }
        wait_in_all_ways();
    }
    CHECK(cancelled && !cleaned);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
    for (;;)
        pause();
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void)
{
    for (int round = 0; round < 6; round++) {
        pthread_t t;
        void *result;
        static int yes;
        inside = cancelled = cleaned = 0;
        CHECK(pthread_create(&t, NULL, root, round % 2 ? &yes : NULL) == 0);
        while (!inside)
            usleep(100);
        CHECK(pthread_cancel(t) == 0);
        usleep(1000);
        cancelled = 1;
        CHECK(pthread_join(t, &result) == 0);
        CHECK(result == PTHREAD_CANCELED || round % 2); /* glibc 2.36 may give NULL where it is asynchronous */
        CHECK(cleaned == 1);
        int count = 0;
#pragma omp parallel num_threads(N) reduction(+ : count)
        count++;
        CHECK(count == N);
    }
    return 0;
}
