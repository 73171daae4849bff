/* mutexinoutset: tasks of the set exclude each other, come after the writer and before the next reader. */
#include "check.h"
#include "work.h"

int main(void)
{
    for (int round = 0; round < 20; round++) {
#pragma omp parallel
#pragma omp single
        {
            int x = 0, y = 0, inside = 0;
#pragma omp task depend(out : x, y) shared(x, y)
            x = y = 1;
            for (int i = 0; i < 30; i++) {
#pragma omp task depend(mutexinoutset : x, y) shared(x, y, inside)
                {
                    CHECK(inside++ == 0);
                    work(50);
                    x++;
                    y += 2;
                    CHECK(--inside == 0);
                }
            }
#pragma omp task depend(in : x) shared(x)
            CHECK(x == 31);
#pragma omp task depend(in : y) shared(y)
            CHECK(y == 61);
#pragma omp taskwait
        }
    }
    return 0;
}
