/* KMP_AFFINITY=reset,...: a root's kernel thread has the mask of before the region again, and the routines tell so. The
 * root has no place before its first region. A region of one thread counts as a region. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../omp/check.h"

void kmp_create_affinity_mask(void **mask);
void kmp_destroy_affinity_mask(void **mask);
int kmp_get_affinity(void **mask);
int kmp_get_affinity_mask_proc(int cpu, void **mask);

static cpu_set_t at_start;

static int masked_as_at_start(void)
{
    cpu_set_t now;
    CHECK(sched_getaffinity(0, sizeof now, &now) == 0);
    return CPU_EQUAL(&now, &at_start);
}

static int told_processors(void)
{
    void *mask;
    int n = 0;
    kmp_create_affinity_mask(&mask);
    CHECK(kmp_get_affinity(&mask) == 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        n += kmp_get_affinity_mask_proc(cpu, &mask) == 1;
    kmp_destroy_affinity_mask(&mask);
    return n;
}

static void outside(int place)
{
    CHECK(masked_as_at_start());
    CHECK(omp_get_place_num() == place);
    CHECK(omp_get_partition_num_places() == (place < 0 ? 0 : omp_get_num_places()));
    CHECK(told_processors() == CPU_COUNT(&at_start)); /* last: libomp gives the root its place when it is asked this */
}

int main(int argc, char **argv)
{
    CHECK(sched_getaffinity(0, sizeof at_start, &at_start) == 0);
    if (argc == 1) { /* the variable is read when the library is loaded */
        setenv("KMP_AFFINITY", "reset,granularity=fine,compact", 1);
        execl(argv[0], argv[0], "1", NULL);
        return 1;
    }
    int n = atoi(argv[1]), places = omp_get_num_places();
    CHECK(places == CPU_COUNT(&at_start));
    outside(-1);
    for (int i = 0; i < 3; i++) {
#pragma omp parallel num_threads(n)
        {
            CHECK(omp_get_place_num() == omp_get_thread_num() % places);
            CHECK(told_processors() == 1);
            CHECK(places == 1 || n == 1 || !masked_as_at_start());
        }
        outside(0);
    }
    if (n == 1) {
        execl(argv[0], argv[0], "2", NULL);
        return 1;
    }
    return 0;
}
