/* Regions a thousand levels deep, and a deep stack in every member (kernel threads have megabytes). */
#include "check.h"

static int descend(int left)
{
    if (!left)
        return 0;
    int below = 0;
#pragma omp parallel num_threads(left % 100 == 0 ? 3 : 2)
    {
        if (omp_get_thread_num() == omp_get_num_threads() - 1)
            below = descend(left - 1);
    }
    return below + 1;
}

static __attribute__((noinline)) int use_stack(int kib)
{
    volatile char room[1024];
    room[kib % 1024] = 1;
    return kib <= 1 ? room[1 % 1024] : use_stack(kib - 1) + room[kib % 1024];
}

int main(int argc, char **argv)
{
    int kib = argc > 1 ? atoi(argv[1]) : 4000;
    omp_set_max_active_levels(2000);
    CHECK(descend(1000) == 1000); /* GCC's own runtime and ours: 255 of them with more than one thread */
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(8)
    {
        use_stack(kib);
#pragma omp barrier
#pragma omp parallel num_threads(2)
        use_stack(kib);
    }
    return 0;
}
