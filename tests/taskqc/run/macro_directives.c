/* clang-format off */ /* Directives that macros make, alone and with their statements. */
#include "check.h"
#define QUEUE _Pragma("omp parallel taskq")
#define TASK _Pragma("intel omp task captureprivate(i)")
#define CRITICAL _Pragma("omp critical")
#define PRAGMA(x) _Pragma(#x)
#define DO_TASK(stmt) _Pragma("omp task") { stmt; }
int main(void)
{
    int a[8] = {0}, n = 0;
    QUEUE
    for (int i = 0; i < 8; i++) {
        TASK
        a[i] = i;
    }
    PRAGMA(omp parallel taskq reduction(+ : n))
    for (int i = 0; i < 8; i++) {
        PRAGMA(omp task)
        n += a[i];
    }
    CHECK(n == 28);
#pragma omp parallel taskq
    {
        DO_TASK(a[0] = 5)
        PRAGMA(omp task) a[1] = 6;
    }
    CHECK(a[0] == 5 && a[1] == 6);
    /* those of the queue's that are no task either */
    int hits = 0;
#pragma omp parallel taskq ordered
    for (int i = 0; i < 200; i++) {
        TASK
        {
            CRITICAL hits++;
            PRAGMA(omp ordered)
            a[i % 8] = i;
        }
    }
    CHECK(hits == 200 && a[7] == 199);
    return 0;
}
