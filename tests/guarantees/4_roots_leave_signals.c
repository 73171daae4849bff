/* A region's first thread is sent signals by pthread_kill, by members and by another thread, hundreds of times: while
 * it waits in the runtime, and while it is elsewhere because others hold its kernel thread. Each handler runs as that
 * thread: storage, handle, place on the stack. The regions and the thread go on. Then regions do nothing, many times,
 * and signals still come. The program's own thread, and another one. [KIND] */
#define _GNU_SOURCE
#include "away.h"
#include "kinds.h"
#include "waits.h"
#include <sched.h>
#include <signal.h>
#include <stdbool.h>

#define N 4
#define SIGNALS 200
#define EMPTY_REGIONS 1000

static __thread int own;
static const int *where_own;
static pthread_t self;
static char *stack; /* a place in it, above all that the thread does in regions */
static _Atomic int handled, as_another, off_stack;
static _Atomic bool over;

static void on_signal(int number)
{
    char here;
    int before = errno;
    (void)number;
    if (!pthread_equal(pthread_self(), self) || &own != where_own || own != 3)
        as_another++;
    else if (&here > stack || stack - &here > 8 << 20)
        off_stack++;
    handled++;
    errno = before;
}

static void right(void)
{
    CHECK(as_another == 0);
    CHECK(off_stack == 0);
}

/* Waits until it has come; hangs where it does not. */
static void send_one(void)
{
    int before = handled;
    CHECK(pthread_kill(self, SIGUSR1) == 0);
    while (handled == before)
        sched_yield();
    right();
}

static void *send_all(void *arg)
{
    for (int i = 0; i < SIGNALS; i++)
        send_one();
    over = true;
    return arg;
}

/* --- while it waits: one member sends --- */

static void by_members(void)
{
    omp_lock_t lock;
    long home = carrier_id();
    omp_init_lock(&lock);
    for (int i = 0; i < SIGNALS; i += 4) {
#pragma omp parallel num_threads(N)
        {
            int id = omp_get_thread_num();
            bool sends = id == 1 + i / 4 % (N - 1);
            if (sends)
                omp_set_lock(&lock);
#pragma omp barrier
            if (sends)
                send_one();
#pragma omp barrier
            if (sends) {
                send_one();
                omp_unset_lock(&lock);
            } else {
                omp_set_lock(&lock);
                omp_unset_lock(&lock);
            }
#pragma omp barrier
            if (id == 0) {
#pragma omp parallel num_threads(2)
                if (omp_get_thread_num() == omp_get_num_threads() - 1)
                    send_one();
            }
#pragma omp barrier
            if (sends) /* while it waits for the region's end */
                send_one();
        }
        CHECK(carrier_id() == home);
    }
    omp_destroy_lock(&lock);
}

/* --- while regions of all kinds go on: another thread sends --- */

static void by_a_thread(void)
{
    pthread_t sender;
    long home = carrier_id();
    CHECK(pthread_create(&sender, NULL, send_all, NULL) == 0);
    while (!over) {
#pragma omp parallel num_threads(N)
        {
            CHECK(omp_get_num_threads() == N);
            wait_in_all_ways();
            wait_for_tasks();
        }
        CHECK(own == 3 && carrier_id() == home);
    }
    CHECK(pthread_join(sender, NULL) == 0);
}

/* --- while it is elsewhere: it computes there, or waits by hand --- */

static int wanted;
static void gets_some(struct away *a)
{
    (void)a;
    CHECK(own == 3 && pthread_equal(pthread_self(), self));
    for (int until = handled + wanted; handled < until;)
        if (wanted % 2)
            sched_yield();
}
static void sends_to_itself(struct away *a)
{
    for (int i = 0; i < wanted; i++) {
        int before = handled;
        CHECK((i % 2 ? raise(SIGUSR1) : pthread_kill(pthread_self(), SIGUSR1)) == 0);
        CHECK(handled == before + 1);
    }
    CHECK(own == 3);
    (void)a;
}

static void *send_until_over(void *arg)
{
    while (!over) {
        int before = handled;
        CHECK(pthread_kill(self, SIGUSR1) == 0);
        while (handled == before && !over)
            usleep(50);
    }
    return arg;
}

static void elsewhere(void)
{
    struct away away;
    pthread_t sender;
    away_begin(&away, N, gets_some);
    CHECK(pthread_create(&sender, NULL, send_until_over, NULL) == 0);
    for (wanted = 1; wanted < 5; wanted++)
        away_trips(&away, 1);
    over = true;
    CHECK(pthread_join(sender, NULL) == 0);
    fprintf(stderr, "  %ld times elsewhere\n", away.times);
    away_end(&away);
}

static void to_itself_elsewhere(void)
{
    struct away away;
    away_begin(&away, N, sends_to_itself);
    wanted = SIGNALS / (2 * AWAY_WAITS * AWAY_STAYS);
    away_trips(&away, 2);
    CHECK(handled == SIGNALS);
    fprintf(stderr, "  %ld times elsewhere\n", away.times);
    away_end(&away);
}

/* --- all of it --- */

static const struct kind_of ways[] = {{"by_members", by_members},
                                      {"by_a_thread", by_a_thread},
                                      {"elsewhere", elsewhere},
                                      {"to_itself_elsewhere", to_itself_elsewhere}};
#define WAYS (int)(sizeof ways / sizeof *ways)
static int way;

static void *live(void *arg)
{
    char here;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    own = 3;
    where_own = &own;
    self = pthread_self();
    stack = &here;
    omp_set_max_active_levels(2);
    ways[way].run();
    right();
    CHECK(handled >= 20);
    for (int i = 0; i < EMPTY_REGIONS; i++) {
        int n = 0;
#pragma omp parallel num_threads(N) reduction(+ : n)
        n++;
        CHECK(n == N);
    }
    for (int i = 0; i < 10; i++) {
#pragma omp parallel num_threads(N)
        if (omp_get_thread_num() == N - 1)
            send_one();
    }
    right();
    return arg;
}

static const char *name_of(int i) { return kind_name_in(i >= WAYS, ways[i % WAYS].name); }
static void run(int i)
{
    way = i % WAYS;
    kind_run_in(i >= WAYS, live);
}

int main(int argc, char **argv)
{
    in_a_process_each(2 * WAYS, name_of, run, argc > 1 ? argv[1] : NULL);
    return 0;
}
