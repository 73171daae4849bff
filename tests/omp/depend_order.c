/* depend in/out/inout: chains, one writer and many readers, readers before a writer; several addresses a task. */
#include "check.h"
#include "work.h"

int main(void)
{
#pragma omp parallel
#pragma omp single
    {
        int x = 0, y = 0, chain = 0, reads = 0;
        for (int i = 0; i < 500; i++) {
#pragma omp task depend(inout : chain) shared(chain) firstprivate(i)
            {
                CHECK(chain == i);
                chain++;
            }
        }
        for (int round = 1; round <= 50; round++) {
#pragma omp task depend(out : x) shared(x, reads) firstprivate(round)
            {
                CHECK(reads == (round - 1) * 10);
                x = round;
            }
            for (int r = 0; r < 10; r++) {
#pragma omp task depend(in : x) shared(x, reads) firstprivate(round)
                {
                    CHECK(x == round);
                    work(20);
#pragma omp atomic
                    reads++;
                }
            }
#pragma omp task depend(in : x) depend(out : y) shared(x, y)
            y = x;
#pragma omp task depend(in : y) depend(inout : x) shared(x, y)
            CHECK(x == y);
        }
#pragma omp taskwait
        CHECK(chain == 500 && x == 50 && reads == 500);
    }
    return 0;
}
