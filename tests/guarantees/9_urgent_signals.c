/* SIGURG is the program's, as Go's runtime uses it: it interrupts by it, many times a second, threads that run. Its
 * handler gets those signals that the program has sent, each once, and no others, while members hold the kernel
 * threads that others want. So it is where all threads block the signal and one waits for it, and where it has no
 * handler. The program is told of the action that it has set. [KIND] */
#define _GNU_SOURCE
#include "away.h"
#include "kinds.h"
#include "waits.h"
#include <sched.h>
#include <signal.h>
#include <stdbool.h>

#define N 4
#define SIGNALS 200
#define STACK_BYTES (64 * 1024)

static __thread volatile int known; /* 1 + the thread's number */
static pthread_t self[N];
static _Atomic int sent, handled, astray, foreign, of_member[N];
static _Atomic bool over;

static void on_urgent(int number, siginfo_t *info, void *context)
{
    int before = errno, me = known;
    (void)context;
    if (number != SIGURG || info->si_pid != getpid() || (info->si_code != SI_TKILL && info->si_code != SI_USER))
        foreign++;
    if (me > 0 && !pthread_equal(pthread_self(), self[me - 1]))
        astray++;
    if (me > 0)
        of_member[me - 1]++;
    handled++;
    errno = before;
}

/* As Go's runtime sets it. */
static void handle(void)
{
    struct sigaction action = {.sa_sigaction = on_urgent, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    sigfillset(&action.sa_mask);
    CHECK(sigaction(SIGURG, &action, NULL) == 0);
}

static void expect_own_action(void)
{
    struct sigaction now;
    CHECK(sigaction(SIGURG, NULL, &now) == 0 && now.sa_sigaction == on_urgent);
    CHECK((now.sa_flags & (SA_SIGINFO | SA_ONSTACK | SA_RESTART)) == (SA_SIGINFO | SA_ONSTACK | SA_RESTART));
}

static void right(void)
{
    CHECK(foreign == 0);
    CHECK(astray == 0);
    CHECK(handled <= sent);
}

static void nothing(struct away *a) { (void)a; }
static void make_trips(int rounds)
{
    struct away away;
    away_begin(&away, N, nothing);
    away_trips(&away, rounds);
    away_end(&away);
}

/* Members hold kernel threads, and first threads go on elsewhere: no thread sends anything. */
static void none_is_sent(void)
{
    handle();
    make_trips(2);
    expect_own_action();
    CHECK(handled == 0);
}

/* Each has an alternate stack of its own, as Go's threads have. */
static void *take_stack(void)
{
    void *place = malloc(STACK_BYTES);
    CHECK(place && sigaltstack(&(stack_t){.ss_sp = place, .ss_size = STACK_BYTES}, NULL) == 0);
    return place;
}
static void give_stack(void *place)
{
    CHECK(sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL) == 0);
    free(place);
}

static void compute(void)
{
    while (!over)
        ;
}
static void wait_for_one_another(void)
{
    static bool last;
    for (bool ends = false; !ends;) {
        wait_in_a_critical();
#pragma omp single
        last = over; /* one of them looks, so that all leave in the same round */
        ends = last;
#pragma omp barrier
    }
}

/* One after the other, as soon as the last one has been handled. */
static void *interrupt_each(void *arg)
{
    for (int i = 0; i < SIGNALS; i++) {
        int to = i % N, before = of_member[to];
        sent++;
        CHECK(pthread_kill(self[to], SIGURG) == 0);
        while (of_member[to] == before) /* hangs where it does not come to that thread */
            usleep(20);
    }
    over = true;
    return arg;
}

static void interrupted(void (*live)(void), bool with_stacks)
{
    pthread_t sender;
    handle();
#pragma omp parallel num_threads(N)
    {
        int me = omp_get_thread_num();
        void *place = with_stacks ? take_stack() : NULL;
        known = 1 + me;
        self[me] = pthread_self();
#pragma omp barrier
        if (me == 0)
            CHECK(pthread_create(&sender, NULL, interrupt_each, NULL) == 0);
        live();
#pragma omp barrier
        known = 0;
        if (with_stacks)
            give_stack(place);
    }
    CHECK(pthread_join(sender, NULL) == 0);
    right();
    CHECK(handled == SIGNALS);
    expect_own_action();
}

static void to_computing_members(void) { interrupted(compute, false); }
static void to_waiting_members(void) { interrupted(wait_for_one_another, false); }
static void with_alternate_stacks(void) { interrupted(compute, true); }

/* The first thread is elsewhere, and interrupts itself there. */
static void interrupts_itself(struct away *a)
{
    int before = handled;
    (void)a;
    sent++;
    CHECK(pthread_kill(pthread_self(), SIGURG) == 0 && handled == before + 1);
}
static void while_elsewhere(void)
{
    struct away away;
    handle();
    known = 1;
    self[0] = pthread_self();
    away_begin(&away, N, interrupts_itself);
    away_trips(&away, 2);
    CHECK(handled == 2 * AWAY_WAITS * AWAY_STAYS);
    away_end(&away);
    right();
}

/* To the process: any thread may handle it. */
static void to_the_process(void)
{
    handle();
    while (sent < SIGNALS) {
#pragma omp parallel num_threads(N)
        {
            if (omp_get_thread_num() == 1) {
                int before = handled;
                sent++;
                CHECK(kill(getpid(), SIGURG) == 0);
                while (handled == before) /* it may be this one */
                    sched_yield();
            }
            wait_in_all_ways();
        }
    }
    right();
    CHECK(handled == SIGNALS);
}

static void *take_all(void *arg)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGURG);
    for (int i = 1; i <= SIGNALS; i++) {
        siginfo_t info;
        CHECK(sigwaitinfo(&set, &info) == SIGURG && info.si_pid == getpid() && info.si_code == SI_USER && sent == i);
        handled++;
    }
    return arg;
}
static void waited_for(void)
{
    pthread_t taker;
    sigset_t set;
    handle();
    sigemptyset(&set);
    sigaddset(&set, SIGURG);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0 && pthread_create(&taker, NULL, take_all, NULL) == 0);
    make_trips(1);
    CHECK(handled == 0);
    while (sent < SIGNALS) {
        sent++;
        CHECK(kill(getpid(), SIGURG) == 0);
#pragma omp parallel num_threads(N)
        wait_in_a_barrier();
        while (handled < sent)
            sched_yield();
    }
    CHECK(pthread_join(taker, NULL) == 0 && foreign == 0);
    CHECK(sigpending(&set) == 0 && !sigismember(&set, SIGURG));
}

/* Without a handler it does nothing. */
static void without_a_handler(void)
{
    struct sigaction now;
    for (int ignored = 0; ignored < 2; ignored++) {
        void (*action)(int) = ignored ? SIG_IGN : SIG_DFL;
        CHECK(signal(SIGURG, action) != SIG_ERR);
        make_trips(1);
        CHECK(kill(getpid(), SIGURG) == 0 && raise(SIGURG) == 0);
        CHECK(sigaction(SIGURG, NULL, &now) == 0 && now.sa_handler == action && !(now.sa_flags & SA_SIGINFO));
    }
    handle();
    make_trips(1);
    CHECK(handled == 0);
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"none_is_sent", none_is_sent},
                                           {"to_computing_members", to_computing_members},
                                           {"to_waiting_members", to_waiting_members},
                                           {"with_alternate_stacks", with_alternate_stacks},
                                           {"while_elsewhere", while_elsewhere},
                                           {"to_the_process", to_the_process},
                                           {"waited_for", waited_for},
                                           {"without_a_handler", without_a_handler}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
