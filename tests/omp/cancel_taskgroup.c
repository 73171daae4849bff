/* cancel taskgroup: tasks not begun are dropped, begun ones see it, the group still ends; a storm of it in all
 * members. */
#include "check.h"
#include "need_env.h"

static int search(int wanted)
{
    int found = -1, begun = 0;
#pragma omp taskgroup
    {
        for (int i = 0; i < 300; i++) {
#pragma omp task shared(found, begun) firstprivate(i)
            {
#pragma omp cancellation point taskgroup
#pragma omp atomic
                begun++;
                if (i == wanted) {
#pragma omp atomic write
                    found = i;
#pragma omp cancel taskgroup
                    CHECK(0);
                }
            }
        }
    }
    CHECK(begun <= 300);
    return found;
}

int main(int argc, char **argv)
{
    (void)argc;
    need_env(argv, "OMP_CANCELLATION", "true");
    CHECK(omp_get_cancellation());
    for (int round = 0; round < 6; round++) {
#pragma omp parallel num_threads(4)
        {
            for (int i = 0; i < 5; i++) {
                int wanted = (omp_get_thread_num() * 31 + i * 7) % 300, f = search(wanted);
                CHECK(f == wanted);
            }
#pragma omp single
            {
                int outer = 0;
#pragma omp taskgroup
                {
#pragma omp task shared(outer)
                    {
                        CHECK(search(3) == 3);
                        outer = 1;
                    }
                }
                CHECK(outer == 1); /* cancelling the inner group leaves the outer one alone */
            }
        }
    }
    return 0;
}
