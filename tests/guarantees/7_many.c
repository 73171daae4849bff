/* Thousands of threads in one team, with barriers; and nested regions by the hundred thousand: memory stays bounded. */
#include "check.h"
#include <unistd.h>

static long resident_kib(void)
{
    long size = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%ld %ld", &size, &pages) == 2);
    fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void nested_regions(int count)
{
    int sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
    for (int i = 0; i < count; i++) {
        int inner = 0;
#pragma omp parallel num_threads(1 + i % 4) reduction(+ : inner)
        inner++;
        sum += inner == 1 + i % 4;
    }
    CHECK(sum == 4 * count);
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 1000, regions = argc > 2 ? atoi(argv[2]) : 1000;
    omp_set_dynamic(0);
    omp_set_max_active_levels(2);
    int sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
#pragma omp barrier
        sum++;
#pragma omp barrier
    }
    CHECK(sum == threads);
    nested_regions(regions / 10);
    long before = resident_kib();
    nested_regions(regions);
    CHECK(resident_kib() - before < 8192);
    return 0;
}
