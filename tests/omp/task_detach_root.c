/* detach outside of every region: the construct does not wait for the event, which the same thread may fulfill behind
 * it; taskwait does, and so do later siblings that depend on the task. libgomp 12 waits in the construct, for ever. */
#include <pthread.h>
#include <unistd.h>

#include "check.h"

static void *later(void *event)
{
    usleep(20000);
    omp_fulfill_event(*(omp_event_handle_t *)event);
    return NULL;
}

int main(void)
{
    for (int round = 0; round < 5; round++) {
        omp_event_handle_t event;
        int ran = 0, x = 0, seen = 0;
#pragma omp task detach(event) shared(ran)
        ran = 1;
        omp_fulfill_event(event);
#pragma omp taskwait
        CHECK(ran == 1);

        pthread_t helper;
#pragma omp task detach(event) depend(out : x) shared(ran)
        ran = 2;
        CHECK(pthread_create(&helper, NULL, later, &event) == 0);
#pragma omp task depend(in : x) shared(seen, ran)
        seen = ran;
#pragma omp taskwait
        CHECK(seen == 2);
        pthread_join(helper, NULL);
    }
    return 0;
}
