/* critical, named and not, more threads than processors; atomic on what the processor has no instruction for. */
#include "check.h"

int main(void)
{
    long plain = 0, a = 0, b = 0;
    long double wide = 0;
    int threads = 0;
#pragma omp parallel num_threads(7)
    {
#pragma omp single
        threads = omp_get_num_threads();
        for (int i = 0; i < 2000; i++) {
#pragma omp critical
            plain++;
#pragma omp critical(first)
            a += 2;
#pragma omp critical(second)
            {
                b += 3;
#pragma omp critical(first)
                a += 1;
            }
#pragma omp atomic
            wide += 1;
        }
    }
    CHECK(plain == 2000L * threads && a == 6000L * threads && b == 6000L * threads);
    CHECK(wide == 2000.0L * threads);
    return 0;
}
