/* lastprivate(conditional:), scan and array reductions: loops for which the compiler asks the runtime for memory. */
#include "check.h"

static int final;

int main(void)
{
    for (int n = 1; n < 300; n += 23) {
        int last = -1, sum = 0, out[300], hist[10] = {0};
#pragma omp parallel for lastprivate(conditional : last) schedule(dynamic, 3)
        for (int i = 0; i < n; i++)
            if (i % 7 == 0)
                last = i;
        CHECK(last == (n - 1) / 7 * 7);
#pragma omp parallel for reduction(inscan, + : sum)
        for (int i = 0; i < n; i++) {
            sum += i;
#pragma omp scan inclusive(sum)
            out[i] = sum;
        }
        for (int i = 0; i < n; i++)
            CHECK(out[i] == i * (i + 1) / 2);
#pragma omp parallel for reduction(+ : hist[:10]) schedule(guided)
        for (int i = 0; i < n; i++)
            hist[i % 10]++;
        for (int i = 0; i < 10; i++)
            CHECK(hist[i] == (n - i + 9) / 10);
#pragma omp parallel shared(final)
        {
#pragma omp sections lastprivate(conditional : final)
            {
#pragma omp section
                final = 5;
#pragma omp section
                final = n;
            }
        }
        CHECK(final == n);
    }
    return 0;
}
