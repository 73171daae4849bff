/* clang-format off */ /* An ordered queue with lastprivate and a reduction. */
#include "check.h"
int main(void)
{
    int seq[100], n = 0, last = -1, sum = 0;
#pragma omp parallel taskq ordered lastprivate(last) reduction(+ : sum)
    for (int i = 0; i < 100; i++) {
#pragma omp task captureprivate(i)
        {
            last = i;
            sum += i;
            if (i % 3) {
                for (int k = 0; k < 1; k++) {
#pragma omp ordered
                    {
                        seq[n] = i;
                        n++;
                    }
                }
            } else
#pragma omp ordered
                seq[n++] = i;
        }
    }
    for (int i = 0; i < 100; i++) CHECK(seq[i] == i);
    CHECK(last == 99 && sum == 4950 && n == 100);
    return 0;
}
