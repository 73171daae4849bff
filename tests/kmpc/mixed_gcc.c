/* The part of mixed.c that GCC compiles, with libgomp's entry points. */
#include <omp.h>

#include "mixed.h"

static int state;
#pragma omp threadprivate(state)

int by_gcc(int threads, int (*call)(int, int), int argument)
{
    int sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
        sum += call(omp_get_level(), argument);
        state = omp_get_thread_num() +
                1; /* behind the call: member 0 of a region inside is this thread, and has the same one */
        for (int i = 0; i < 4; i++)
#pragma omp task shared(sum)
#pragma omp atomic
            sum += 1;
#pragma omp taskwait
        if (state != omp_get_thread_num() + 1)
            sum += 100000;
    }
    return sum;
}

int gcc_sees_threads(void) { return omp_get_max_threads(); }
