/* What malloc keeps for each thread goes with the threads: roots come, fill and free many sizes in nested members, and
 * go. */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

static void churn(unsigned seed)
{
    void *some[40];
    for (int i = 0; i < 40; i++) {
        some[i] = malloc(16 + (seed * 7919u + (unsigned)i * 104729u) % 2000);
        CHECK(some[i]);
        memset(some[i], 1, 16);
    }
#pragma omp barrier
    for (int i = 0; i < 40; i++)
        free(some[i]);
}

static void *root(void *arg)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3)
    {
        churn(1 + (unsigned)omp_get_thread_num());
#pragma omp parallel num_threads(2)
        churn(10 + (unsigned)omp_get_thread_num());
    }
    return arg;
}

static void roots(int n)
{
    for (int i = 0; i < n; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, root, NULL) == 0);
        pthread_join(thread, NULL);
    }
}

static long resident_kib(void)
{
    long size = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%ld %ld", &size, &pages) == 2);
    fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 400;
    roots(n / 4);
    long before = resident_kib();
    roots(n);
    long grown = resident_kib() - before;
    if (grown >= 4096)
        fprintf(stderr, "grown by %ld KiB\n", grown);
    CHECK(grown < 4096);
    return 0;
}
