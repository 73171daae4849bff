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
    /* What goes a little later: pools of other runtimes, a file that our watchdog reads the quota from, and stacks of
     * kernel threads that ended together. The C library keeps such stacks, even beyond its limit of 40 MiB, since no
     * thread gives back a stack on which another one still ends. The next thread that ends gives them back. What
     * comes late: kernel threads of a runtime that starts them at need, as many as there are processors. The test
     * hangs where more is left. */
    long late = omp_get_max_threads();
    while (after = usage_now(), after.kernel_threads > before.kernel_threads + 2 + late || after.files > before.files ||
                                    after.maps > before.maps + 40 + 6 * late) {
        usleep(10000);
        come_and_go(AT_ONCE);
    }
    printf("resident %ld -> %ld KiB, maps %ld -> %ld, files %ld -> %ld, kernel threads %ld -> %ld\n",
           before.resident_kib, after.resident_kib, before.maps, after.maps, before.files, after.files,
           before.kernel_threads, after.kernel_threads);
    CHECK(after.resident_kib <= before.resident_kib + 4096);
    return 0;
}
