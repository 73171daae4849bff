/* clang-format off */ /* lastprivate of every kind of variable; a queue without a task. */
#include "check.h"
struct s { int a; double b[2]; };
static int file_last;
int main(void)
{
    int x = -1, arr[3] = {0}, n = 5, k = -1;
    struct s st = {0, {0, 0}};
    int vla[n];
    memset(vla, 0, sizeof vla);
#pragma omp parallel taskq lastprivate(x, arr, st, vla, file_last, k) firstprivate(x)
    for (k = 0; k < 20; k++) {
        x++;
#pragma omp task
        {
            arr[1] = k; st.a = k; st.b[1] = x; vla[n - 1] = k * 2; file_last = k;
            x += 100;
        }
    }
    CHECK(x == 19 + 100 && arr[1] == 19 && st.a == 19 && st.b[1] == 19 && vla[4] == 38 && file_last == 19 && k == 19);
    /* no task at all: the variable stays */
    x = 3;
#pragma omp parallel taskq lastprivate(x)
    {
        x = 9;
    }
    CHECK(x == 3 || x == 9);
    return 0;
}
