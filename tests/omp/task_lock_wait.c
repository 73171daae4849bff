/* A task becomes ready while its waiter sleeps and the member that made it ready blocks on a lock the waiter holds:
 * another member must run it. */
#include "check.h"
#include "work.h"

int main(void)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
    for (int round = 0; round < 200; round++) {
        int x = 0, second = 0, held = 0, passed = 0;
#pragma omp parallel num_threads(2) shared(x, second, held, passed, lock)
        if (omp_get_num_threads() == 2) {
            if (omp_get_thread_num() == 0) {
                omp_set_lock(&lock);
#pragma omp atomic write seq_cst
                held = 1;
#pragma omp task depend(out : x) shared(x)
                {
                    work(300);
                    x = 1;
                }
#pragma omp task depend(in : x) shared(x, second)
                second = x;
#pragma omp taskwait
                CHECK(second == 1);
                omp_unset_lock(&lock);
            } else {
                int h = 0;
                while (!h)
#pragma omp atomic read seq_cst
                    h = held;
#pragma omp taskyield
                omp_set_lock(&lock);
                passed = second;
                omp_unset_lock(&lock);
                CHECK(passed == 1);
            }
        }
    }
    omp_destroy_lock(&lock);
    return 0;
}
