/* threadprivate of code that does not use native thread-local storage: built with -fno-openmp-use-tls. */
#include "../omp/check.h"

static int counter = 5;
static struct {
    int id, v[40];
} block = {.id = -1, .v = {[39] = 7}};
#pragma omp threadprivate(counter, block)

int main(void)
{
    CHECK(counter == 5 && block.v[39] == 7);
    counter = 6;
    for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(4)
        {
            int id = omp_get_thread_num();
            CHECK(counter == (id == 0 ? 6 : 5) + round * (id + 1) && block.v[39] == 7);
            CHECK(block.id == (round == 0 ? -1 : id));
            counter += id + 1;
            block.id = id;
#pragma omp barrier
            CHECK(block.id == id);
        }
    }
    CHECK(counter == 9 && block.id == 0);
    counter = 77;
#pragma omp parallel num_threads(4) copyin(counter)
    CHECK(counter == 77);
    return 0;
}
