/* backtrace() in a member, before and after it has waited (and perhaps come back on another kernel thread). The frames
 * are the program's and the runtime's, the innermost function is among them, and the end is an outermost frame, not a
 * limit. Prints "done". */
#include <execinfo.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 100
static int wrong;

__attribute__((noinline)) static void look(int depth)
{
    void *frames[MOST];
    if (depth > 0) {
        look(depth - 1);
        __asm__ volatile("" ::: "memory"); /* no tail call */
        return;
    }
    int n = backtrace(frames, MOST), inside = 0;
    for (int i = 0; i < n; i++)
        inside += (char *)frames[i] > (char *)look && (char *)frames[i] < (char *)look + 1024;
    if (n >= MOST || inside < 6) {
#pragma omp atomic
        wrong++;
    }
}

int main(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3)
#pragma omp parallel num_threads(3)
    {
        look(5);
#pragma omp barrier
        look(5);
    }
    puts(wrong ? "wrong" : "done");
    return wrong != 0;
}
