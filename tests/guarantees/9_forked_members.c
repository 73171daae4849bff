/* A child that a member forks is a process of one thread, and the member is that thread. The C library and the kernel
 * know the member by the process's number, its handle, its name, its mask. The member keeps its thread-local variables.
 * Regions that it opens then (kinds "regions...") leave it what it is. */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#define N 4

static __thread int own = 5;
static __thread volatile sig_atomic_t handled_here;
static volatile sig_atomic_t handled;
static pthread_t expected;

static void on_signal(int number)
{
    (void)number;
    handled++;
    handled_here += pthread_equal(pthread_self(), expected) != 0;
}

static void handle(int number)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    CHECK(sigaction(number, &action, NULL) == 0);
}

/* In a region it may be away from its kernel thread. */
static void check_number_in_region(void) { CHECK(gettid() == getpid() && (pid_t)syscall(SYS_gettid) == getpid()); }
static void check_number(void)
{
    char link[60] = "", path[60];
    check_number_in_region();
    snprintf(path, sizeof path, "%d/task/%d", getpid(), getpid());
    CHECK(readlink("/proc/thread-self", link, sizeof link - 1) > 0 && !strcmp(link, path));
}

static void check_name(void)
{
    char name[16] = "", path[60];
    CHECK(pthread_setname_np(pthread_self(), "child") == 0);
    CHECK(pthread_getname_np(pthread_self(), name, sizeof name) == 0 && !strcmp(name, "child"));
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", getpid());
    FILE *file = fopen(path, "r");
    CHECK(file && fgets(name, sizeof name, file) && !strcmp(name, "child\n"));
    fclose(file);
}

static void check_signals(void)
{
    sigset_t set, before;
    siginfo_t info;
    struct timespec none = {0, 0};
    expected = pthread_self();
    handled = handled_here = 0;
    handle(SIGUSR1);
    CHECK(raise(SIGUSR1) == 0 && handled == 1);
    CHECK(pthread_kill(pthread_self(), SIGUSR1) == 0 && handled == 2);
    CHECK(tgkill(getpid(), gettid(), SIGUSR1) == 0 && handled == 3);
    CHECK(pthread_sigqueue(pthread_self(), SIGUSR1, (union sigval){.sival_int = 3}) == 0 && handled == 4);
    CHECK(kill(getpid(), SIGUSR1) == 0 && handled == 5 && handled_here == 5);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, &before) == 0 && sigismember(&before, SIGUSR1) == 0);
    CHECK(pthread_kill(pthread_self(), SIGUSR1) == 0 && handled == 5);
    CHECK(sigpending(&set) == 0 && sigismember(&set, SIGUSR1) == 1);
    CHECK(sigtimedwait(&set, &info, &none) == SIGUSR1 && info.si_pid == getpid());
    CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
}

static void check_timer(void)
{
    struct sigevent event;
    struct itimerspec soon = {{0, 0}, {0, 1000000}};
    timer_t timer;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event._sigev_un._tid = getpid();
    event.sigev_signo = SIGUSR1;
    int before = handled_here;
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &soon, NULL) == 0);
    while (handled_here == before)
        usleep(100);
    CHECK(timer_delete(timer) == 0);
}

static void check_mutexes(void)
{
    static const int kinds[] = {PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK};
    for (int i = 0; i < 4; i++) {
        pthread_mutexattr_t attr;
        pthread_mutex_t mutex;
        int again = i % 2 ? EDEADLK : 0;
        CHECK(pthread_mutexattr_init(&attr) == 0 && pthread_mutexattr_settype(&attr, kinds[i % 2]) == 0);
        CHECK(i < 2 || pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST) == 0);
        CHECK(pthread_mutex_init(&mutex, &attr) == 0 && pthread_mutex_lock(&mutex) == 0);
        CHECK(pthread_mutex_lock(&mutex) == again && (again || pthread_mutex_unlock(&mutex) == 0));
        CHECK(pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == EPERM);
        CHECK(pthread_mutex_destroy(&mutex) == 0 && pthread_mutexattr_destroy(&attr) == 0);
    }
}

