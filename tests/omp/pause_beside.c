/* omp_pause_resource while another kernel thread opens regions: nothing of theirs is stopped. */
#include <pthread.h>

#include "check.h"

static int regions_run;

static void *opens_regions(void *arg)
{
    for (int i = 0; i < 800; i++) {
        int sum = 0;
#pragma omp parallel reduction(+ : sum)
        {
            sum++;
#pragma omp barrier
        }
        CHECK(sum == omp_get_max_threads());
        __atomic_fetch_add(&regions_run, 1, __ATOMIC_SEQ_CST);
    }
    return arg;
}

int main(void)
{
    pthread_t other;
    CHECK(pthread_create(&other, NULL, opens_regions, NULL) == 0);
    int pauses = 0;
    do {
        CHECK(omp_pause_resource(omp_pause_soft, omp_get_initial_device()) == 0);
        pauses++;
        int sum = 0;
#pragma omp parallel reduction(+ : sum)
        sum++;
        CHECK(sum == omp_get_max_threads());
    } while (__atomic_load_n(&regions_run, __ATOMIC_SEQ_CST) < 800);
    CHECK(pthread_join(other, NULL) == 0 && pauses > 0);
    return 0;
}
