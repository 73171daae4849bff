/* errno is the thread's own over everything that can wait. */
#include "check.h"
#include <errno.h>

int main(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(4)
    {
        int outer = 100 + omp_get_thread_num();
        errno = outer;
#pragma omp parallel num_threads(4)
        {
            int mine = outer * 100 + omp_get_thread_num();
            for (int i = 0; i < 20; i++) {
                errno = mine;
#pragma omp barrier
                CHECK(errno == mine);
#pragma omp critical
                {
                    CHECK(errno == mine);
                    errno = 0;
                    for (volatile int k = 0; k < 1000; k++)
                        continue;
                    errno = mine;
                }
#pragma omp barrier
                CHECK(errno == mine);
                errno = 0;
            }
            errno = omp_get_thread_num() ? -1 : outer;
        }
        CHECK(errno == outer); /* as the inner team's first thread, which is this one, has left it */
    }
    return 0;
}