static void check_rest(void)
{
    cpu_set_t set, same;
    pthread_attr_t attr;
    struct timespec now;
    clockid_t clock;
    void *stack;
    size_t bytes;
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
    CHECK(pthread_getaffinity_np(pthread_self(), sizeof same, &same) == 0 && CPU_EQUAL(&set, &same));
    CHECK(pthread_getcpuclockid(pthread_self(), &clock) == 0 && clock_gettime(clock, &now) == 0);
    CHECK(pthread_getattr_np(pthread_self(), &attr) == 0 && pthread_attr_getstack(&attr, &stack, &bytes) == 0);
    CHECK((char *)&attr >= (char *)stack && (char *)&attr < (char *)stack + bytes);
    pthread_attr_destroy(&attr);
    char *text = malloc(100);
    CHECK(text);
    memset(text, 'x', 100);
    free(text);
    CHECK(fflush(NULL) == 0);
}

static void check_child(int id)
{
    CHECK(own == id && errno == 100 + id);
    check_number();
    check_name();
    check_signals();
    check_timer();
    check_mutexes();
    check_rest();
    check_number();
    CHECK(own == id);
}

static void reap(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) != child)
        continue;
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void fork_here(void (*then)(int id), int id)
{
    own = id;
    errno = 100 + id;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        then(id);
        _exit(7);
    }
    reap(child);
}

/* All members have begun: none is left for the child to begin. */
static void in_members(void (*then)(int id))
{
    omp_set_max_active_levels(4);
    for (int round = 0; round < 2; round++) {
#pragma omp parallel num_threads(N)
        {
#pragma omp barrier
            fork_here(then, omp_get_thread_num());
            wait_in_all_ways();
            if (omp_get_thread_num() == N - 1)
                fork_here(then, N - 1);
        }
    }
}

static void each(void) { in_members(check_child); }

static void dedicated(void)
{
#pragma omp parallel num_threads(N)
    {
        CHECK(gettid() > 0);
        wait_in_all_ways();
        fork_here(check_child, omp_get_thread_num());
    }
    CHECK(gettid() == getpid());
}

static void nested(void)
{
    omp_set_max_active_levels(4);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(3)
    if (omp_get_thread_num() != 1)
        fork_here(check_child, omp_get_thread_num());
}

static void fork_again(int id)
{
    check_child(id);
    fork_here(check_child, id);
    check_number();
}
static void twice(void) { in_members(fork_again); }

static pthread_t maker;
static void *signal_maker(void *arg)
{
    for (int i = 0; i < 20; i++) {
        CHECK(pthread_kill(maker, SIGUSR1) == 0);
        usleep(200);
    }
    return arg;
}

