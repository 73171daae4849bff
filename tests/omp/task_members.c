/* Every member makes, takes and waits at once, with more threads than processors and ones that left their share
 * early. */
#include "check.h"

int main(void)
{
    for (int round = 0; round < 20; round++) {
        long sum = 0;
        int n = 0;
#pragma omp parallel num_threads(16)
        {
            int me = omp_get_thread_num();
#pragma omp atomic
            n++;
            if (me % 4 == 0)
                for (int i = 0; i < 200; i++) {
#pragma omp task firstprivate(i) shared(sum)
                    {
                        for (int k = 0; k < 2; k++) {
#pragma omp task firstprivate(i) shared(sum)
#pragma omp atomic
                            sum += i;
                        }
                        if (i % 3 == 0) {
#pragma omp taskwait
                        }
                    }
                    if (i % 50 == 0) {
#pragma omp taskwait
                    }
                }
        }
        CHECK(sum == (n + 3) / 4 * 2L * 19900);
    }
    return 0;
}
