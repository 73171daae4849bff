/* Pausing gives resources back; the next region works as before. */
#include "check.h"

static void region(int n)
{
    int sum = 0;
#pragma omp parallel num_threads(n) reduction(+ : sum)
    sum += omp_get_thread_num() + 1;
    CHECK(sum == n * (n + 1) / 2);
}

int main(void)
{
    omp_set_dynamic(0);
    region(4);
    for (int i = 0; i < 5; i++) {
        CHECK(omp_pause_resource(omp_pause_soft, omp_get_initial_device()) == 0);
        region(3 + i);
        CHECK(omp_pause_resource_all(omp_pause_hard) == 0);
        region(6 - i);
    }
    CHECK(omp_pause_resource(omp_pause_soft, -3) != 0);
    return 0;
}
