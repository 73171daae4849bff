/* taskloop reduction and in_reduction, nested, with several variables. */
#include "check.h"

int main(void)
{
    for (int round = 0; round < 10; round++) {
#pragma omp parallel
#pragma omp single
        {
            long sum = 5;
            int bits = 0;
            double product = 1;
#pragma omp taskloop reduction(+ : sum) reduction(| : bits) reduction(* : product) grainsize(3)
            for (int i = 0; i < 100; i++) {
                sum += i;
                bits |= 1 << i % 16;
                product *= i % 10 ? 1 : 2;
            }
            CHECK(sum == 4955 && bits == 0xffff && product == 1024);
            long total = 0;
#pragma omp taskgroup task_reduction(+ : total)
            {
#pragma omp taskloop in_reduction(+ : total) nogroup
                for (int i = 0; i < 50; i++)
                    total += i;
#pragma omp task in_reduction(+ : total)
                total += 1000;
            }
            CHECK(total == 2225);
            long none = 7;
#pragma omp taskloop reduction(+ : none)
            for (int i = 0; i < 0; i++)
                none += i;
            CHECK(none == 7);
        }
    }
    return 0;
}
