/* An event fulfilled by a sibling that its waiter runs itself.
 * libgomp 12 hangs here: its taskwait takes the detached task at the head of the queue for the end of it. */
#include "task_check.h"

int main(void)
{
    for (int round = 0; round < 20; round++) {
#pragma omp parallel
#pragma omp single
        {
            omp_event_handle_t event;
            int done = 0;
#pragma omp task detach(event) shared(done)
#pragma omp atomic
            done++;
#pragma omp task firstprivate(event) shared(done)
            {
#pragma omp atomic
                done++;
                omp_fulfill_event(event);
            }
#pragma omp taskwait
            CHECK(done == 2);
        }
    }
    return 0;
}
