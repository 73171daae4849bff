/* Signals for the process, by timers, children, a terminal and others, in regions and outside of them. They are handled
 * by threads that the program knows and that do not block them, with what they bring, and wait where all threads block
 * them. None is lost, where the system queues no more signals either. [KIND] */
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
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <time.h>

#define N 4
#define QUEUED 40
#define TIMES 20
#define RESTORER 0x04000000 /* the C library's own flag */

static _Thread_local volatile int known; /* 1 + the thread's number in regions */
static _Thread_local volatile int blocks;
static _Atomic long handled, strangers, blocked_ones, of_thread[N], sum;

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

static void by_child(void)
{
    handle(SIGUSR1, on_signal, NULL, SA_RESTART);
    region(300);
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

static void timer(void)
{
    struct sigevent event;
    timer_t each;
    struct itimerspec often = {{0, 300000}, {0, 300000}};
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGRTMIN + 1;
    event.sigev_value.sival_int = 7;
    handle(SIGRTMIN + 1, NULL, on_value, SA_RESTART);
    region(300);
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &each) == 0);
    CHECK(timer_settime(each, 0, &often, NULL) == 0);
    for (int i = 0; i < 3000 || handled < 20; i++)
        region(i % 20);
    CHECK(timer_delete(each) == 0);
    CHECK(sum == 7 * handled);
    right();
}

static void interval(int which, int number)
{
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    handle(number, on_signal, NULL, SA_RESTART);
    region(300);
    CHECK(setitimer(which, &often, NULL) == 0);
    for (int i = 0; i < 2000 || handled < 10; i++)
        region(i % 20);
    CHECK(setitimer(which, &never, NULL) == 0);
    right();
}
static void alarms(void) { interval(ITIMER_REAL, SIGALRM); }
static void profile(void) { interval(ITIMER_PROF, SIGPROF); }

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
        CHECK(kill(getpid(), SIGUSR1) == 0);
        await(i);
        CHECK(sigaction(SIGUSR1, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
    }
    pid_t child = fork();
    if (child == 0) {
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

static void on_none(int number) { CHECK(number == 0); }

static void other_handler_in_vfork(void)
{
    handle(SIGUSR1, on_signal, NULL, SA_RESTART);
    region(300);
    pid_t child = vfork();
    CHECK(child >= 0);
    if (child == 0) {
        signal(SIGUSR1, on_none);
        _exit(0);
    }
    CHECK(waitpid(child, NULL, 0) == child);
    CHECK(kill(getpid(), SIGUSR1) == 0);
    await(1);
    CHECK(signal(SIGUSR1, SIG_IGN) == on_signal);
}

/* --- none is lost --- */

#define EACH 40

/* How many signals the system queues for this process: none, or as many as it may. */
static void let_queue(pid_t process, bool some)
{
    struct rlimit most;
    if (prlimit(process, RLIMIT_SIGPENDING, NULL, &most) != 0) /* it has ended */
        return;
    most.rlim_cur = some ? most.rlim_max : 0;
    prlimit(process, RLIMIT_SIGPENDING, &most, NULL);
}

static void send_untold(pid_t parent) { kill(parent, SIGRTMIN + 1); }
static void send_queued(pid_t parent)
{
    while (sigqueue(parent, SIGRTMIN + 1, (union sigval){.sival_int = 0})) /* the user's queue may be full */
        CHECK(errno == EAGAIN && !usleep(1000));
    let_queue(parent, false);
    usleep(2000);
    let_queue(parent, true);
}

static void wait_for_turns(void)
{
#pragma omp parallel num_threads(N)
    {
        known = 1 + omp_get_thread_num();
        wait_in_all_ways();
    }
}

/* A child sends the next one when the last one has been handled. */
static void sent_one_by_one(void (*send)(pid_t parent))
{
    static _Atomic long *seen;
    handle(SIGRTMIN + 1, on_signal, NULL, SA_RESTART);
    region(300);
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(seen != MAP_FAILED);
    pid_t parent = getpid(), child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (long sent = 0; sent < EACH; sent++) {
            send(parent);
            while (*seen <= sent && getppid() == parent)
                usleep(20);
        }
        _exit(0);
    }
    while (handled < EACH) { /* hangs where one is lost */
        *seen = handled;
        region(100);
        *seen = handled;
        wait_for_turns();
    }
    *seen = handled;
    CHECK(waitpid(child, NULL, 0) == child);
}

/* Where the system refuses to queue one it may be handled by a thread that the program does not know. */
static void without_a_queue(void)
{
    let_queue(getpid(), false);
    sent_one_by_one(send_untold);
}
static void with_a_queue_now_and_then(void) { sent_one_by_one(send_queued); }

/* It comes while the first thread waits for a region's end. Then the runtime gives its kernel threads up, and no region
 * follows. */
static void before_pauses(void)
{
    for (int i = 0; i < TIMES; i++) {
        int status;
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            handle(SIGUSR1, on_signal, NULL, SA_RESTART);
            region(100);
#pragma omp parallel num_threads(N)
            if (omp_get_thread_num() == N - 1)
                kill(getpid(), SIGUSR1);
            omp_pause_resource_all(omp_pause_soft);
            await(1);
            right();
            _exit(0);
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {
        {"by_child", by_child},
        {"timer", timer},
        {"alarms", alarms},
        {"profile", profile},
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
        {"without_a_queue", without_a_queue},
        {"with_a_queue_now_and_then", with_a_queue_now_and_then},
        {"before_pauses", before_pauses},
    };
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
