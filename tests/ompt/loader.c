/* A program without a tool of its own. */
#include <stdio.h>

int main(void)
{
#pragma omp parallel num_threads(2)
    __asm__ volatile("");
    puts("program ends");
    fflush(stdout);
    return 0;
}
