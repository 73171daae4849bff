/* A member's signal mask is its own: it stays over every wait, no other thread gets it, and after the region the
 * program's thread has its own. What is pending for a thread stays that thread's; sigwait, sigsuspend and timers find
 * the thread that they were meant for. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>

#define N 6
#define SIGNAL(id) (SIGRTMIN + 4 + (id))

static volatile sig_atomic_t handled, elsewhere;
static void on_signal(int number)
{
    (void)number;
    handled++;
    if (syscall(SYS_gettid) != getpid())
        elsewhere++;
}

static void set_mask(int how, int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    CHECK(pthread_sigmask(how, &set, NULL) == 0);
}

static bool is_blocked(int number)
{
    sigset_t set;
    CHECK(pthread_sigmask(SIG_SETMASK, NULL, &set) == 0);
    return sigismember(&set, number) == 1;
}

/* Each blocks another signal. */
static void own_masks(void)
{
    for (int round = 0; round < 5; round++) {
#pragma omp parallel num_threads(N)
        {
            int id = omp_get_thread_num();
            sigset_t before;
            CHECK(pthread_sigmask(SIG_SETMASK, NULL, &before) == 0);
            set_mask(SIG_BLOCK, SIGNAL(id));
            for (int i = 0; i < 3; i++) {
                wait_in_all_ways();
                for (int other = 0; other < N; other++)
                    CHECK(is_blocked(SIGNAL(other)) == (other == id));
            }
            CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
            wait_in_all_ways();
            CHECK(!is_blocked(SIGNAL(id)));
        }
    }
}

/* The others' masks are not the program's afterwards: an interrupt from the keyboard still comes. */
static void interrupts_come(void)
{
    signal(SIGINT, on_signal);
#pragma omp parallel num_threads(N)
    {
        if (omp_get_thread_num())
            set_mask(SIG_BLOCK, SIGINT);
        wait_in_a_critical();
    }
    CHECK(!is_blocked(SIGINT));
    CHECK(kill(getpid(), SIGINT) == 0);
    for (int i = 0; i < 10000 && !handled; i++) /* whichever kernel thread has it: soon */
        usleep(1000);
    CHECK(handled == 1);
}

/* Member 0 is the program's thread: what it sets stays. */
static void first_member_keeps(void)
{
#pragma omp parallel num_threads(N)
    {
        wait_in_all_ways();
        if (omp_get_thread_num() == 0)
            set_mask(SIG_BLOCK, SIGUSR2);
        wait_in_all_ways();
        CHECK(is_blocked(SIGUSR2) == (omp_get_thread_num() == 0));
    }
    CHECK(is_blocked(SIGUSR2));
}

/* All others block the alarm: it is the first thread's, as programs rely on. */
static void alarms_of_the_first(void)
{
    struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
    signal(SIGALRM, on_signal);
#pragma omp parallel num_threads(N)
    {
        if (omp_get_thread_num())
            set_mask(SIG_BLOCK, SIGALRM);
#pragma omp barrier
#pragma omp master
        CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
        for (int i = 0; i < 10; i++)
            wait_in_all_ways();
        if (omp_get_thread_num() == 0) /* waits by hand: only its own thread can take it */
            for (int seen = handled; handled < seen + 3;)
                waits_compute_us(100);
#pragma omp barrier
        CHECK(is_blocked(SIGALRM) == (omp_get_thread_num() != 0));
    }
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
    CHECK(handled >= 3 && !elsewhere && !is_blocked(SIGALRM));
}

/* A member takes the process's signals by sigwait, since everybody blocks them. */
static void sigwait_in_a_member(void)
{
    signal(SIGUSR1, on_signal);
    set_mask(SIG_BLOCK, SIGUSR1);
#pragma omp parallel num_threads(N)
    for (int i = 0; i < 5; i++) {
        wait_in_all_ways();
        if (omp_get_thread_num() == 2) {
            sigset_t set;
            int got = 0;
            sigemptyset(&set);
            sigaddset(&set, SIGUSR1);
            CHECK(sigwait(&set, &got) == 0 && got == SIGUSR1);
        } else if (omp_get_thread_num() == 4) {
            usleep(1000);
            CHECK(kill(getpid(), SIGUSR1) == 0);
        }
        CHECK(is_blocked(SIGUSR1));
    }
    CHECK(handled == 0 && is_blocked(SIGUSR1));
}

