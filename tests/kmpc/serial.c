/* kmp_set_library_serial makes teams and leagues of one for every initial thread, also where one has just had larger
 * ones, and nothing of it remains when the library is no longer serial. */
#include <pthread.h>

#include "../omp/check.h"

static pthread_barrier_t step;

static int members(int n)
{
    int size = 0;
#pragma omp parallel num_threads(n)
#pragma omp single
    size = omp_get_num_threads();
    return size;
}

static int teams(void)
{
    int size = 0;
#pragma omp teams num_teams(2)
    if (omp_get_team_num() == 0)
        size = omp_get_num_teams();
    return size;
}

static void *other(void *arg)
{
    CHECK(members(2) == 2);
    pthread_barrier_wait(&step);
    pthread_barrier_wait(&step);
    CHECK(members(2) == 1);
    omp_set_num_threads(2); /* a copy of the settings, made while the library is serial */
    CHECK(members(2) == 1);
    pthread_barrier_wait(&step);
    pthread_barrier_wait(&step);
    CHECK(members(2) == 2 && omp_get_max_threads() == 2);
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_barrier_init(&step, NULL, 2);
    CHECK(members(2) == 2 && teams() == 2);
    CHECK(pthread_create(&thread, NULL, other, NULL) == 0);
    pthread_barrier_wait(&step);
    kmp_set_library_serial();
    CHECK(members(2) == 1 && teams() == 1 && omp_get_max_threads() == 1);
    pthread_barrier_wait(&step);
    pthread_barrier_wait(&step);
    kmp_set_library_throughput();
    CHECK(members(2) == 2 && teams() == 2);
    pthread_barrier_wait(&step);
    pthread_join(thread, NULL);
    return 0;
}
