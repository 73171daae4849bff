/* Races, one for each argument: members of an inner region; a member and its parent's task; two tasks without a
 * dependence; a lock that only one of two takes; members between barriers that a cancellation may skip. A thread
 * sanitizer must report each, on any number of virtual processors. */
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int racy;
static omp_lock_t lock;

__attribute__((noinline)) static void touch(void) { racy++; }

static void half_locked(void)
{
    if (omp_get_thread_num() == 0)
        omp_set_lock(&lock);
    touch();
    if (omp_get_thread_num() == 0)
        omp_unset_lock(&lock);
}

/* Short ones, that many times, and until both members have run one of two a few times. */
static void two_tasks(int most)
{
    for (int apart = 0, rounds = 0; apart < 5 && rounds < most; rounds++) {
        int by[2];
#pragma omp task shared(by)
        touch(), by[0] = omp_get_thread_num();
#pragma omp task shared(by)
        touch(), by[1] = omp_get_thread_num();
#pragma omp taskwait
        apart += by[0] != by[1];
    }
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "members";
    omp_init_lock(&lock);
    omp_set_max_active_levels(2);
    if (!strcmp(kind, "members")) {
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
        touch();
    } else if (!strcmp(kind, "outer")) {
#pragma omp parallel num_threads(3)
        touch();
    } else if (!strcmp(kind, "lock")) {
#pragma omp parallel num_threads(3)
        half_locked();
    } else if (!strcmp(kind, "nowait")) {
#pragma omp parallel num_threads(2)
        {
#pragma omp single nowait
            touch();
            touch();
        }
    } else if (!strcmp(kind, "tasks")) {
#pragma omp parallel num_threads(2)
#pragma omp single
        two_tasks(INT_MAX);
    } else if (!strcmp(kind, "turns")) { /* on one virtual processor the members take turns from the start */
#pragma omp parallel num_threads(2)
#pragma omp single
        two_tasks(50);
    } else if (!strcmp(
                   kind,
                   "cancellable")) { /* between two barriers of a region that may be cancelled: to ask orders nothing */
#pragma omp parallel num_threads(2)
        {
            int first = omp_get_thread_num() == 0;
#pragma omp cancel parallel if (argc > 5)
#pragma omp barrier
            if (first)
                touch();
            else
                usleep(20000); /* or the order would not be the one that could be mistaken for one */
#pragma omp cancellation point parallel
            if (!first)
                touch();
#pragma omp barrier
        }
    }
    printf("%d\n", racy);
    return 0;
}
