/* A thread blocks in the kernel, or spins, for what a sibling's inner region does: those inner members need its
 * processor. */
#include "check.h"
#include <unistd.h>

static volatile int seen;

int main(void)
{
    int channel[2];
    omp_set_max_active_levels(3);
    CHECK(pipe(channel) == 0);
    for (int reader = 0; reader < 2; reader++) {
        seen = 0;
#pragma omp parallel num_threads(2)
        {
            char c = 0;
            if (omp_get_thread_num() == reader) {
                for (int i = 0; i < 8; i++)
                    CHECK(read(channel[0], &c, 1) == 1);
                seen = 1;
            } else {
#pragma omp parallel num_threads(8)
                {
                    CHECK(write(channel[1], "x", 1) == 1);
                    while (!seen)
                        __sync_synchronize();
                }
            }
        }
    }
    return 0;
}
