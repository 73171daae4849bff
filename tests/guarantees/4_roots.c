/* Kernel threads of the program's own, each opening regions, nested ones too, at the same time; and short-lived ones by
 * the thousand, which leave nothing behind. */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

#define ROOTS 6

static void *root(void *arg)
{
    int me = (int)(long)arg;
    omp_set_max_active_levels(2);
    omp_set_num_threads(2 + me);
    for (int i = 0; i < 200; i++) {
        int sum = 0, n = 0;
#pragma omp parallel reduction(+ : sum)
        {
            int inner = 0;
            n = omp_get_num_threads();
#pragma omp parallel num_threads(2) reduction(+ : inner)
            inner++;
            sum += inner;
            CHECK(omp_get_level() == 1 && omp_get_ancestor_thread_num(0) == 0);
        }
        CHECK(n == 2 + me && sum == 2 * n);
        CHECK(omp_get_max_threads() == 2 + me);
    }
    return NULL;
}

static void *brief(void *arg)
{
    int sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
    sum++;
    *(int *)arg = sum;
    return NULL;
}

static long resident_kib(void)
{
    long size = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%ld %ld", &size, &pages) == 2);
    fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void many_brief(int count)
{
    for (int i = 0; i < count; i += 4) {
        pthread_t thread[4];
        int sum[4] = {0};
        for (int k = 0; k < 4; k++)
            CHECK(pthread_create(&thread[k], NULL, brief, &sum[k]) == 0);
        for (int k = 0; k < 4; k++) {
            pthread_join(thread[k], NULL);
            CHECK(sum[k] == 3);
        }
    }
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 400;
    pthread_t thread[ROOTS];
    for (long k = 0; k < ROOTS; k++)
        CHECK(pthread_create(&thread[k], NULL, root, (void *)k) == 0);
    root((void *)2L);
    for (int k = 0; k < ROOTS; k++)
        pthread_join(thread[k], NULL);
    many_brief(count / 4);
    long before = resident_kib();
    many_brief(count);
    CHECK(resident_kib() - before < 4096);
    return 0;
}
