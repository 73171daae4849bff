/* if(0) with depend, and taskwait with depend: wait for exactly the predecessors; others may still be open. */
#include "check.h"
#include "work.h"

int main(void)
{
    for (int round = 0; round < 50; round++) {
#pragma omp parallel
#pragma omp single
        {
            int x = 0, y = 0;
#pragma omp task depend(out : x) shared(x)
            {
                work(500);
                x = 1;
            }
#pragma omp task depend(inout : x) shared(x)
            x++;
#pragma omp task depend(out : y) shared(y)
            y = 1;
#pragma omp task if (0) depend(in : x) shared(x)
            CHECK(x == 2);
#pragma omp task depend(inout : x) shared(x)
            x = 5;
#pragma omp taskwait depend(in : x)
            CHECK(x == 5);
#pragma omp task if (0) depend(inout : x, y) shared(x, y)
            CHECK(x == 5 && y == 1);
#pragma omp taskwait depend(out : y)
            CHECK(y == 1);
        }
    }
    return 0;
}
