/* clang-format off */ /* Statements that macros make, with and without their own semicolon. */
#include "check.h"
#define BLOCK(x) { (x)++; }
#define DOWHILE(x) do { (x)++; } while (0)
#define SEMI(x) (x)++;
#define LOOP for (int k = 0; k < 3; k++)
#define IFELSE(x) if (x > 100) x = 0; else x++
int main(void)
{
    int a = 0, b = 0, c = 0, d = 0, e = 0;
#pragma omp parallel taskq
    {
#pragma omp task
        BLOCK(a)
#pragma omp task
        DOWHILE(b);
#pragma omp task
        SEMI(c)
#pragma omp task
        LOOP d++;
#pragma omp task
        IFELSE(e);
    }
    CHECK(a == 1 && b == 1 && c == 1 && d == 3 && e == 1);
    return 0;
}
