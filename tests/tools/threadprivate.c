/* Threads of a team, more than there are processors, each with a variable of its own. Prints "done" where they have. */
#include <omp.h>
#include <stdio.h>

static int own;
#pragma omp threadprivate(own)

int main(void)
{
    int wrong = 0;
#pragma omp parallel num_threads(8) reduction(+ : wrong)
    {
        own = omp_get_thread_num();
#pragma omp barrier
        wrong += own != omp_get_thread_num();
    }
    if (!wrong)
        puts("done");
    return wrong != 0;
}
