/* What a thread does, as a tool asks for it: inside of an explicit task it works, whatever construct the task runs in;
 * when the task is done, the thread does again what it did before (checker.h compares the two). */
#include <omp.h>

#include "checker.h"

enum { WORKS = 1, TASKS = 50 };

static atomic_int ran;

static void works(void)
{
    uint64_t mutex = 1;
    EXPECT(get_state(&mutex) == WORKS);
    atomic_fetch_add(&ran, 1);
}

static void some_tasks(void)
{
    for (int i = 0; i < TASKS; i++) {
#pragma omp task
        {
            works();
            /* a wait of its own does not end the one outside */
#pragma omp task
            works();
#pragma omp taskwait
            works();
#pragma omp critical
            works();
        }
    }
}
enum { EACH = 4 * TASKS };

int main(void)
{
    int x = 0, expected = 0;
    omp_set_dynamic(0);
#pragma omp parallel num_threads(3)
#pragma omp master
    {
        some_tasks();
#pragma omp taskwait
        works();
    }
    expected += EACH + 1;
    EXPECT(ran == expected);
#pragma omp parallel num_threads(3)
#pragma omp master
    {
#pragma omp taskgroup
        some_tasks();
        works();
    }
    expected += EACH + 1;
    EXPECT(ran == expected);
#pragma omp parallel num_threads(3)
    {
        some_tasks();
#pragma omp barrier
        works();
        some_tasks();
    } /* the region's end */
    expected += 3 * (2 * EACH + 1);
    EXPECT(ran == expected);
#pragma omp parallel num_threads(3)
    {
#pragma omp for
        for (int i = 0; i < 3; i++)
            some_tasks();
#pragma omp single
        some_tasks();
#pragma omp single
        {
#pragma omp task depend(out : x)
            works();
#pragma omp task if (0) depend(in : x)
            works();
#pragma omp taskloop
            for (int i = 0; i < TASKS; i++)
                works();
#pragma omp taskyield
            works();
        }
    }
    expected += 4 * EACH + TASKS + 3;
    EXPECT(ran == expected);
#pragma omp parallel num_threads(1)
    {
#pragma omp task
        works();
#pragma omp barrier
    }
    EXPECT(ran == expected + 1);
    return 0;
}
