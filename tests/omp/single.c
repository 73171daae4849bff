/* single, nowait and copyprivate; masked and master. */
#include "check.h"

int main(void)
{
    int count = 0, masters = 0, seen = 0;
#pragma omp parallel
    {
        int mine = -1;
        for (int i = 0; i < 300; i++) {
#pragma omp single nowait
#pragma omp atomic
            count++;
#pragma omp single copyprivate(mine)
            mine = i * 3;
            CHECK(mine == i * 3);
#pragma omp master
            masters++;
#pragma omp single
            seen = i;
            CHECK(seen == i);
#pragma omp barrier
        }
    }
    CHECK(count == 300 && masters == 300);
    return 0;
}
