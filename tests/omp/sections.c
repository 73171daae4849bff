/* sections: each once, whatever the number of threads; combined, nowait, lastprivate, reduction. */
#include "check.h"

int main(void)
{
    for (int round = 0; round < 200; round++) {
        int n[5] = {0}, last = 0, sum = 0;
#pragma omp parallel sections
        {
#pragma omp section
            n[0]++;
#pragma omp section
            n[1]++;
#pragma omp section
            n[2]++;
        }
#pragma omp parallel num_threads(1 + round % 5)
        {
#pragma omp sections lastprivate(last) reduction(+ : sum)
            {
#pragma omp section
                sum += 1, last = 1;
#pragma omp section
                sum += 10, last = 2;
#pragma omp section
                sum += 100, last = 3;
            }
            CHECK(last == 3 && sum == 111);
#pragma omp sections nowait
            {
#pragma omp section
                n[3]++;
            }
#pragma omp sections
            {
#pragma omp section
                n[4]++;
            }
        }
        for (int i = 0; i < 5; i++)
            CHECK(n[i] == 1);
    }
    return 0;
}
