/* Two teams that do nothing but go through barriers, on one processor, each waiting in its barriers for the other one:
 * neither keeps the processor. */
#include "check.h"

#define HANDOFFS 200

static int turn, handed[2];

static void team(int mine)
{
    int seen = 0, over = 0; /* written by member 0 between the barriers, read by all behind the second */
#pragma omp parallel num_threads(4) shared(seen, over)
    while (!over) {
#pragma omp barrier
        if (omp_get_thread_num() == 0) {
#pragma omp atomic read
            seen = turn;
            over = seen >= HANDOFFS;
            if (!over && seen % 2 == mine) {
                handed[mine]++;
#pragma omp atomic
                turn++;
            }
        }
#pragma omp barrier
    }
}

int main(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    team(omp_get_thread_num());
    CHECK(handed[0] == HANDOFFS / 2 && handed[1] == HANDOFFS / 2);
    return 0;
}
