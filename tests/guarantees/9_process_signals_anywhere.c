/* Signals for the process, by timers, children, a terminal and others, wherever the first thread is: in a handler,
 * outside of regions, or with the signal blocked. They are handled by threads that the program knows and that do not
 * block them, with what they bring, and wait where all threads block them. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <errno.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <time.h>

#define N 4
#define QUEUED 40
#define TIMES 20
#define RESTORER 0x04000000 /* the C library's own flag */

static _Thread_local volatile int known; /* 1 + the thread's number in regions */
static _Thread_local volatile int blocks, inside;
static _Atomic long handled, strangers, blocked_ones, of_thread[N], sum;
static _Atomic bool stays;

static void note(void)
{
    if (!known)
        strangers++;
    else if (known <= N)
        of_thread[known - 1]++;
    if (blocks)
        blocked_ones++;
}

static void on_signal(int number)
{
    (void)number;
    note();
    handled++;
}

static void on_value(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    note();
    sum += info->si_value.sival_int;
    handled++;
}

/* The first one stays until others have come. */
static void on_first(int number)
{
    (void)number;
    note();
    if (handled++ == 0) {
        stays = true;
        while (handled < 3)
            sched_yield();
        stays = false;
    }
}

static void handle(int number, void (*handler)(int), void (*informed)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    if (informed)
        action.sa_sigaction = informed;
    else
        action.sa_handler = handler;
    action.sa_flags = flags | (informed ? SA_SIGINFO : 0);
    CHECK(sigaction(number, &action, NULL) == 0);
}

static void block(int how, int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    if (how == SIG_UNBLOCK)
        blocks = 0;
    CHECK(pthread_sigmask(how, &set, NULL) == 0);
    if (how == SIG_BLOCK)
        blocks = 1;
}

static void region_of(int n, int us)
{
#pragma omp parallel num_threads(n)
    {
        known = 1 + omp_get_thread_num();
        waits_compute_us(us);
    }
}
static void region(int us) { region_of(N, us); }

static void right(void)
{
    CHECK(strangers == 0);
    CHECK(blocked_ones == 0);
}

static void await(long most)
{
    while (handled < most)
        sched_yield();
}

/* --- kinds --- */

static void blocked_outside(void)
{
    handle(SIGUSR1, on_signal, NULL, SA_RESTART);
    region(300);
    block(SIG_BLOCK, SIGUSR1);
    for (long i = 1; i <= TIMES; i++) {
        CHECK(kill(getpid(), SIGUSR1) == 0);
        await(i);
        waits_compute_us((int)(i % 4) * 3000);
        if (i % 5 == 0)
            region(10);
    }
    right();
}

/* Members that handle faults, with all signals blocked, do not delay what another one can take. */
#define IN_FAULT 6
static char *page;
static _Atomic int in_fault;

static void on_fault(int number)
{
    (void)number;
    in_fault++;
    while (handled < 1)
        continue;
    CHECK(mprotect(page, 1, PROT_READ) == 0);
}

static void out_of_reach(void)
{
    struct sigaction action = {.sa_handler = on_fault};
    page = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(page != MAP_FAILED);
    sigfillset(&action.sa_mask);
    CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
    handle(SIGUSR1, on_signal, NULL, SA_RESTART);
    region_of(IN_FAULT + 2, 300);
    block(SIG_BLOCK, SIGUSR1);
    omp_lock_t lock;
    omp_init_lock(&lock);
    omp_set_lock(&lock);
#pragma omp parallel num_threads(IN_FAULT + 2)
    {
        int id = omp_get_thread_num();
        known = 1 + id;
        if (id >= 2)
            (void)*(volatile char *)page;
        if (id == 1) /* waits */
            omp_set_lock(&lock);
        if (id == 0) {
            while (in_fault < IN_FAULT) /* it does not give its kernel thread to one of these */
                continue;
            double begun = omp_get_wtime();
            CHECK(kill(getpid(), SIGUSR1) == 0);
            while (handled < 1)
                continue;
            CHECK(omp_get_wtime() - begun < 6);
            omp_unset_lock(&lock);
        }
    }
    CHECK(strangers == 0);
}

static void by_child(void)
{
    handle(SIGUSR1, on_signal, NULL, SA_RESTART);
    region(300);
    block(SIG_BLOCK, SIGUSR1);
    pid_t parent = getpid(), child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        for (int i = 0; i < 2000; i++)
            kill(parent, SIGUSR1);
        _exit(0);
    }
    int status;
    for (int i = 0; waitpid(child, &status, WNOHANG) == 0; i++)
        region(i % 30);
    await(1);
    right();
}

static void in_handler(void)
{
    handle(SIGUSR1, on_first, NULL, SA_RESTART);
    region(300);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        for (;; usleep(3000))
            if (kill(parent, SIGUSR1) != 0 || getppid() != parent)
                _exit(0);
    }
    await(3);
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    while (stays) /* it may be another thread */
        sched_yield();
    right();
}

