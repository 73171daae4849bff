/* if(0) with OMP_CANCELLATION: the tasks of a cancelled group are dropped. Those of the group around it and of the next
 * one run. The same holds below a task that has set a number of threads of its own, which they have too. */
#include "check.h"
#include "need_env.h"

#ifdef __clang__ /* runs the body of an undeferred task itself, and does not ask the runtime */
#define DROPPED 10
#else
#define DROPPED 0
#endif

static int run_in_group(int cancel)
{
    int run = 0;
#pragma omp taskgroup
    {
        if (cancel) {
#pragma omp task if (0)
            {
#pragma omp cancel taskgroup
            }
        }
        for (int i = 0; i < 10; i++) {
#pragma omp task if (0) shared(run)
            run++;
        }
    }
    return run;
}

static void three_groups(void)
{
    int around = 0;
#pragma omp taskgroup
    {
        CHECK(run_in_group(0) == 10);
        CHECK(run_in_group(1) == DROPPED);
        CHECK(run_in_group(0) == 10);
#pragma omp task if (0) shared(around)
        around++;
    }
    CHECK(around == 1);
}

int main(int argc, char **argv)
{
    (void)argc;
    need_env(argv, "OMP_CANCELLATION", "true");
    for (int i = 0; i < 100; i++) {
#pragma omp parallel
        {
            three_groups();
#pragma omp task if (0)
            {
                omp_set_num_threads(17);
                int seen = 0;
#pragma omp task if (0) shared(seen)
                seen = omp_get_max_threads();
                CHECK(seen == 17);
                three_groups();
            }
            CHECK(omp_get_max_threads() != 17);
        }
    }
    return 0;
}