/* The thread that forked waits for another kernel thread, which sends it signals. */
static void beside_a_thread(int id)
{
    pthread_t thread;
    expected = maker = pthread_self();
    handled = handled_here = 0;
    handle(SIGUSR1);
    CHECK(pthread_create(&thread, NULL, signal_maker, NULL) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(handled >= 1 && handled_here == handled);
    check_child(id);
}
static void with_threads(void) { in_members(beside_a_thread); }

static void open_regions(int id)
{
    pthread_t me = pthread_self();
    for (int round = 0; round < 2; round++) {
        pid_t number_of[N];
        pthread_t handle_of[N];
#pragma omp parallel num_threads(N)
        {
            int member = omp_get_thread_num();
            CHECK(omp_get_num_threads() == N);
            if (member)
                own = 50 + member;
            CHECK(member ? !pthread_equal(pthread_self(), me) : pthread_equal(pthread_self(), me));
            for (int i = 0; i < 2; i++) {
                wait_in_all_ways();
                handle_of[member] = pthread_self();
                if (member == 0)
                    check_number_in_region();
                number_of[member] = round || i ? gettid() : 0;
#pragma omp barrier
                for (int other = 0; other < N; other++)
                    CHECK(other == member || !pthread_equal(handle_of[other], handle_of[member]));
                for (int other = 0; (round || i) && other < N; other++)
                    CHECK(other == member || number_of[other] != number_of[member]);
#pragma omp barrier
            }
            CHECK(own == (member ? 50 + member : id));
        }
        CHECK(own == id && pthread_equal(pthread_self(), me));
        check_number();
    }
}
static void regions(void) { in_members(open_regions); }

/* Members send the thread that forked signals by its handle while it waits in the runtime. */
static void be_sent_signals(int id)
{
    pthread_t me = pthread_self();
    int sent = 0;
    expected = me;
    handled = handled_here = 0;
    handle(SIGUSR1);
#pragma omp parallel num_threads(N)
    for (int i = 0; i < 5; i++) {
        if (omp_get_thread_num()) {
            CHECK(pthread_kill(me, SIGUSR1) == 0);
#pragma omp atomic
            sent++;
        }
        wait_in_all_ways();
    }
    for (int i = 0; handled == 0 && i < 10000; i++)
        usleep(100);
    CHECK(handled >= 1 && handled <= sent && handled_here == handled && own == id);
    check_number();
}
static void regions_that_signal(void) { in_members(be_sent_signals); }

/* The same, where the members have got kernel threads of their own before. */
static void regions_of_dedicated(void)
{
    omp_set_max_active_levels(4);
    for (int round = 0; round < 2; round++) {
#pragma omp parallel num_threads(N)
        {
            CHECK(gettid() > 0);
            wait_in_all_ways();
            fork_here(open_regions, omp_get_thread_num());
            wait_in_all_ways();
            fork_here(be_sent_signals, omp_get_thread_num());
        }
    }
}

static void *open_one(void *arg)
{
    int n = 0;
#pragma omp parallel num_threads(2) reduction(+ : n)
    n++;
    CHECK(n == 2);
    return arg;
}

/* A kernel thread that has opened regions ends in the middle of one of this thread's. */
static void outlive_a_thread(int id)
{
    for (int i = 0; i < 2; i++) {
        int ended = 0;
#pragma omp parallel num_threads(2)
        {
#pragma omp barrier
            if (omp_get_thread_num() == 0) {
                pthread_t thread;
                CHECK(pthread_create(&thread, NULL, open_one, NULL) == 0 && pthread_join(thread, NULL) == 0);
                __atomic_store_n(&ended, 1, __ATOMIC_SEQ_CST);
            }
            while (!__atomic_load_n(&ended, __ATOMIC_SEQ_CST))
                usleep(1000);
        }
    }
    CHECK(own == id);
    check_number();
}
static void regions_beside_a_thread(void) { in_members(outlive_a_thread); }

/* It is wanted while another one computes on its kernel thread, and takes turns by hand. */
static void take_turns(int id)
{
    int turn = 0;
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(N)
    for (int i = 0; i < N; i++) {
        if (i % N != omp_get_thread_num())
            continue;
        while (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) != i) /* clang forgets that a shared variable is volatile */
            continue;
        omp_set_lock(&lock);
        __atomic_store_n(&turn, i + 1, __ATOMIC_SEQ_CST);
        omp_unset_lock(&lock);
#pragma omp taskyield
    }
    omp_destroy_lock(&lock);
    CHECK(turn == N && own == id);
    check_number();
}
static void regions_that_spin(void) { in_members(take_turns); }

static void fork_members_again(int id)
{
#pragma omp parallel num_threads(2)
    fork_here(check_child, omp_get_thread_num());
    check_number();
    fork_here(open_regions, id);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1)
        fork_here(open_regions, 1);
    check_number();
}
static void regions_that_fork(void)
{
    omp_set_max_active_levels(6);
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
        if (omp_get_thread_num() == 1)
            fork_here(fork_members_again, 1);
    }
}

/* What the process's thread has set is what the threads of its regions begin with. */
static void set_and_open(int id)
{
    CHECK(setpriority(PRIO_PROCESS, 0, 15) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    for (int round = 0; round < 2; round++)
#pragma omp parallel num_threads(N)
        for (int i = 0; i < 2; i++) {
            CHECK(getpriority(PRIO_PROCESS, 0) == 15 && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
            wait_in_all_ways();
        }
    CHECK(own == id && getpriority(PRIO_PROCESS, 0) == 15);
}
static void regions_after_a_change(void) { in_members(set_and_open); }

static const struct kind_of kinds[] = {
    {"each", each},
    {"dedicated", dedicated},
    {"nested", nested},
    {"twice", twice},
    {"with_threads", with_threads},
    {"regions", regions},
    {"regions_that_signal", regions_that_signal},
    {"regions_of_dedicated", regions_of_dedicated},
    {"regions_that_spin", regions_that_spin},
    {"regions_beside_a_thread", regions_beside_a_thread},
    {"regions_that_fork", regions_that_fork},
    {"regions_after_a_change", regions_after_a_change},
};

int main(int argc, char **argv)
{
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
