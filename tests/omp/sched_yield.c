/* sched_yield between looks at one another's flags, with more threads than processors, at two levels: a barrier made by
 * hand.
 * The runtime answers sched_yield itself: it must come back, let the others run, and keep every thread's place. */
#include "check.h"

#include <sched.h>
#include <stdatomic.h>

#define ROUNDS 500
#define MEMBERS 4

static void race(void)
{
    atomic_int round_of[MEMBERS];
    for (int i = 0; i < MEMBERS; i++)
        atomic_init(&round_of[i], 0);
#pragma omp parallel num_threads(MEMBERS)
    {
        int id = omp_get_thread_num();
        CHECK(omp_get_num_threads() == MEMBERS);
        for (int r = 1; r <= ROUNDS; r++) {
            atomic_store_explicit(&round_of[id], r, memory_order_release);
            for (int i = 0; i < MEMBERS; i++)
                while (atomic_load_explicit(&round_of[i], memory_order_acquire) < r)
                    CHECK(sched_yield() == 0);
        }
    }
}

int main(void)
{
    omp_set_dynamic(0);
    omp_set_max_active_levels(2);
    race();
#pragma omp parallel
    race();
    return 0;
}
