/* threadprivate variables belong to the OpenMP thread: nested and oversubscribed, with copyin, and kept from region to
 * region. */
#include "check.h"

static int mine, kept = 7;
static __thread int native;
#pragma omp threadprivate(mine, kept)

static void own(int value)
{
    mine = value;
    native = -value;
#pragma omp barrier
    CHECK(mine == value && native == -value);
#pragma omp critical
    CHECK(mine == value && native == -value);
#pragma omp barrier
    CHECK(mine == value && native == -value);
}

int main(void)
{
    omp_set_dynamic(0);
    omp_set_max_active_levels(3);
    for (int round = 0; round < 5; round++) {
#pragma omp parallel num_threads(8)
        own(100 * round + omp_get_thread_num());
    }
#pragma omp parallel num_threads(8)
    CHECK(mine == 400 + omp_get_thread_num() && native == -mine);

#pragma omp parallel num_threads(4)
    {
        int outer = omp_get_thread_num();
        own(outer);
#pragma omp parallel num_threads(4)
        own(1000 + 10 * outer + omp_get_thread_num());
        CHECK(mine == 1000 + 10 * outer); /* the inner team's first thread is the same thread */
    }

    kept = 42;
#pragma omp parallel num_threads(8) copyin(kept)
    {
        CHECK(kept == 42);
        kept += omp_get_thread_num();
    }
#pragma omp parallel num_threads(8)
    CHECK(kept == 42 + omp_get_thread_num());
    return 0;
}
