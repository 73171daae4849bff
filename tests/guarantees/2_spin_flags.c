/* Members that spin for each other without any call: a chain of flags, forwards and backwards, with more threads than
 * processors. */
#include "check.h"

#define N 8
static volatile int flag[N + 1];

static void chain(int backwards)
{
    memset((void *)flag, 0, sizeof flag);
    flag[backwards ? N : 0] = 1;
#pragma omp parallel num_threads(N)
    {
        int id = omp_get_thread_num();
        CHECK(omp_get_num_threads() == N);
        int from = backwards ? id + 1 : id, to = backwards ? id : id + 1;
        while (!flag[from])
            __sync_synchronize();
        flag[to] = 1;
    }
    CHECK(flag[backwards ? 0 : N]);
}

int main(void)
{
    for (int round = 0; round < 2; round++) {
        chain(0);
        chain(1);
    }
    return 0;
}
