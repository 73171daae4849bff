/* A program that loses memory of its own: 8 blocks of members and 8 of tasks, 160 bytes in all. */
#include <omp.h>
#include <stdlib.h>

static void lose(void)
{
    volatile char *volatile lost = malloc(10);
    lost[0] = 1;
    lost = NULL;
}

int main(void)
{
#pragma omp parallel num_threads(8)
    {
        lose();
#pragma omp parallel num_threads(2)
        (void)omp_get_num_threads();
#pragma omp task
        lose();
    }
    return 0;
}
