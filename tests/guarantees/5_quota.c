/* The control group's quota of processor time changes while the program runs, and omp_get_num_procs follows. (GCC's own
 * runtime does not look at quotas.) */
#define _GNU_SOURCE
#include "5_quota.h"
#include <sched.h>

/* Or it hangs. */
static void becomes(int wanted)
{
    while (omp_get_num_procs() != wanted) {
        int sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
        sum++;
        CHECK(sum == 4);
        usleep(5000);
    }
}

int main(void)
{
    make_group(2);
    set_quota(2, 100);
    becomes(1);
    cpu_set_t mask;
    CHECK(sched_getaffinity(0, sizeof mask, &mask) == 0);
    int all = CPU_COUNT(&mask);
    set_quota(2, 0);
    becomes(all);
    set_quota(2, 50);
    becomes(1);
    remove_group();
    return 0;
}
