/* Iterators in depend clauses: a task after a whole array of tasks. */
#include "check.h"

#define N 40
int main(void)
{
    for (int round = 0; round < 20; round++) {
        int v[N] = {0};
#pragma omp parallel
#pragma omp single
        {
            for (int i = 0; i < N; i++) {
#pragma omp task depend(out : v[i]) shared(v)
                v[i] = i;
            }
#pragma omp task depend(iterator(k = 0 : N), in : v[k]) shared(v)
            for (int i = 0; i < N; i++)
                CHECK(v[i] == i);
#pragma omp task depend(iterator(k = 0 : N : 2), inout : v[k]) shared(v)
            for (int i = 0; i < N; i += 2)
                v[i] = -1;
#pragma omp task depend(in : v[0]) shared(v)
            CHECK(v[0] == -1);
        }
    }
    return 0;
}
