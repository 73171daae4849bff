/* The processor time of the program's own thread, which opens regions, holds nothing of what others did while it waited
 * in one. The thread asks by its clock, by its usage, by itself or through its handle. The guarantee holds from the
 * first time that it asks on, also in a thread that asks before its first region. Where threads that wait spin, that is
 * theirs: OMP_WAIT_POLICY is passive. [KIND] */
#define _GNU_SOURCE
#include "clocks.h"
#include "kinds.h"
#include "waits.h"
#include <pthread.h>

#define N 6
#define WORK_US 30000
#define LITTLE_MS 15 /* a time slice of a busy machine, and what waking takes */

static pthread_t first;
static double by_handle(void)
{
    clockid_t clock;
    CHECK(pthread_getcpuclockid(first, &clock) == 0);
    return ms_of(clock);
}

static void wait_while_others_work(double (*used)(void))
{
    first = pthread_self();
    double before = used();
    for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(N)
        {
            if (omp_get_thread_num())
                waits_compute_us(WORK_US);
#pragma omp barrier
            if (omp_get_thread_num() == N - 1)
                waits_compute_us(WORK_US);
        }
    }
    CHECK(used() - before < LITTLE_MS);
}

static void *in_a_thread(void *arg)
{
    (void)arg;
    wait_while_others_work(by_clock);
    return NULL;
}

static void clock_of_itself(void) { wait_while_others_work(by_clock); }
static void usage_of_itself(void) { wait_while_others_work(by_usage); }
static void clock_of_its_handle(void) { wait_while_others_work(by_handle); }
static void of_a_thread(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, in_a_thread, NULL) == 0 && pthread_join(thread, NULL) == 0);
}
static void after_regions(void)
{
#pragma omp parallel num_threads(N)
    wait_in_all_ways();
    wait_while_others_work(by_clock);
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"clock_of_itself", clock_of_itself},
                                           {"usage_of_itself", usage_of_itself},
                                           {"clock_of_its_handle", clock_of_its_handle},
                                           {"of_a_thread", of_a_thread},
                                           {"after_regions", after_regions}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
