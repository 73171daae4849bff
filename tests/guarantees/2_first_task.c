/* A region's first task is made late, and all members that are left spin until it has run, without a scheduling point.
 * A member that has returned from the region by then is to run it. Each round lets others return at another moment. */
#include "check.h"

#include <stdatomic.h>
#include <unistd.h>

static atomic_int ran, began, returned;

static void spin_until(atomic_int *word, int value)
{
    while (atomic_load(word) < value)
        continue;
}

/* One thread makes the task, and waits; `spinners` others do nothing else; the rest return, long before or just
 * then. */
static void region(int threads, int maker, int spinners, int tasks, int pause)
{
    atomic_store(&ran, 0);
    atomic_store(&began, 0);
    atomic_store(&returned, 0);
#pragma omp parallel num_threads(threads)
    {
        int me = (omp_get_thread_num() + threads - maker) % threads;
        if (me == 0) {
            spin_until(&began, spinners);
            spin_until(&returned, threads - 1 - spinners);
            if (pause < 0)
                usleep(2000);
            for (int i = 0; i < pause; i++)
                atomic_load(&ran);
            for (int i = 0; i < tasks; i++) {
#pragma omp task
                atomic_fetch_add(&ran, 1);
                spin_until(&ran, i + 1);
            }
        } else if (me >= threads - spinners) {
            atomic_fetch_add(&began, 1);
            spin_until(&ran, tasks);
        } else {
            atomic_fetch_add(&returned, 1);
        }
    }
    CHECK(atomic_load(&ran) == tasks);
}

int main(void)
{
    for (int round = 0; round < 2;
         round++) { /* members that return and members that spin: by the same vp, one after the other */
        region(3, 0, 1, 1, -1);
        region(6, 0, 2, 2, -1);
        region(6, 5, 2, 2, -1);
    }
    for (int pause = 0; pause < 40; pause += 5) { /* in the moment */
        region(2, 0, 0, 1, pause);
        region(2, 1, 0, 1, pause);
        region(4, 0, 1, 1, pause);
    }
    return 0;
}
