/* What does a write of the thread pointer cost? A member that a vp calls in a block of its own costs one, and a region
 * one more at its end: no runtime whose threads have thread-local storage of their own can do without. The same value
 * is written again and again, and a word behind it is read. Prints the median of the samples, in ns; where user code
 * may not write the thread pointer there is nothing to measure (exit status 77). */
#include "cpu.h"
#include "sample.h"

#include <stdio.h>

enum { SAMPLES = 31, WRITES = 100000 };

static _Thread_local volatile int word;

int main(void)
{
    if (!cpu_tp_settable()) {
        puts("the thread pointer cannot be written here");
        return 77;
    }
    void *own = cpu_get_tp();
    double ns[SAMPLES];
    for (int s = 0; s < SAMPLES; s++) {
        double start = sample_now();
        for (int i = 0; i < WRITES; i++) {
            cpu_set_tp_soon(own);
            (void)word;
        }
        ns[s] = (sample_now() - start) / WRITES * 1e9;
    }
    sample_print("thread pointer written", "ns", ns, SAMPLES);
    return 0;
}
