/* task_reduction and in_reduction over trees of tasks and nested groups; reduction(task, ...) of parallel, for and
 * sections. */
#include "check.h"

int main(void)
{
    for (int round = 0; round < 20; round++) {
        int n = 1;
        long by_parallel = 0, by_for = 0, by_sections = 0;
#pragma omp parallel
        {
#pragma omp single
            {n = omp_get_num_threads();
        long a = 10, b = 0, v[3] = {0};
#pragma omp taskgroup task_reduction(+ : a, v)
        {
            for (int i = 0; i < 30; i++) {
#pragma omp task in_reduction(+ : a, v) firstprivate(i)
                {
                    a += i;
                    v[i % 3]++;
                }
            }
#pragma omp taskgroup task_reduction(+ : b)
            {
#pragma omp task in_reduction(+ : a, b)
                {
                    a += 100;
                    b += 1;
                }
            }
            CHECK(b == 1);
        }
        CHECK(a == 10 + 435 + 100);
        for (int i = 0; i < 3; i++)
            CHECK(v[i] == 10);
    }
}
#pragma omp parallel reduction(task, + : by_parallel)
{
    by_parallel += 1;
    for (int i = 0; i < 10; i++) {
#pragma omp task in_reduction(+ : by_parallel)
        by_parallel += 2;
    }
}
CHECK(by_parallel == 21L * n);
#pragma omp parallel
{
#pragma omp for reduction(task, + : by_for)
    for (int i = 0; i < 40; i++) {
#pragma omp task in_reduction(+ : by_for) firstprivate(i)
        by_for += i;
    }
#pragma omp sections reduction(task, + : by_sections)
    {
#pragma omp section
        {
#pragma omp task in_reduction(+ : by_sections)
            by_sections += 3;
        }
#pragma omp section
        by_sections += 4;
    }
}
CHECK(by_for == 780);
CHECK(by_sections == 7);
}
return 0;
}
