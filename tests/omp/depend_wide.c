/* Many addresses, many readers of one, a long life of the parent: the table grows and forgets. */
#include <sys/resource.h>

#include "check.h"

#define N 20000
static int v[N];

int main(void)
{
    int sum = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < N; i++) {
#pragma omp task depend(out : v[i])
            v[i] = 1;
        }
        for (int i = 1; i < N; i++) {
#pragma omp task depend(in : v[i - 1]) depend(inout : v[i])
            v[i] += v[i - 1];
        }
        int x = 0;
        for (int i = 0; i < N; i++) {
#pragma omp task depend(in : x) shared(sum)
#pragma omp atomic
            sum++;
        }
#pragma omp task depend(out : x) shared(sum)
        CHECK(sum == N);
    }
    CHECK(sum == N);
    for (int i = 0; i < N; i++)
        CHECK(v[i] == i + 1);
    return 0;
}
