/* Tasks that open parallel regions, whose members make tasks that open regions. */
#include "check.h"

static int count;

static void level(int depth)
{
#pragma omp atomic
    count++;
    if (depth == 0)
        return;
#pragma omp parallel num_threads(2)
    {
#pragma omp single
        {
#pragma omp task
            level(depth - 1);
#pragma omp task
            level(depth - 1);
        }
    }
}

int main(void)
{
    omp_set_max_active_levels(5);
    for (int round = 0; round < 5; round++) {
        count = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
        for (int i = 0; i < 4; i++) {
#pragma omp task
            level(3);
        }
        CHECK(count == 4 * 15);
    }
    return 0;
}
