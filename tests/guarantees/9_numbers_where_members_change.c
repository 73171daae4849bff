/* A handler asks OpenMP which thread it is, and is told the member in whose thread-local storage it runs. So it is also
 * where kernel threads go from one member to the next: members begin and end, and wait for each other, all the time,
 * and signals to the process come every 50 us. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <signal.h>
#include <stdbool.h>
#include <sys/time.h>

#define OUTER 2
#define N 16
#define ROUNDS 40
#define PASSES 3
#define SHORT_ROUNDS 10000

/* Of the member, and of the one that has opened its region; -1: it has been none, or is in no region's body. */
static _Thread_local volatile int number = -1, of = -1;
static int level, got, wrong;

static void on_signal(int signal)
{
    (void)signal;
    int before = number;
    if (before < 0)
        return;
    bool right = omp_get_thread_num() == before;
    if (level == 2)
        right &= omp_get_level() == 2 && omp_get_num_threads() == N && omp_get_ancestor_thread_num(1) == of &&
                 omp_in_parallel();
    __atomic_add_fetch(&got, 1, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&wrong, !right, __ATOMIC_SEQ_CST);
}

static void let_signals_come(int every_us)
{
    struct itimerval timer = {{0, every_us}, {0, every_us}};
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
    CHECK(setitimer(ITIMER_PROF, &timer, NULL) == 0);
}

static void begin(int of_level)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    CHECK(sigaction(SIGPROF, &action, NULL) == 0);
    omp_set_max_active_levels(2);
    level = of_level;
    let_signals_come(50);
}

static void end(void)
{
    let_signals_come(0);
    if (wrong)
        fprintf(stderr, "wrong in %d of %d handlers\n", wrong, got);
    CHECK(!wrong);
    CHECK(got > 0);
}

static void waits_as_member(void)
{
    of = omp_get_ancestor_thread_num(1);
    number = omp_get_thread_num();
    for (int pass = 0; pass < PASSES; pass++) {
#pragma omp barrier
        waits_compute_us(20);
#pragma omp critical
        waits_compute_us(5);
    }
    if (number % 4 == 1)
        usleep(200);
    number = -1;
}

static void inner_regions(void)
{
    for (int round = 0; round < ROUNDS; round++)
#pragma omp parallel num_threads(N)
        waits_as_member();
}

static void that_wait(void)
{
    begin(2);
#pragma omp parallel num_threads(OUTER)
    inner_regions();
    end();
}

/* The same thread has the same number in all regions, and keeps it between them. */
static void of_short_regions(void)
{
    begin(1);
    for (int round = 0; round < SHORT_ROUNDS; round++)
#pragma omp parallel num_threads(N / 2)
        number = omp_get_thread_num();
    end();
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"that_wait", that_wait}, {"of_short_regions", of_short_regions}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
