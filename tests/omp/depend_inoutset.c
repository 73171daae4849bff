/* inoutset: tasks of a set run beside each other, after what came before and before what comes next. GCC 12 has no word for it: the object's kind
 * is set as GCC 13 does (5); libgomp 12 refuses it.
 * Members that spin for one another, even with taskyield, are not tried: OpenMP promises such tasks no progress. */
#include "task_check.h"

int main(void)
{
    for (int round = 0; round < 30; round++) {
#pragma omp parallel
#pragma omp single
        {
            int x = 0, members = 0, reads = 0;
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
