/* A member's processor time is its own: it never runs backwards, and holds what the member computed and nothing of what
 * others did while it was blocked. Others may ask for it, and for the member's stack, also while the member waits.
 * Timers on it count the same. [KIND] */
#define _GNU_SOURCE
#include "clocks.h"
#include "kinds.h"
#include "waits.h"
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#define N 6

/* Until the thread's own clock has moved by ms. */
static void work(double ms, double (*used)(void))
{
    for (double end = used() + ms; used() < end;)
        for (volatile int i = 0; i < 10000; i++)
            continue;
}

/* Some compute 20 ms each by their own clocks, the others are blocked meanwhile until all that is done, and have
 * used next to nothing. */
static int channel[2];
static void own_time(double (*used)(void))
{
    CHECK(pipe(channel) == 0);
    for (int round = 0; round < 2; round++) {
#pragma omp parallel num_threads(N)
        {
            int id = omp_get_thread_num();
            wait_in_all_ways();
            double before = used();
            char c = 0;
            if (id % 2 == round) {
                work(20, used);
                CHECK(write(channel[1], &c, 1) == 1);
            } else {
                CHECK(read(channel[0], &c, 1) == 1);
                CHECK(used() - before < 15);
            }
            wait_in_all_ways();
            CHECK(used() >= before);
        }
    }
}
static void own_clock(void) { own_time(by_clock); }
static void own_usage(void) { own_time(by_usage); }

static void never_backwards(void)
{
#pragma omp parallel num_threads(N)
    {
        double last = by_clock(), last_usage = by_usage();
        for (int i = 0; i < 100; i++) {
            if (i % 10)
                wait_in_a_barrier();
            else
                wait_in_all_ways();
            double now = by_clock(), now_usage = by_usage();
            CHECK(now >= last && now_usage >= last_usage);
            last = now;
            last_usage = now_usage;
        }
    }
}

/* Member 0 looks at the others' clocks and stacks: they compute, wait in the barrier, or are blocked. */
static void of_others(void)
{
    static pthread_t self[N];
    static char *local[N];
    static volatile double own[N];
    volatile int go = 0;
#pragma omp parallel num_threads(N)
    {
        int id = omp_get_thread_num();
        char here;
        self[id] = pthread_self();
        local[id] = &here;
        wait_in_all_ways();
        work(2.0 * id, by_clock);
        own[id] = by_clock();
#pragma omp barrier
        if (id == 0) {
            usleep(2000);
            for (int other = 1; other < N; other++) { /* the first one may be away, on a busy machine above all */
                clockid_t clock;
                pthread_attr_t attr;
                void *low;
                size_t bytes;
                CHECK(pthread_getcpuclockid(self[other], &clock) == 0);
                double first = ms_of(clock), second = ms_of(clock);
                CHECK(first >= own[other] && second >= first && first >= 2.0 * other);
                CHECK(pthread_getattr_np(self[other], &attr) == 0 && pthread_attr_getstack(&attr, &low, &bytes) == 0);
                CHECK(local[other] >= (char *)low && local[other] < (char *)low + bytes);
                pthread_attr_destroy(&attr);
            }
            go = 1;
        } else if (id % 3 == 0)
            while (!go)
                waits_compute_us(50);
        else if (id % 3 == 1)
            while (!go)
                usleep(100);
#pragma omp barrier
        CHECK(by_clock() >= own[id]);
    }
}

static volatile sig_atomic_t rung[N];
static void on_ring(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    rung[info->si_value.sival_int]++;
}

/* A timer on the member's own processor time rings for a member that computes, not for one that is blocked while others
 * compute. */
static void timers(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_ring;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    CHECK(sigaction(SIGRTMIN + 6, &action, NULL) == 0 && pipe(channel) == 0);
#pragma omp parallel num_threads(N)
    {
        int id = omp_get_thread_num();
        struct sigevent event;
        struct itimerspec once = {{0, 0}, {0, 15000000}};
        timer_t timer;
        memset(&event, 0, sizeof event);
        event.sigev_notify = SIGEV_SIGNAL;
        event.sigev_signo = SIGRTMIN + 6;
        event.sigev_value.sival_int = id;
        CHECK(timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0);
        wait_in_all_ways();
        CHECK(timer_settime(timer, 0, &once, NULL) == 0);
        char c = 0;
        if (id % 2) {
            work(40, by_clock); /* the system looks at such timers at its ticks */
            CHECK(write(channel[1], &c, 1) == 1);
            while (!rung[id]) /* hangs where it rings for no thread */
                work(1, by_clock);
        } else
            while (read(channel[0], &c, 1) != 1)
                continue;
        CHECK(rung[id] == id % 2);
        wait_in_a_barrier();
        CHECK(timer_delete(timer) == 0);
    }
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"own_clock", own_clock},
                                           {"own_usage", own_usage},
                                           {"never_backwards", never_backwards},
                                           {"of_others", of_others},
                                           {"timers", timers}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