static void timers(bool blocked)
{
    struct sigevent event;
    timer_t timer;
    struct itimerspec often = {{0, 300000}, {0, 300000}};
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGRTMIN + 1;
    event.sigev_value.sival_int = 7;
    handle(SIGRTMIN + 1, NULL, on_value, SA_RESTART);
    region(300);
    if (blocked)
        block(SIG_BLOCK, SIGRTMIN + 1);
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    CHECK(timer_settime(timer, 0, &often, NULL) == 0);
    for (int i = 0; i < 3000 || handled < 20; i++)
        region(i % 20);
    CHECK(timer_delete(timer) == 0);
    CHECK(sum == 7 * handled);
    right();
}
static void timer(void) { timers(false); }
static void timer_blocked(void) { timers(true); }

static void interval(int which, int number, bool blocked)
{
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    handle(number, on_signal, NULL, SA_RESTART);
    region(300);
    if (blocked)
        block(SIG_BLOCK, number);
    CHECK(setitimer(which, &often, NULL) == 0);
    for (int i = 0; i < 2000 || handled < 10; i++)
        region(i % 20);
    CHECK(setitimer(which, &never, NULL) == 0);
    right();
}
static void alarms(void) { interval(ITIMER_REAL, SIGALRM, false); }
static void alarms_blocked(void) { interval(ITIMER_REAL, SIGALRM, true); }
static void profile(void) { interval(ITIMER_PROF, SIGPROF, false); }
static void profile_blocked(void) { interval(ITIMER_PROF, SIGPROF, true); }

/* A profiler's samples are those of the threads that compute. */
static void profiled(void)
{
    struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
    handle(SIGPROF, on_signal, NULL, SA_RESTART);
    region(300);
    CHECK(setitimer(ITIMER_PROF, &often, NULL) == 0);
    for (int i = 0; i < 100 || of_thread[1] == 0 || of_thread[2] == 0 || of_thread[3] == 0; i++)
        region(4000);
    CHECK(setitimer(ITIMER_PROF, &never, NULL) == 0);
    right();
}

/* All threads block it: it waits, in its order, for the one that takes it. */
static void queue_values(void)
{
    for (int i = 1; i <= QUEUED; i++) {
        union sigval value = {.sival_int = i};
        CHECK(sigqueue(getpid(), SIGRTMIN + 2, value) == 0);
        if (i % 8 == 0)
            region(10);
    }
}

static void *wait_for_values(void *arg)
{
    sigset_t set;
    (void)arg;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 2);
    for (int i = 1; i <= QUEUED; i++) {
        siginfo_t info;
        int got;
        while ((got = sigwaitinfo(&set, &info)) == -1 && errno == EINTR)
            ;
        CHECK(got == SIGRTMIN + 2 && info.si_code == SI_QUEUE && info.si_pid == getpid());
        CHECK(info.si_value.sival_int == i);
    }
    return NULL;
}

static void waited_for(void)
{
    pthread_t thread;
    handle(SIGRTMIN + 2, on_signal, NULL, SA_RESTART);
    block(SIG_BLOCK, SIGRTMIN + 2);
    region(300);
    CHECK(pthread_create(&thread, NULL, wait_for_values, NULL) == 0);
    queue_values();
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(handled == 0);
}

static void waited_for_by_member(void)
{
    handle(SIGRTMIN + 2, on_signal, NULL, SA_RESTART);
    block(SIG_BLOCK, SIGRTMIN + 2);
    region(300);
    queue_values();
#pragma omp parallel num_threads(N)
    if (omp_get_thread_num() == N - 1)
        wait_for_values(NULL);
    CHECK(handled == 0);
}

static void read_by_member(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 2);
    block(SIG_BLOCK, SIGRTMIN + 2);
    region(300);
    int fd = signalfd(-1, &set, 0);
    CHECK(fd >= 0);
    queue_values();
#pragma omp parallel num_threads(N)
    if (omp_get_thread_num() == N - 1)
        for (int i = 1; i <= QUEUED; i++) {
            struct signalfd_siginfo info;
            CHECK(read(fd, &info, sizeof info) == sizeof info);
            CHECK(info.ssi_signo == (unsigned)SIGRTMIN + 2 && info.ssi_int == i);
        }
}

static int last_value;
static void on_next(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    CHECK(info->si_code == SI_QUEUE && info->si_pid == getpid() && info->si_value.sival_int == last_value + 1);
    last_value++;
    note();
    handled++;
}

static void in_order(void)
{
    sigset_t set;
    handle(SIGRTMIN + 2, NULL, on_next, SA_RESTART);
    block(SIG_BLOCK, SIGRTMIN + 2);
    region(300);
    queue_values();
    CHECK(sigpending(&set) == 0 && sigismember(&set, SIGRTMIN + 2));
    CHECK(handled == 0);
    block(SIG_UNBLOCK, SIGRTMIN + 2);
    CHECK(handled == QUEUED);
    CHECK(of_thread[0] == QUEUED);
    right();
}

static void pending(void)
{
    handle(SIGUSR1, on_signal, NULL, SA_RESTART);
    block(SIG_BLOCK, SIGUSR1);
    region(300);
    CHECK(kill(getpid(), SIGUSR1) == 0);
    for (int i = 0; i < 50; i++)
        region(i);
#pragma omp parallel num_threads(N)
    {
        sigset_t set;
        CHECK(sigpending(&set) == 0 && sigismember(&set, SIGUSR1));
    }
    CHECK(handled == 0);
    block(SIG_UNBLOCK, SIGUSR1);
    CHECK(handled == 1);
    right();
}

