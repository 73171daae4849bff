/* An event fulfilled by a sibling that its waiter runs itself. */
#include "check.h"

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
