/* The control group's quota of processor time changes while the program runs, and omp_get_num_procs follows. (GCC's own runtime does not look
 * at quotas.) */
#define _GNU_SOURCE
#include "5_quota.h"
#include <sched.h>

static int becomes(int wanted)
{
    for (int i = 0; i < 1000; i++) {
        int sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
        sum++;
        CHECK(sum == 4);
        if (omp_get_num_procs() == wanted)
            return 1;
        usleep(20000);
    }
    return 0;
}

int main(void)
{
    make_group(2);
    set_quota(2, 100);
    int first = becomes(1);
    cpu_set_t mask;
    CHECK(sched_getaffinity(0, sizeof mask, &mask) == 0);
    int all = CPU_COUNT(&mask);
    set_quota(2, 0);
    int widened = all > 1 ? becomes(all) : 1;
    set_quota(2, 50);
    int narrowed = becomes(1);
    remove_group();
    CHECK(first);
    CHECK(widened);
    CHECK(narrowed);
    return 0;
}
