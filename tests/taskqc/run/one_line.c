/* clang-format off */ /* Several directives in a line; statics of a task's; functions by pointers. */
#include "check.h"
/* two tasks on one line, a task in an argument-less loop, tasks through pointers to functions, static in a task */
static int counter(void) { static int n; return __atomic_add_fetch(&n, 1, __ATOMIC_SEQ_CST); }
int main(void)
{
    int a = 0, b = 0, (*f)(void) = counter, calls[3] = {0};
    _Pragma("omp parallel taskq") { _Pragma("omp task") a = 1; _Pragma("omp task") { b = 2; } }
#pragma omp parallel taskq
    for (int i = 0; i < 3; i++) {
#pragma omp task
        {
            static int inside;
            static const char *names[] = {"x", "y"};
            __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
            calls[i] = f() + (names[1][0] == 'y') + (inside > 0) - 2;
        }
    }
    CHECK(a == 1 && b == 2);
    CHECK(calls[0] + calls[1] + calls[2] == 6);
    return 0;
}
