/* priority: accepted with any value, every task runs once; with one thread, higher ones run first. */
#include "check.h"
#include "need_env.h"

int main(int argc, char **argv)
{
    (void)argc;
    need_env(argv, "OMP_MAX_TASK_PRIORITY", "10");
    int runs = 0;
    CHECK(omp_get_max_task_priority() == 10);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 500; i++) {
#pragma omp task priority(i % 7) shared(runs)
#pragma omp atomic
        runs++;
    }
    CHECK(runs == 500);
    int order[10], next = 0;
#pragma omp parallel num_threads(1)
#pragma omp single
    {
        for (int i = 0; i < 10; i++) {
#pragma omp task priority(i) shared(order, next)
            order[next++] = i;
        }
    }
    CHECK(next == 10);
    for (int i = 0; i < 10; i++)
        CHECK(order[i] == 9 - i);
    return 0;
}
