/* A signal that a member raises is handled in that member at once, also where its siblings hold all processors and it
 * runs on a spare kernel thread. */
#include "check.h"
#include <signal.h>
#include <stdatomic.h>

#define MEMBERS 12
static atomic_int handled;
static void on_signal(int number)
{
    (void)number;
    atomic_fetch_add(&handled, 1);
}

int main(void)
{
    signal(SIGUSR1, on_signal);
    omp_set_dynamic(0);
    for (int round = 0; round < 3; round++) {
        atomic_store(&handled, 0);
#pragma omp parallel num_threads(MEMBERS)
        {
            raise(SIGUSR1);
            while (atomic_load(&handled) < MEMBERS) /* no thread leaves its processor before all have had theirs */
                continue;
        }
        CHECK(atomic_load(&handled) == MEMBERS);
    }
    return 0;
}
