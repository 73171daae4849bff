/* firstprivate data of every size and of a wide alignment; data too large for a descriptor. */
#include <stdint.h>
#include <string.h>

#include "check.h"

struct large {
    int v[2000];
};
struct wide {
    _Alignas(256) int v;
};

int main(void)
{
    int bad = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 300; i++) {
        char small[3] = {(char)i, 1, 2};
        double medium[20];
        struct large large;
        struct wide wide = {i};
        for (int k = 0; k < 20; k++)
            medium[k] = i + k;
        for (int k = 0; k < 2000; k++)
            large.v[k] = i ^ k;
#pragma omp task firstprivate(small, medium, i)
        if (small[0] != (char)i || medium[19] != i + 19)
#pragma omp atomic
            bad++;
#pragma omp task firstprivate(large, i)
        for (int k = 0; k < 2000; k++)
            if (large.v[k] != (i ^ k))
#pragma omp atomic
                bad++;
#pragma omp task firstprivate(wide, i)
        if (wide.v != i || (uintptr_t)&wide % 256)
#pragma omp atomic
            bad++;
        memset(&large, 0xff, sizeof large);
        wide.v = -1;
    }
    CHECK(bad == 0);
    return 0;
}
