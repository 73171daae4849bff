/* clang-format off */ /* Functions with parameters in the old style. */
#include "check.h"
struct pt { int x, y; };
int fill();
static long
add(a, n, f, c, s)
    long *a;
    register int n;
    float f;
    char c;
    struct pt s;
{
    long t = 0;
    int k = n;
#pragma omp taskq reduction(+ : t) private(k)
    for (k = 0; k < n; k++)
#pragma omp task captureprivate(n)
        t += a[k] + n + (long)f + c + s.x;
    return t;
}
int fill(a, n) int a[]; int n;
{
    int i;
#pragma omp taskq private(i)
    for (i = 0; i < n; i++) {
#pragma omp task captureprivate(i)
        a[i] = i;
    }
    return n;
}
int
main()
{
    long a[4] = {1, 2, 3, 4}, t = 0;
    int b[3];
    struct pt p = {2, 0};
#pragma omp parallel taskq
#pragma omp task
    {
        t = add(a, 4, 1.5, 'b', p);
        fill(b, 3);
    }
    CHECK(t == 10 + 16 + 4 + 4 * 'b' + 8);
    CHECK(b[2] == 2);
    return 0;
}
