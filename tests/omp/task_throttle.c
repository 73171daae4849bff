/* Far more tasks than queues hold, of one creator, of many, and from a recursion that never waits: memory stays
 * bounded, each runs once. */
#include <sys/resource.h>

#include "check.h"

static long count;

static void chain(int n)
{
#pragma omp atomic
    count++;
    if (n > 0) {
#pragma omp task
        chain(n - 1);
    }
}

static void make_tasks(int n)
{
    count = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < n; i++) {
#pragma omp task
#pragma omp atomic
        count++;
    }
    CHECK(count == n);
}

int main(void)
{
    /* The first tasks bring what each thread has once: its stack. ThreadSanitizer keeps a history of each thread, which
     * grows to some 10 MB of each; its build measures that instead, so it checks the count alone. */
    struct rusage before, after;
    make_tasks(30000);
    getrusage(RUSAGE_SELF, &before);
    make_tasks(300000);
    getrusage(RUSAGE_SELF, &after);
#ifndef __SANITIZE_THREAD__
    CHECK(after.ru_maxrss - before.ru_maxrss < 32 * 1024);
#endif
    count = 0;
    int n = 1;
#pragma omp parallel
    {
#pragma omp single
        n = omp_get_num_threads();
        for (int i = 0; i < 2000; i++) {
#pragma omp task
#pragma omp atomic
            count++;
        }
#pragma omp single
        chain(2000);
    }
    CHECK(count == 2000L * n + 2001);
    return 0;
}
