/* Dependences bind siblings only: the same address under two parents; a successor outlives its creator. */
#include "check.h"
#include "work.h"

int main(void)
{
    int chains[64] = {0};
#pragma omp parallel
    {
#pragma omp for
        for (int p = 0; p < 64; p++) {
#pragma omp task firstprivate(p) shared(chains)
            {
                int *x = &chains[p];
                for (int i = 0; i < 30; i++) {
#pragma omp task depend(inout : x[0]) firstprivate(i, x)
                    {
                        CHECK(*x == i);
                        work(30);
                        *x = i + 1;
                    }
                } /* no taskwait: the creator ends before its children */
            }
        }
    }
    for (int p = 0; p < 64; p++)
        CHECK(chains[p] == 30);
    return 0;
}
