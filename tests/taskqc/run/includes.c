/* clang-format off */ /* Included files that have no directives, and macros that are defined inside of a task. */
#include "check.h"
#include "value.h"
static int with_body(int n)
{
    int s[4] = {0};
#pragma omp parallel taskq
    for (int i = 0; i < n; i++) {
#pragma omp task
        {
#define V(k) s[k]
            V(i) = VALUE;
#undef V
        }
    }
    return s[3];
}
int main(void) { CHECK(with_body(4) == 42); return 0; }
