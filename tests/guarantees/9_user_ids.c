/* setuid and its like hold for every thread of the process, and end, for every caller: a member, the program's thread
 * beside members that compute, and after a region in which threads have got kernel threads of their own. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <stdbool.h>
#include <sys/syscall.h>

#define N 6
#define OTHER_GROUP 12345

static bool set_same(void) { return seteuid(geteuid()) == 0 && setresgid(-1, -1, -1) == 0; }

static void by_a_member(void)
{
    for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(N)
        {
            if (omp_get_thread_num() == N - 1)
                CHECK(set_same());
            wait_in_all_ways();
        }
    }
}

static void after_a_region(void)
{
#pragma omp parallel num_threads(N)
    {
        CHECK(syscall(SYS_gettid) > 0);
        wait_in_all_ways();
    }
    for (int i = 0; i < 5; i++)
        CHECK(set_same());
#pragma omp parallel num_threads(N)
    wait_in_all_ways();
    usleep(20000); /* no thread has anything to do */
    CHECK(set_same());
}

static void beside_computing_members(void)
{
#pragma omp parallel num_threads(N)
    for (int i = 0; i < 5; i++)
        if (omp_get_thread_num() == 0)
            CHECK(set_same());
        else
            waits_compute_us(5000);
}

/* Where the program may. */
static void for_all(void)
{
    if (geteuid() != 0)
        return;
#pragma omp parallel num_threads(N)
    for (int i = 0; i < 4; i++) {
        gid_t group = i % 2 ? OTHER_GROUP : 0;
#pragma omp barrier
        if (omp_get_thread_num() == i)
            CHECK(setegid(group) == 0);
        wait_in_all_ways();
        CHECK(getegid() == group && syscall(SYS_getegid) == (long)group);
    }
    CHECK(getegid() == OTHER_GROUP && setegid(0) == 0);
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"by_a_member", by_a_member},
                                           {"after_a_region", after_a_region},
                                           {"beside_computing_members", beside_computing_members},
                                           {"for_all", for_all}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