static void on_child(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    CHECK(info->si_code == CLD_EXITED && info->si_status == 5);
    note();
    handled++;
}

static void children(void)
{
    handle(SIGCHLD, NULL, on_child, SA_RESTART | SA_NOCLDSTOP);
    region(300);
    block(SIG_BLOCK, SIGCHLD);
    for (long i = 1; i <= TIMES; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0)
            _exit(5);
        while (handled < i)
            region(5);
        CHECK(waitpid(child, NULL, 0) == child);
    }
    right();
}

static void terminal(void)
{
    int fd, status;
    char byte;
    pid_t child = forkpty(&fd, NULL, NULL, NULL);
    CHECK(child >= 0);
    if (child == 0) {
        handle(SIGINT, on_signal, NULL, SA_RESTART);
        region(300);
        block(SIG_BLOCK, SIGINT);
        CHECK(write(STDOUT_FILENO, "x", 1) == 1);
        await(1);
        right();
        exit(3);
    }
    CHECK(read(fd, &byte, 1) == 1 && byte == 'x');
    CHECK(write(fd, "\003", 1) == 1);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

/* What the program is told of its handlers is what it has set. */
static void shown(void)
{
    struct sigaction action;
    handle(SIGUSR1, NULL, on_value, SA_RESTART | SA_NODEFER);
    region(300);
    CHECK(sigaction(SIGUSR1, NULL, &action) == 0 && action.sa_sigaction == on_value);
    CHECK((action.sa_flags & ~RESTORER) == (SA_SIGINFO | SA_RESTART | SA_NODEFER));
    CHECK(signal(SIGUSR1, on_signal) == (void (*)(int))(void (*)(void))on_value);
    CHECK(sigaction(SIGUSR1, NULL, &action) == 0 && action.sa_handler == on_signal);
    CHECK((action.sa_flags & ~RESTORER) == SA_RESTART);
    CHECK(kill(getpid(), SIGUSR1) == 0);
    await(1);
    CHECK(signal(SIGUSR1, SIG_IGN) == on_signal);
    CHECK(kill(getpid(), SIGUSR1) == 0);
    CHECK(signal(SIGUSR1, SIG_DFL) == SIG_IGN);
    handle(SIGUSR1, on_signal, NULL, (int)SA_RESETHAND);
    CHECK(sigaction(SIGUSR1, NULL, &action) == 0 && action.sa_handler == on_signal);
    CHECK((action.sa_flags & ~RESTORER) == (int)SA_RESETHAND);
    CHECK(kill(getpid(), SIGUSR1) == 0);
    await(2);
    CHECK(sigaction(SIGUSR1, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
    CHECK((action.sa_flags & ~RESTORER) == (int)SA_RESETHAND);
    right();
}

/* A handler for once takes one signal, also where that comes to a thread of the pool. */
static void once(void)
{
    region(300);
    for (long i = 1; i <= TIMES; i++) {
        struct sigaction action;
        handle(SIGUSR1, on_signal, NULL, (int)SA_RESETHAND);
        if (i == 1)
            block(SIG_BLOCK, SIGUSR1);
        CHECK(kill(getpid(), SIGUSR1) == 0);
        await(i);
        CHECK(sigaction(SIGUSR1, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
    }
    pid_t child = fork();
    if (child == 0) {
        block(SIG_UNBLOCK, SIGUSR1);
        handle(SIGUSR1, on_signal, NULL, (int)SA_RESETHAND);
        raise(SIGUSR1);
        raise(SIGUSR1);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
    right();
}

static void other_handler_in_vfork(void)
{
    handle(SIGUSR1, on_signal, NULL, SA_RESTART);
    region(300);
    pid_t child = vfork();
    CHECK(child >= 0);
    if (child == 0) {
        signal(SIGUSR1, on_first);
        _exit(0);
    }
    CHECK(waitpid(child, NULL, 0) == child);
    CHECK(kill(getpid(), SIGUSR1) == 0);
    await(1);
    CHECK(!stays);
    CHECK(signal(SIGUSR1, SIG_IGN) == on_signal);
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {
        {"blocked_outside", blocked_outside},
        {"out_of_reach", out_of_reach},
        {"by_child", by_child},
        {"in_handler", in_handler},
        {"timer", timer},
        {"timer_blocked", timer_blocked},
        {"alarms", alarms},
        {"alarms_blocked", alarms_blocked},
        {"profile", profile},
        {"profile_blocked", profile_blocked},
        {"profiled", profiled},
        {"waited_for", waited_for},
        {"waited_for_by_member", waited_for_by_member},
        {"read_by_member", read_by_member},
        {"in_order", in_order},
        {"pending", pending},
        {"children", children},
        {"terminal", terminal},
        {"shown", shown},
        {"once", once},
        {"other_handler_in_vfork", other_handler_in_vfork},
    };
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
