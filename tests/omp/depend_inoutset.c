/* inoutset: tasks of a set run beside each other, after what came before and before what comes next. GCC 12 has no word
 * for it: the object's kind is set as GCC 13 does (5); libgomp 12 refuses it. */
#include "check.h"
#include "work.h"

int main(void)
{
    for (int round = 0; round < 30; round++) {
#pragma omp parallel
#pragma omp single
        {
            int x = 0, members = 0, reads = 0, met = 0;
            omp_depend_t set;
#pragma omp depobj(set) depend(inout : x)
            ((void **)&set)[1] = (void *)5;
#pragma omp task depend(in : x) shared(reads, members)
            {
                CHECK(members == 0);
                work(300);
#pragma omp atomic
                reads++;
            }
            for (int i = 0; i < 10; i++) {
#pragma omp task depend(depobj : set) shared(members, reads)
                {
                    CHECK(reads == 1);
#pragma omp atomic
                    members++;
                }
            }
            /* two members that wait for each other, if there are threads for both */
            if (omp_get_num_threads() > 1) {
                for (int i = 0; i < 2; i++) {
#pragma omp task depend(depobj : set) shared(met)
                    {
                        int seen = 0;
#pragma omp atomic
                        met++;
                        while (seen < 2) {
#pragma omp taskyield
#pragma omp atomic read
                            seen = met;
                        }
                    }
                }
            }
#pragma omp task depend(in : x) shared(members)
            CHECK(members == 10);
#pragma omp task depend(depobj : set) shared(members)
            CHECK(members == 10);
#pragma omp task depend(out : x) shared(x)
            x = 1;
#pragma omp taskwait
            CHECK(x == 1);
#pragma omp depobj(set) destroy
        }
    }
    return 0;
}
