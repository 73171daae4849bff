/* The barrier at the end of a region waits for an event that a foreign thread fulfills.
 * libgomp 12 hangs here: its members spin in the barrier and are not told. */
#include <pthread.h>
#include <unistd.h>

#include "check.h"
#include "work.h"

static _Atomic int fulfilled;

static void *fulfill_later(void *arg)
{
    usleep(2000);
    fulfilled = 1;
    omp_fulfill_event(*(omp_event_handle_t *)arg);
    return NULL;
}

int main(void)
{
    for (int round = 0; round < 20; round++) {
        pthread_t thread;
        omp_event_handle_t event;
        fulfilled = 0;
#pragma omp parallel
#pragma omp single
        {
#pragma omp task detach(event)
            work(100);
            pthread_create(&thread, NULL, fulfill_later, &event);
        }
        CHECK(fulfilled == 1);
        pthread_join(thread, NULL);
    }
    return 0;
}
