/* No memory for a large team: the region is smaller, the program goes on. libgomp ends the program here. */
#include <sys/resource.h>

#include "check.h"

static long used_bytes(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f != NULL && fscanf(f, "%ld", &pages) == 1);
    fclose(f);
    return pages * 4096;
}

int main(void)
{
    int members = 0;
    omp_set_dynamic(0);
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3) reduction(+ : members)
    members++;
    CHECK(members == 3);
    struct rlimit limit = {.rlim_cur = (rlim_t)used_bytes() + (48 << 20), .rlim_max = RLIM_INFINITY};
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    for (int round = 0; round < 3; round++) {
        members = 0;
#pragma omp parallel num_threads(500000) reduction(+ : members)
        members++;
        CHECK(members >= 1 && members < 500000);
        int size = members;
#pragma omp parallel num_threads(2) reduction(+ : members)
#pragma omp parallel num_threads(500000) reduction(+ : members)
        members++;
        CHECK(members > size); /* the outer team may have one member, too */
    }
    return 0;
}
