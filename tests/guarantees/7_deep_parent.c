/* Every member but the first has a whole stack to itself, however deep in its own the thread stands that opened the
 * region: on the initial thread's stack and on a member's. argv[1]: KiB that a member uses. */
#include "check.h"

static __attribute__((noinline)) int use_stack(int kib)
{
    volatile char room[1024];
    room[kib % 1024] = 1;
    return kib <= 1 ? room[1 % 1024] : use_stack(kib - 1) + room[kib % 1024];
}

static int members(int kib)
{
    int sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
    {
        if (omp_get_thread_num() != 0)
            sum += use_stack(kib) != 0;
#pragma omp barrier
    }
#pragma omp parallel num_threads(4) reduction(+ : sum)
    {
        if (omp_get_thread_num() != 0)
            sum += use_stack(kib) != 0;
    }
    return sum;
}

static __attribute__((noinline)) int descend(int kib, int below)
{
    volatile char room[1024];
    room[kib % 1024] = 1;
    int sum = kib <= 1 ? members(below) : descend(kib - 1, below);
    return sum + room[kib % 1024] - 1;
}

int main(int argc, char **argv)
{
    int kib = argc > 1 ? atoi(argv[1]) : 5000;
    omp_set_max_active_levels(2);
    CHECK(descend(4000, kib) == 6);
#pragma omp parallel num_threads(3)
    CHECK(descend(4000, kib) == 6);
    return 0;
}
