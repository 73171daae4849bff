/* clang-format off */ /* Statement expressions around directives and in tasks; designated initialisers; compound literals. */
#include "check.h"
struct v { int x, y; int a[3]; };
static int sum(struct v v) { return v.x + v.y + v.a[2]; }
int main(void)
{
    int r[4] = {0};
    int total = ({
        int s = 0;
#pragma omp parallel taskq reduction(+ : s)
        for (int i = 0; i < 4; i++) {
#pragma omp task
            s += sum((struct v){.y = i, .a = {[2] = 10}, .x = ({ int t = i; t * 2; })});
        }
        s;
    });
    CHECK(total == 6 + 40 + 12);
#pragma omp parallel taskq
    for (int i = 0; i < 4; i++) {
        struct v here = {.a[1] = i, .x = 1};
#pragma omp task
        {
            int *p = (int[]){here.a[1], [3] = 9};
            struct v *q = &(struct v){.x = here.x, .y = p[3]};
            r[i] = q->x + q->y + p[0] + ({
                int z = 0;
#pragma omp taskq
                {
#pragma omp task
                    z = here.x;
                }
                z;
            });
        }
    }
    for (int i = 0; i < 4; i++) CHECK(r[i] == 1 + 9 + i + 1);
    return 0;
}
