/* omp_depend_t objects, alone and beside plain dependences; update and destroy. */
#include "check.h"
#include "work.h"

int main(void)
{
    for (int round = 0; round < 20; round++) {
#pragma omp parallel
#pragma omp single
        {
            int x = 0, y = 0;
            omp_depend_t dx, dy;
#pragma omp depobj(dx) depend(inout : x)
#pragma omp depobj(dy) depend(in : y)
#pragma omp task depend(depobj : dx) shared(x)
            {
                work(1000);
                x = 1;
            }
#pragma omp task depend(depobj : dx) depend(out : y) shared(x, y)
            {
                CHECK(x == 1);
                y = 2;
            }
#pragma omp task depend(depobj : dy) shared(y)
            CHECK(y == 2);
#pragma omp task depend(depobj : dy) depend(in : x) shared(x, y)
            CHECK(y == 2 && x == 1);
#pragma omp depobj(dy) update(out)
#pragma omp task depend(depobj : dy) shared(y)
            y = 3;
#pragma omp taskwait depend(in : y)
            CHECK(y == 3);
#pragma omp taskwait
#pragma omp depobj(dx) destroy
#pragma omp depobj(dy) destroy
        }
    }
    return 0;
}
