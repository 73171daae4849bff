/* Threads are bound to places, and a region's first thread goes on elsewhere, because others hold its kernel thread.
 * It has its place and its team's partition there, and afterwards the processors that it had before: the program's
 * own thread, and others, also with masks of their own. [KIND] */
#define _GNU_SOURCE
#include "away.h"
#include "kinds.h"
#include <sched.h>

#define N 4
#define ROUNDS 2
#define THREADS 3

struct root {
    cpu_set_t outside;
    int place, partition_size;
};

static void expect_mask(const cpu_set_t *mask)
{
    cpu_set_t now;
    CHECK(sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, mask));
}

static void goes_on(struct away *a)
{
    const struct root *r = a->of_body;
    CHECK(omp_get_place_num() == r->place && omp_get_partition_num_places() == r->partition_size);
}

static void look_around(struct root *r)
{
    int members = 0;
    CHECK(sched_getaffinity(0, sizeof r->outside, &r->outside) == 0);
#pragma omp parallel num_threads(N) reduction(+ : members)
    {
        members++;
        if (omp_get_thread_num() == 0) {
            r->place = omp_get_place_num();
            r->partition_size = omp_get_partition_num_places();
        }
    }
    CHECK(members == N);
}

static void *live(void *arg)
{
    struct away away;
    struct root root;
    look_around(&root); /* a runtime may bind the opener of the first region for good */
    look_around(&root);
    away_begin(&away, N, goes_on);
    away.of_body = &root;
    for (int i = 0; i < ROUNDS * AWAY_WAITS; i++) {
        away_trip(&away, (enum away_wait)(i % AWAY_WAITS), (enum away_stay)(i % AWAY_STAYS));
        expect_mask(&root.outside);
    }
    fprintf(stderr, "  %ld times elsewhere\n", away.times);
    away_end(&away);
    return arg;
}

static void *live_on_the_last(void *arg)
{
    cpu_set_t mask, one;
    int last = 0;
    CHECK(sched_getaffinity(0, sizeof mask, &mask) == 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &mask))
            last = cpu;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    return live(arg);
}

static void threads(void *(*run)(void *))
{
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread[i], NULL, run, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
}

static void the_first(void) { live(NULL); }
static void others(void) { threads(live); }
static void others_on_the_last(void) { threads(live_on_the_last); }
static void both(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, live, NULL) == 0);
    live(NULL);
    CHECK(pthread_join(thread, NULL) == 0);
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {
        {"the_first", the_first}, {"others", others}, {"others_on_the_last", others_on_the_last}, {"both", both}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
