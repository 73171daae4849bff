/* A thread makes tasks with dependences and holds a lock that they take: none of them may run in its place before it
 * has made them all. */
#include "check.h"

#define TASKS 400
#define CHAINS 4

int main(void)
{
    omp_lock_t lock;
    char link[CHAINS] = {0};
    int done = 0;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        omp_set_lock(&lock);
        for (int i = 0; i < TASKS; i++) {
#pragma omp task depend(inout : link[i % CHAINS]) shared(done)
            {
                omp_set_lock(&lock);
                done++;
                omp_unset_lock(&lock);
            }
        }
        omp_unset_lock(&lock);
    }
    CHECK(done == TASKS);
    omp_destroy_lock(&lock);
    return 0;
}
