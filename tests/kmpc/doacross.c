/* doacross nests whose sinks stay inside at the upper edge: clang counts one iteration too many for each loop, so that
 * a sink just beyond the edge waits for ever under any runtime. Below the lower edge nothing is waited for. */
#include "../omp/wavefront.h"

/* Downwards, with a stride, and nests one after the other without a barrier. */
static void strides(void)
{
    static int done[3][40];
    memset(done, 0, sizeof done);
#pragma omp parallel
    for (int nest = 0; nest < 3; nest++) {
#pragma omp for ordered(1) schedule(dynamic) nowait
        for (int i = 39; i >= 0; i -= 3) {
#pragma omp ordered depend(sink : i + 3)
            CHECK(i == 39 || done[nest][i + 3] == 40 - (i + 3));
            done[nest][i] = 40 - i;
#pragma omp ordered depend(source)
        }
    }
    for (int nest = 0; nest < 3; nest++)
        for (int i = 39; i >= 0; i -= 3)
            CHECK(done[nest][i] == 40 - i);
}

int main(void)
{
    for (int round = 0; round < 10; round++) {
        WAVES(int);
        WAVES(unsigned long long);
        strides();
    }
    return 0;
}
