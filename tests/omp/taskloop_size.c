/* grainsize and num_tasks: how many iterations a task gets. */
#include "check.h"

static int per_task[4096], tasks;

/* Each task counts the iterations between two changes of its own private variable. */
static void run(int n, int grain, int num)
{
    for (int i = 0; i < 4096; i++)
        per_task[i] = 0;
    tasks = 0;
    int mine = -1;
#define BODY                                              \
    {                                                     \
        if (mine < 0) {                                   \
            _Pragma("omp atomic capture") mine = tasks++; \
        }                                                 \
        _Pragma("omp atomic") per_task[mine]++;           \
    }
    if (grain > 0) {
#pragma omp taskloop grainsize(grain) firstprivate(mine)
        for (int i = 0; i < n; i++)
            BODY
    } else {
#pragma omp taskloop num_tasks(num) firstprivate(mine)
        for (int i = 0; i < n; i++)
            BODY
    }
}

int main(void)
{
#pragma omp parallel
#pragma omp single
    for (int n = 1; n < 300; n += 13) {
        for (int grain = 1; grain < 40; grain += 4) {
            run(n, grain, 0);
            for (int i = 0; i < tasks; i++)
                CHECK(per_task[i] < 2 * grain && (per_task[i] >= grain || n < grain));
        }
        for (int num = 1; num < 40; num += 4) {
            run(n, 0, num);
            CHECK(tasks == (num < n ? num : n));
            for (int i = 0; i < tasks; i++)
                CHECK(per_task[i] == n / tasks || per_task[i] == n / tasks + 1);
        }
    }
    return 0;
}
