// A region with a thread in each cluster, and a region of the cluster's own cores inside it: the sum of a million
// numbers, and the cycles that it took. manycore-cc nested.c -o nested.elf && manycore nested.elf
#include <manycore.h>
#include <omp.h>
#include <stdio.h>

enum { NUMBERS = 1000000 };

int main(void)
{
    unsigned long long sum = 0;
    uint32_t begin = mc_cycles();
#pragma omp parallel num_threads(mc_clusters()) proc_bind(spread) reduction(+ : sum)
    {
        unsigned part = omp_get_thread_num(), parts = omp_get_num_threads();
#pragma omp parallel for num_threads(mc_cores()) proc_bind(close) reduction(+ : sum)
        for (unsigned i = part; i < NUMBERS; i += parts)
            sum += i;
    }
    uint32_t cycles = mc_cycles() - begin;
    printf("%u clusters of %u cores: the sum is %llu, after %u cycles\n", mc_clusters(), mc_cores(), sum,
           (unsigned)cycles);
    return sum != (unsigned long long)NUMBERS * (NUMBERS - 1) / 2;
}
