/* Polite waiting: loops around usleep, sched_yield and poll, each for a member that comes later. */
#include "check.h"
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#define N 8

int main(void)
{
    for (int round = 0; round < 3; round++) {
        volatile int turn = 0;
#pragma omp parallel num_threads(N)
        {
            int mine = N - 1 - omp_get_thread_num();
            while (turn != mine)
                if (round == 0)
                    usleep(100);
                else if (round == 1)
                    sched_yield();
                else
                    poll(NULL, 0, 1);
            turn = mine + 1;
        }
        CHECK(turn == N);
    }
    return 0;
}
