/* A barrier of the program's own, which spins, with more threads than processors; and one inside a nested region. */
#include "check.h"

struct barrier {
    int n, count;
    volatile int sense;
};

static void wait_here(struct barrier *b)
{
    int sense = b->sense;
    if (__atomic_add_fetch(&b->count, 1, __ATOMIC_ACQ_REL) == b->n) {
        b->count = 0;
        __atomic_store_n(&b->sense, !sense, __ATOMIC_RELEASE);
        return;
    }
    while (__atomic_load_n(&b->sense, __ATOMIC_ACQUIRE) == sense)
        continue;
}

static void rounds(int n, int times)
{
    struct barrier b = {.n = n};
    int sum = 0;
#pragma omp parallel num_threads(n)
    for (int i = 0; i < times; i++) {
        __atomic_add_fetch(&sum, 1, __ATOMIC_RELAXED);
        wait_here(&b);
        CHECK(sum == n * (i + 1));
        wait_here(&b);
    }
}

int main(void)
{
    omp_set_max_active_levels(3);
    rounds(8, 3);
#pragma omp parallel num_threads(3)
    rounds(4, 2);
    return 0;
}
