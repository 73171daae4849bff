/* Positions of an ordered nest that are 2^32 apart: a member that waits for the later one sees the earlier one, and
 * must not take one for the other. No program runs through so many iterations in a test, so the compiler's calls are
 * made by hand, for some of them. */
#include <stdbool.h>
#include <unistd.h>

#include "check.h"

bool GOMP_loop_doacross_static_start(unsigned dims, long *counts, long chunk, long *from, long *to);
void GOMP_doacross_post(long *position);
void GOMP_doacross_wait(long first, ...);
void GOMP_loop_end_nowait(void);

#define FAR (1L << 32)
#define ROUNDS 2000

static void pause_for(unsigned steps)
{
    for (volatile unsigned i = 0; i < steps; i++)
        ;
}

int main(void)
{
    long count[] = {4, FAR};
    static int data[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        int seen = 0;
        int size = 0;
#pragma omp parallel num_threads(2) reduction(+ : seen)
        {
            long from, to;
            GOMP_loop_doacross_static_start(2, count, 2, &from, &to); /* member 0 has 0 and 1 */
            if (omp_get_thread_num() == 0) {
                size = omp_get_num_threads();
                long first[] = {0, 0}, last[] = {1, 0};
                if (round % 2)
                    first[1] = last[1] = FAR - 1; /* 2^32, then 2^33: the low half is that of none */
                pause_for(round % 64 * 10);
                GOMP_doacross_post(first);
                pause_for(round % 128 * 20);
                data[round] = round + 1;
                GOMP_doacross_post(last);
            } else {
                GOMP_doacross_wait(1, round % 2 ? FAR - 1 : 0);
                seen = data[round];
            }
            GOMP_loop_end_nowait();
        }
        CHECK(size < 2 || seen == round + 1);
    }
    return 0;
}
