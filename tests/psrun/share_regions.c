/* Opens regions until it is killed. */
#include <omp.h>

int main(void)
{
    for (;;) {
#pragma omp parallel
        {
            double end = omp_get_wtime() + 0.001;
            while (omp_get_wtime() < end)
                ;
        }
    }
}
