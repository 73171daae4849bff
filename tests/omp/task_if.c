/* if(0): the task is done before the next statement, by the same thread; its own children may outlive it. */
#include "check.h"

int main(void)
{
    int later = 0, children = 0, n = 1;
#pragma omp parallel
    {
#pragma omp single
        n = omp_get_num_threads();
        for (int i = 0; i < 100; i++) {
            int done = 0, me = omp_get_thread_num();
#pragma omp task if (0) shared(done, later, children)
            {
                CHECK(omp_get_thread_num() == me);
                for (int k = 0; k < 3; k++) {
#pragma omp task shared(children)
#pragma omp atomic
                    children++;
                }
                done = 1;
            }
            CHECK(done == 1);
#pragma omp task if (i % 2) shared(later)
#pragma omp atomic
            later++;
        }
    }
    CHECK(children == 300 * n && later == 100 * n);
    return 0;
}
