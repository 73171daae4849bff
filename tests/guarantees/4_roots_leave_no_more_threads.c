/* RLIMIT_NPROC is reached, and a region's first thread has to go on while others hold its kernel thread and all
 * others: it goes on. Regions as large as those that come later have run before, with others that stay for a while.
 * There is one thread more than there are virtual processors, or as many such teams as there are threads that open
 * regions. The limit does not hold for root, so the program gives up being root. [KIND] */
#define _GNU_SOURCE
#include "away.h"
#include "kinds.h"
#include <grp.h>
#include <sys/resource.h>

#define MOST 3
#define ROUNDS 3

static pthread_barrier_t ready, go;

static void nothing(struct away *a) { (void)a; }

static int virtual_processors(void)
{
    const char *text = getenv("PSTHREADS_NUM_VPS");
    return text ? atoi(text) : 2;
}

static void limit(void)
{
    const struct rlimit none = {1, 1};
    if (geteuid() == 0)
        CHECK(setgroups(0, NULL) == 0 && setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
    CHECK(setrlimit(RLIMIT_NPROC, &none) == 0);
}

static void *never(void *arg) { return arg; }
static void expect_limit(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, never, NULL) == EAGAIN);
}

/* Long enough for a runtime to see that others wait. */
static void regions(int members)
{
    for (int i = 0; i < 20; i++) {
#pragma omp parallel num_threads(members)
        usleep(5000);
    }
}

/* In none of them the first thread holds its kernel thread itself while it waits. */
static void all_trips(struct away *a)
{
    static const enum away_wait waits[] = {AWAY_BARRIER, AWAY_LOCK, AWAY_TASKWAIT};
    for (int i = 0; i < ROUNDS * AWAY_STAYS; i++)
        for (int k = 0; k < 3; k++)
            away_trip(a, waits[k], (enum away_stay)(i % AWAY_STAYS));
}

static void one(int warm_trips)
{
    struct away away;
    int members = virtual_processors() + 1;
    away_begin(&away, members, nothing);
    regions(members);
    for (int i = 0; i < warm_trips; i++)
        away_trip(&away, AWAY_BARRIER, AWAY_SPINNING);
    limit();
    expect_limit();
    all_trips(&away);
    fprintf(stderr, "  %ld times elsewhere\n", away.times);
    away_end(&away);
}

static void after_regions(void) { one(0); }
static void after_trips(void) { one(3); }

static void *live(void *arg)
{
    struct away away;
    away_begin(&away, 2, nothing);
    regions(2);
    pthread_barrier_wait(&ready);
    pthread_barrier_wait(&go);
    all_trips(&away);
    fprintf(stderr, "  %ld times elsewhere\n", away.times);
    away_end(&away);
    return arg;
}

/* Each has a team of two. */
static void several(void)
{
    pthread_t thread[MOST];
    CHECK(pthread_barrier_init(&ready, NULL, MOST + 1) == 0 && pthread_barrier_init(&go, NULL, MOST + 1) == 0);
    for (int i = 0; i < MOST; i++)
        CHECK(pthread_create(&thread[i], NULL, live, NULL) == 0);
    pthread_barrier_wait(&ready);
    limit();
    expect_limit();
    pthread_barrier_wait(&go);
    for (int i = 0; i < MOST; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {
        {"after_regions", after_regions}, {"after_trips", after_trips}, {"several", several}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