/* What was sent to a thread that blocks it is pending there, and nowhere else, until that thread takes it. */
static void pending_signals(void)
{
    signal(SIGUSR1, on_signal);
#pragma omp parallel num_threads(N)
    {
        sigset_t set;
        int id = omp_get_thread_num();
        set_mask(SIG_BLOCK, SIGUSR1);
        wait_in_all_ways();
        if (id % 2)
            raise(SIGUSR1);
        for (int i = 0; i < 3; i++) {
            wait_in_all_ways();
            CHECK(sigpending(&set) == 0 && sigismember(&set, SIGUSR1) == id % 2);
        }
        CHECK(handled == 0);
#pragma omp barrier
#pragma omp critical
        {
            int before = handled;
            set_mask(SIG_UNBLOCK, SIGUSR1);
            CHECK(handled == before + id % 2);
        }
    }
    CHECK(handled == N / 2);
}

/* sigsuspend and sigtimedwait, woken by another member. */
static void suspended_members(void)
{
    pthread_t self[N];
    int ready = 0;
    signal(SIGUSR2, on_signal);
#pragma omp parallel num_threads(N)
    {
        int id = omp_get_thread_num();
        sigset_t none, two;
        self[id] = pthread_self();
        set_mask(SIG_BLOCK, SIGUSR2);
        CHECK(pthread_sigmask(SIG_SETMASK, NULL, &none) == 0);
        sigdelset(&none, SIGUSR2);
        sigemptyset(&two);
        sigaddset(&two, SIGUSR2);
        wait_in_all_ways();
        if (id == 1) {
            __atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
            CHECK(sigsuspend(&none) == -1 && errno == EINTR);
        } else if (id == 2) {
            struct timespec limit = {30, 0};
            __atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
            CHECK(sigtimedwait(&two, NULL, &limit) == SIGUSR2);
        } else if (id == 3) {
            while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < 2)
                usleep(100);
            CHECK(pthread_kill(self[1], SIGUSR2) == 0 && pthread_kill(self[2], SIGUSR2) == 0);
        }
        wait_in_all_ways();
        CHECK(is_blocked(SIGUSR2));
    }
    CHECK(handled == 1 && is_blocked(SIGUSR2)); /* the first member blocked it, too */
}

/* Members begin with their opener's mask, whatever signals come meanwhile. */
static volatile int is_over, unlike_opener;

static void on_any_thread(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    if (sigismember(&((ucontext_t *)context)->uc_sigmask, SIGUSR2))
        __atomic_add_fetch(&unlike_opener, 1, __ATOMIC_SEQ_CST);
}

static void *send_to_process(void *unused)
{
    sigset_t all;
    sigfillset(&all);
    CHECK(pthread_sigmask(SIG_BLOCK, &all, NULL) == 0);
    while (!is_over)
        CHECK(kill(getpid(), SIGUSR1) == 0);
    return unused;
}

static void *open_region(void *unused)
{
    set_mask(SIG_UNBLOCK, SIGUSR1);
#pragma omp parallel num_threads(8 * N)
    for (int i = 0; i < 3; i++)
        wait_in_a_barrier();
    return unused;
}

static void begun_among_signals(void)
{
    struct sigaction action = {.sa_sigaction = on_any_thread, .sa_flags = SA_SIGINFO | SA_RESTART};
    pthread_t sender, opener;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    set_mask(SIG_BLOCK, SIGUSR1); /* this thread would have most of them */
    CHECK(pthread_create(&sender, NULL, send_to_process, NULL) == 0);
    for (int i = 0; i < 100; i++) {
        CHECK(pthread_create(&opener, NULL, open_region, NULL) == 0);
        CHECK(pthread_join(opener, NULL) == 0);
    }
    is_over = 1;
    CHECK(pthread_join(sender, NULL) == 0);
    CHECK(!unlike_opener);
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"own_masks", own_masks},
                                           {"interrupts_come", interrupts_come},
                                           {"first_member_keeps", first_member_keeps},
                                           {"alarms_of_the_first", alarms_of_the_first},
                                           {"sigwait_in_a_member", sigwait_in_a_member},
                                           {"pending_signals", pending_signals},
                                           {"suspended_members", suspended_members},
                                           {"begun_among_signals", begun_among_signals}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
