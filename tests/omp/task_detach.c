/* detach: a task is complete when its event is fulfilled: before its body ends, or by a thread that OpenMP does not
 * know. */
#include <pthread.h>
#include <unistd.h>

#include "check.h"

static void *fulfill_later(void *arg)
{
    usleep(2000);
    omp_fulfill_event(*(omp_event_handle_t *)arg);
    return NULL;
}

static int after; /* set by a task that depends on the detached one */

static void from_outside(void)
{
    omp_event_handle_t event;
    pthread_t thread;
    int x = 0, body = 0;
    after = 0;
#pragma omp task detach(event) depend(out : x) shared(body)
    body = 1;
#pragma omp task depend(in : x) shared(body)
    {
        CHECK(body == 1);
        after = 1;
    }
    pthread_create(&thread, NULL, fulfill_later, &event);
#pragma omp taskwait
    CHECK(after == 1);
    pthread_join(thread, NULL);
}

int main(void)
{
    for (int round = 0; round < 20; round++) {
#pragma omp parallel
#pragma omp single
        {
            from_outside();
            omp_event_handle_t e1;
            int done = 0;
            /* fulfilled in its own body */
#pragma omp task detach(e1) shared(done)
            {
                omp_fulfill_event(e1);
#pragma omp atomic
                done++;
            }
#pragma omp taskwait
            CHECK(done == 1);
        }
    }
    return 0;
}
