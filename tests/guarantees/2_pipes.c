/* Blocking reads and writes between the members of a region: pairs that play ping-pong over pipes. */
#include "check.h"
#include <unistd.h>

#define PAIRS 4

int main(void)
{
    int there[PAIRS][2], back[PAIRS][2];
    for (int p = 0; p < PAIRS; p++)
        CHECK(pipe(there[p]) == 0 && pipe(back[p]) == 0);
    for (int order = 0; order < 2; order++) {
#pragma omp parallel num_threads(2 * PAIRS)
        {
            int id = omp_get_thread_num(), p = id % PAIRS;
            int serves = order ? id < PAIRS : id >= PAIRS;
            for (int i = 0; i < 20; i++) {
                int value = i, got = -1;
                if (serves) {
                    CHECK(write(there[p][1], &value, sizeof value) == sizeof value);
                    CHECK(read(back[p][0], &got, sizeof got) == sizeof got);
                    CHECK(got == i + 1);
                } else {
                    CHECK(read(there[p][0], &got, sizeof got) == sizeof got);
                    value = got + 1;
                    CHECK(write(back[p][1], &value, sizeof value) == sizeof value);
                }
            }
        }
    }
    return 0;
}
