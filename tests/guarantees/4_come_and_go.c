/* Kernel threads of the program's own that come, open a nested region and go, by the ten thousand: no file, no mapping,
 * no kernel thread and no memory is left of them. argv[1]: how many. */
#include "usage.h"
#include <pthread.h>

#define AT_ONCE 8

static void *brief(void *arg)
{
    int sum = 0;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
        int inner = 0;
#pragma omp parallel num_threads(2) reduction(+ : inner)
        inner++;
        sum += inner;
    }
    *(int *)arg = sum;
    return NULL;
}

static void come_and_go(int count)
{
    for (int i = 0; i < count; i += AT_ONCE) {
        pthread_t thread[AT_ONCE];
        int sum[AT_ONCE] = {0};
        for (int k = 0; k < AT_ONCE; k++)
            CHECK(pthread_create(&thread[k], NULL, brief, &sum[k]) == 0);
        for (int k = 0; k < AT_ONCE; k++) {
            pthread_join(thread[k], NULL);
            CHECK(sum[k] == 4);
        }
    }
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 400;
    come_and_go(count / 4);
    struct usage before = usage_now(), after;
    come_and_go(count);
    /* Pools of other runtimes end a little later, and our watchdog has a file open while it reads the quota. The test
     * hangs where more is left. */
    while (after = usage_now(), after.kernel_threads > before.kernel_threads + 2 || after.files > before.files)
        usleep(10000);
    printf("resident %ld -> %ld KiB, maps %ld -> %ld, files %ld -> %ld, kernel threads %ld -> %ld\n",
           before.resident_kib, after.resident_kib, before.maps, after.maps, before.files, after.files,
           before.kernel_threads, after.kernel_threads);
    CHECK(after.maps <= before.maps + 40);
    CHECK(after.resident_kib <= before.resident_kib + 4096);
    return 0;
}
