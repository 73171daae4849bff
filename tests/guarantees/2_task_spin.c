/* Explicit tasks that spin for each other, as many as there are threads to run them: each needs a thread of its own. */
#include "check.h"

#define N 8
#define TASKS 5

static volatile int flag[TASKS + 1];

int main(void)
{
    for (int round = 0; round < 4; round++) {
        memset((void *)flag, 0, sizeof flag);
        flag[round % 2 ? 0 : TASKS] = 1;
#pragma omp parallel num_threads(N)
#pragma omp single
        {
            for (int i = 0; i < TASKS; i++) {
#pragma omp task firstprivate(i)
                {
                    int from = round % 2 ? i : i + 1, to = round % 2 ? i + 1 : i;
                    while (!flag[from])
                        __sync_synchronize();
                    flag[to] = 1;
                }
            }
            if (round >= 2) {
#pragma omp taskwait
            }
        }
        for (int i = 0; i <= TASKS; i++)
            CHECK(flag[i]);
    }
    return 0;
}
