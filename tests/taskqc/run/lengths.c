/* clang-format off */ /* Arrays of variable length, pointers to them and functions that take them, in clauses. */
#include "check.h"
static int sum(int n, int m, int a[n][m], int (*b)[m], int (*fp)(int n, int q[n]))
{
    int total = 0;
    typedef int mat[n][m];
    mat x;
    int (*px)[n][m] = &x;
    int *rows[n];
    __typeof__(a[0]) line;
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) x[i][j] = a[i][j];
    for (int i = 0; i < n; i++) rows[i] = a[i];
    for (int j = 0; j < m; j++) line[j] = j;
#pragma omp parallel taskq reduction(+ : total) firstprivate(x, line)
    for (int i = 0; i < n; i++) {
        n = n; 
        x[i][0] += 1;
#pragma omp task captureprivate(x, rows, px, a, b, fp)
        {
            mat y;
            memcpy(y, x, sizeof y);
            total += y[i][0] + (*px)[i][1] + rows[i][0] + a[i][1] + b[i][2] + line[m - 1] + (int)(sizeof x / sizeof x[0]) + fp(m, line);
        }
    }
    return total;
}
static int first(int n, int q[n]) { return q[n - 2]; }
int main(void)
{
    int a[3][4];
    for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) a[i][j] = 10 * i + j;
    int want = 0;
    for (int i = 0; i < 3; i++) want += a[i][0] + 1 + a[i][1] + a[i][0] + a[i][1] + a[i][2] + 3 + 3 + 2;
    CHECK(sum(3, 4, a, a, first) == want);
    return 0;
}
