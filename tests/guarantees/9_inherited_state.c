/* What other members set for themselves is not what a member begins with. The state: nice value, policy, slack of
 * timers, priority of input and output, working folder after unshare(CLONE_FS), host's name in a namespace of its own,
 * a filter of system calls. No thread can take the last two back. So it is also where a runtime starts kernel threads
 * in the middle of a region: because another thread asks about a member, sends it a signal, or makes work. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#define N 8
#define REFUSAL 77

struct state {
    long nice, policy, slack, io, privileges, filtered;
    char folder[100], host[sizeof((struct utsname *)0)->nodename];
};

static struct state state_of_caller(void)
{
    struct state s = {0};
    struct utsname names;
    s.slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    s.nice = getpriority(PRIO_PROCESS, 0);
    s.policy = sched_getscheduler(0);
    s.io = syscall(SYS_ioprio_get, 1, 0);
    s.privileges = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
    s.filtered = syscall(SYS_acct, "/nowhere/at/all") == -1 && errno == REFUSAL;
    CHECK(getcwd(s.folder, sizeof s.folder) && uname(&names) == 0);
    strcpy(s.host, names.nodename);
    return s;
}

static bool is_same(const struct state *a, const struct state *b)
{
    return a->nice == b->nice && a->policy == b->policy && a->slack == b->slack && a->io == b->io &&
           a->privileges == b->privileges && a->filtered == b->filtered && !strcmp(a->folder, b->folder) &&
           !strcmp(a->host, b->host);
}

static void say(const char *whose, const struct state *s)
{
    fprintf(stderr, "%s: nice %ld, policy %ld, slack %ld, io %ld, privileges %ld, filtered %ld, in %s, on %s\n", whose,
            s->nice, s->policy, s->slack, s->io, s->privileges, s->filtered, s->folder, s->host);
}

static struct state before; /* the process's */

static void check_own_is_as_before(void)
{
    struct state now = state_of_caller();
    if (!is_same(&now, &before)) {
        say("now", &now);
        say("before", &before);
    }
    CHECK(is_same(&now, &before));
}

/* One call is refused with a number of its own. */
static void filter_calls(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_acct, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | REFUSAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static bool is_superuser;

static void set_all(void)
{
    struct sched_param none = {0};
    CHECK(unshare(CLONE_FS) == 0 && chdir("/usr") == 0);
    CHECK(prctl(PR_SET_TIMERSLACK, 77000, 0, 0, 0) == 0);
    CHECK(syscall(SYS_ioprio_set, 1, 0, 2 << 13 | 7) == 0);
    CHECK(sched_setscheduler(0, SCHED_BATCH, &none) == 0);
    CHECK(setpriority(PRIO_PROCESS, 0, 17) == 0);
    if (is_superuser)
        CHECK(unshare(CLONE_NEWUTS) == 0 && sethostname("elsewhere", 9) == 0);
    filter_calls();
}

static void check_all_set(void)
{
    struct state now = state_of_caller();
    CHECK(now.nice == 17 && now.policy == SCHED_BATCH && now.slack == 77000 && now.io == (2 << 13 | 7));
    CHECK(now.privileges == 1 && now.filtered && !strcmp(now.folder, "/usr"));
    CHECK(!is_superuser || !strcmp(now.host, "elsewhere"));
}

/* Member `setter` sets all, then does act, while the others wait; they are as they were, in the next region as well. */
static void one_sets(int setter, void (*act)(const pthread_t *member))
{
    pthread_t member[N];
    for (int round = 0; round < 2; round++) {
#pragma omp parallel num_threads(N)
        {
            int id = omp_get_thread_num();
            member[id] = pthread_self();
#pragma omp barrier
            if (id == setter && round == 0) {
                set_all();
                act(member);
            }
#pragma omp barrier
            if (id != setter)
                check_own_is_as_before();
            wait_in_all_ways();
            if (id == setter)
                check_all_set();
            else
                check_own_is_as_before();
        }
    }
}

static void nothing_more(const pthread_t *member) { (void)member; }
static void one(void) { one_sets(3, nothing_more); }
static void the_first(void) { one_sets(0, nothing_more); }

static void ask_names(const pthread_t *member)
{
    char name[16];
    for (int id = 0; id < N; id++)
        CHECK(pthread_getname_np(member[id], name, sizeof name) == 0);
}
static void asks_about_others(void) { one_sets(3, ask_names); }
static void the_first_asks(void) { one_sets(0, ask_names); }

static void on_signal(int number) { (void)number; }
static void send_signals(const pthread_t *member)
{
    for (int id = 0; id < N; id++)
        CHECK(pthread_kill(member[id], SIGUSR1) == 0);
}
static void signals_others(void)
{
    CHECK(signal(SIGUSR1, on_signal) != SIG_ERR);
    one_sets(3, send_signals);
}
static void the_first_signals(void)
{
    CHECK(signal(SIGUSR1, on_signal) != SIG_ERR);
    one_sets(0, send_signals);
}

/* By number, by another: the first one's, which is the process's. */
static void another_sets_the_firsts(void)
{
    struct sched_param none = {0};
#pragma omp parallel num_threads(N)
    {
        int id = omp_get_thread_num();
#pragma omp barrier
        if (id == 3) {
            CHECK(setpriority(PRIO_PROCESS, (id_t)getpid(), 17) == 0);
            CHECK(sched_setscheduler(getpid(), SCHED_BATCH, &none) == 0);
        }
#pragma omp barrier
        if (id != 0)
            check_own_is_as_before();
        wait_in_all_ways();
        if (id != 0)
            check_own_is_as_before();
        else
            CHECK(getpriority(PRIO_PROCESS, 0) == 17 && sched_getscheduler(0) == SCHED_BATCH);
    }
}

/* Inner regions, whose members are the opener's and wait for one another, so that others come for them; then one of
 * many members, which are the process's. */
static void meet(int *here, int n)
{
    __atomic_add_fetch(here, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(here, __ATOMIC_SEQ_CST) < n)
        usleep(100);
}
static void open_regions(int levels, int *ended)
{
    int both = 0;
#pragma omp parallel num_threads(2)
    {
        meet(&both, 2);
        if (omp_get_thread_num() == 0 && levels > 1)
            open_regions(levels - 1, ended);
        else
            meet(ended, 5);
    }
}
static void makes_work(void)
{
    int ended = 0;
    omp_set_max_active_levels(6);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) {
        set_all();
        open_regions(3, &ended);
    } else {
        meet(&ended, 5);
    }
#pragma omp parallel num_threads(2 * N)
    {
#pragma omp barrier
        if (omp_get_thread_num() > 1)
            check_own_is_as_before();
        wait_in_a_critical();
        if (omp_get_thread_num() > 1)
            check_own_is_as_before();
    }
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {
        {"one", one},
        {"the_first", the_first},
        {"asks_about_others", asks_about_others},
        {"the_first_asks", the_first_asks},
        {"signals_others", signals_others},
        {"the_first_signals", the_first_signals},
        {"another_sets_the_firsts", another_sets_the_firsts},
        {"makes_work", makes_work},
    };
    is_superuser = geteuid() == 0;
    before = state_of_caller();
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
