/* taskgroup: waits for descendants too; groups inside of groups, in tasks, in every member. */
#include "check.h"

static void tree(int depth, int *count)
{
    for (int i = 0; i < 3 && depth > 0; i++) {
#pragma omp task
        tree(depth - 1, count);
    }
#pragma omp atomic
    (*count)++;
}

static int sum(int depth)
{
    int count = 0, below = 0;
#pragma omp taskgroup
    {
        tree(3, &count);
        if (depth > 0) {
#pragma omp task shared(below)
            below = sum(depth - 1);
        }
#pragma omp taskgroup
        {
            int inner = 0;
#pragma omp taskgroup
            tree(2, &inner);
            CHECK(inner == 13);
        }
    }
    CHECK(count == 40);
    return count + below;
}

int main(void)
{
    CHECK(sum(2) == 120);
    for (int round = 0; round < 10; round++) {
#pragma omp parallel
        {
            CHECK(sum(3) == 160);
#pragma omp single
            CHECK(sum(4) == 200);
        }
    }
    return 0;
}
