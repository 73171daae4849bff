/* clang-format off */ /* Attributes of variables, and a function whose head a macro makes. */
#include "check.h"
#define FN(name) static int name(int a)
static int cleaned;
static void clean(int *p) { cleaned += *p; }
FN(g)
{
    int r __attribute__((aligned(32))) = 0;
    int guard __attribute__((cleanup(clean))) = 1;
#pragma omp parallel taskq
    {
        int inner __attribute__((cleanup(clean))) = 10;
#pragma omp task
        {
            int own __attribute__((cleanup(clean))) = 100;
            r = a + guard + inner + own;
        }
    }
    return r;
}
int main(void) { CHECK(g(1) == 112); CHECK(cleaned == 111); return 0; }
