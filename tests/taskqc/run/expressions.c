/* clang-format off */ /* Clauses' expressions inside of a task: names that a task sees otherwise, strings, fields, macros. */
#include "check.h"
struct cfg { int n, t; const char *name; };
#define COND(k) (n > (k) && c->n)
#define LIMIT n
static int h(int n, struct cfg *c, const char *s)
{
    int got = 0, more[3] = {0};
#pragma omp parallel taskq num_threads(c->t > 2 ? 2 : 1) if(strcmp(s, "s") == 0 || n)
    {
#pragma omp task
        {
#pragma omp parallel taskq if(strcmp(s, "s") == 0 && c -> n == n) num_threads(LIMIT)
            {
#pragma omp task
                more[0] = n;
            }
#pragma omp parallel taskq if(COND(1)) num_threads(sizeof(struct cfg) > 3 ? n : (int)sizeof n)
            {
#pragma omp task
                more[1] = n;
            }
#pragma omp parallel taskq if((struct cfg){.n = n, .t = 2}.n > 0) num_threads(more[0] + 1)
            {
#pragma omp task
                more[2] = c->n;
            }
        }
#pragma omp task
        got = 1;
    }
    return got + more[0] + more[1] + more[2];
}
int main(void) { struct cfg c = {2, 3, "x"}; CHECK(h(2, &c, "s") == 1 + 6); CHECK(h(2, &c, "t") == 7); return 0; }
