/* omp_all_memory: such a task comes after all earlier dependences of its siblings, whatever their addresses, and before
 * all later ones.
 * GCC 12 has no word for it: the call is made as GCC 13 makes it (an address NULL among the out ones); libgomp 12 takes
 * NULL for an address. */
#include <stdbool.h>

#include "check.h"
#include "work.h"

void GOMP_task(void (*fn)(void *), void *data, void (*cpyfn)(void *, void *), long arg_size, long arg_align,
               bool if_clause, unsigned flags, void **depend, int priority, void *detach);
void GOMP_taskwait_depend(void **depend);

static int before, all, after;

static void everything(void *arg)
{
    (void)arg;
    CHECK(before == 20 && after == 0);
    work(300);
    all++;
}

static void second(void *arg)
{
    (void)arg;
    CHECK(all == 1 && after == 20);
    all++;
}

int main(void)
{
    void *depend[] = {(void *)1, (void *)1, NULL};
    for (int round = 0; round < 30; round++) {
        before = all = after = 0;
#pragma omp parallel
#pragma omp single
        {
            int v[40];
            for (int i = 0; i < 20; i++) {
#pragma omp task depend(inout : v[i % 10]) depend(in : v[10 + i])
#pragma omp atomic
                before++;
            }
            GOMP_task(everything, NULL, NULL, 0, 1, true, 8, depend, 0, NULL);
            for (int i = 0; i < 20; i++) {
#pragma omp task depend(in : v[i + 5])
                {
                    CHECK(all == 1);
#pragma omp atomic
                    after++;
                }
            }
            GOMP_task(second, NULL, NULL, 0, 1, round % 2, 8, depend, 0, NULL);
            GOMP_taskwait_depend(depend);
            CHECK(all == 2);
        }
    }
    return 0;
}
