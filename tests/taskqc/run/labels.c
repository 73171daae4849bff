/* clang-format off */ /* Labels, and places where a statement may stand. */
#include "check.h"
static int f(int k)
{
    int r = 0, tries = 0;
again:
#pragma omp parallel taskq
    {
    here:
#pragma omp task
    inner:
        {
            __label__ loc;
            if (r < 5) { r++; goto inner; }
            goto loc;
        loc:;
        }
        if (tries++ < 2) goto here;
    }
    if (k-- > 0) goto again;
    switch (k) {
    case -1:
#pragma omp parallel taskq
#pragma omp task
        switch (k) { case -1: default: r += 10; }
        break;
    default:;
    }
    if (r > 3)
#pragma omp parallel taskq
        ;
    else
        r = 0;
    do
#pragma omp parallel taskq
#pragma omp task
        r++;
    while (r < 20);
    return r;
}
int main(void)
{
    CHECK(f(1) == 20);
    return 0;
}
