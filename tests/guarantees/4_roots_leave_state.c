/* What the kernel and the C library keep for a region's first thread is its own while it goes on elsewhere, because
 * others hold its kernel thread. It finds there what it has set before, sets something else, and has that
 * afterwards. The state: number, name, processors, signal mask, alternate stack, nice value, policy, timers to its
 * number. So it is with mutexes of all kinds that it holds meanwhile. The program's own thread, and another one.
 * [KIND] */
#define _GNU_SOURCE
#include "away.h"
#include "kinds.h"
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#define N 4
#define TRIPS AWAY_WAITS /* each wait once; the ways to stay in turns */

/* --- number --- */

static pid_t number;
static void have_number(void) { number = gettid(); }
static void ask_number(void)
{
    CHECK(gettid() == number && syscall(SYS_gettid) == number && getpid() == syscall(SYS_getpid));
    CHECK(syscall(SYS_tgkill, getpid(), number, 0) == 0);
}

/* --- name --- */

static char name[16];
static void set_name(int i)
{
    snprintf(name, sizeof name, "root %d", i);
    if (i % 2)
        CHECK(pthread_setname_np(pthread_self(), name) == 0);
    else
        CHECK(prctl(PR_SET_NAME, name) == 0);
}
static void have_name(void) { set_name(0); }
static void ask_name(void)
{
    char now[16] = "", path[64], in_file[32] = "";
    CHECK(pthread_getname_np(pthread_self(), now, sizeof now) == 0 && strcmp(now, name) == 0);
    CHECK(prctl(PR_GET_NAME, now) == 0 && strcmp(now, name) == 0);
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", (int)gettid());
    int file = open(path, O_RDONLY);
    CHECK(file >= 0 && read(file, in_file, sizeof in_file) > 0 && close(file) == 0);
    CHECK(strncmp(in_file, name, strlen(name)) == 0);
}

/* --- processors: one of them, in turns --- */

static cpu_set_t all_processors, one_processor;
static void set_processor(int i)
{
    int nth = i % CPU_COUNT(&all_processors), cpu = 0;
    for (;; cpu++)
        if (CPU_ISSET(cpu, &all_processors) && nth-- == 0)
            break;
    CPU_ZERO(&one_processor);
    CPU_SET(cpu, &one_processor);
    CHECK(sched_setaffinity(0, sizeof one_processor, &one_processor) == 0);
}
static void have_processor(void)
{
    CHECK(sched_getaffinity(0, sizeof all_processors, &all_processors) == 0);
    set_processor(0);
}
static void ask_processor(void)
{
    cpu_set_t now;
    CHECK(sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &one_processor));
    CHECK(pthread_getaffinity_np(pthread_self(), sizeof now, &now) == 0 && CPU_EQUAL(&now, &one_processor));
}

/* --- signal mask --- */

#define FIRST_SIGNAL (SIGRTMIN + 3)
static int blocked; /* this one, of several */
static void block(int how, int signal)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    CHECK(pthread_sigmask(how, &set, NULL) == 0);
}
static void set_mask(int i)
{
    block(SIG_UNBLOCK, blocked);
    blocked = FIRST_SIGNAL + i;
    block(SIG_BLOCK, blocked);
}
static void have_mask(void)
{
    blocked = FIRST_SIGNAL;
    set_mask(0);
}
static void ask_mask(void)
{
    sigset_t now;
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0);
    for (int i = 0; i < TRIPS + 2; i++)
        CHECK(sigismember(&now, FIRST_SIGNAL + i) == (FIRST_SIGNAL + i == blocked));
}

/* --- alternate stack --- */

static char places[2][64 * 1024], *place;
static void *volatile handled_at;
static void on_signal(int signal)
{
    (void)signal;
    handled_at = __builtin_frame_address(0);
}
static void set_stack(int i)
{
    place = places[i % 2];
    CHECK(sigaltstack(&(stack_t){.ss_sp = place, .ss_size = sizeof places[0]}, NULL) == 0);
}
static void have_stack(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART};
    CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
    set_stack(0);
}
static void ask_stack(void)
{
    stack_t now;
    CHECK(sigaltstack(NULL, &now) == 0 && now.ss_sp == place && now.ss_size == sizeof places[0] && now.ss_flags == 0);
    handled_at = NULL;
    CHECK(raise(SIGUSR2) == 0);
    CHECK((char *)handled_at > place && (char *)handled_at < place + sizeof places[0]);
}

/* --- nice value, policy --- */

static int nice_value;
static void set_nice(int i)
{
    nice_value = 1 + i;
    CHECK(setpriority(PRIO_PROCESS, 0, nice_value) == 0);
}
static void have_nice(void) { set_nice(0); }
static void ask_nice(void)
{
    CHECK(getpriority(PRIO_PROCESS, 0) == nice_value && getpriority(PRIO_PROCESS, (id_t)gettid()) == nice_value);
}

static int policy;
static void set_policy(int i)
{
    const struct sched_param none = {0};
    policy = i % 2 ? SCHED_BATCH : SCHED_OTHER;
    CHECK(sched_setscheduler(0, policy, &none) == 0);
}
static void have_policy(void) { set_policy(1); }
static void ask_policy(void) { CHECK(sched_getscheduler(0) == policy); }

/* --- timers to its number --- */

static __thread int own;
static volatile int expired, astray;
static void on_timer(int signal)
{
    (void)signal;
    if (own != 1)
        astray++;
    expired++;
}
static void have_timer(void)
{
    struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
    CHECK(sigaction(SIGRTMIN + 1, &action, NULL) == 0);
    own = 1;
}
static void ask_timer(void)
{
    const struct itimerspec once = {{0, 0}, {0, 1000000}};
    struct sigevent event;
    timer_t timer;
    int before = expired;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGRTMIN + 1;
    event._sigev_un._tid = gettid();
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &once, NULL) == 0);
    while (expired == before) /* hangs where it does not come */
        ;
    CHECK(timer_delete(timer) == 0 && !astray && own == 1);
}
static void set_none(int i) { (void)i; }

/* --- mutexes --- */

static pthread_mutex_t mutex;
static int type, protocol, robust; /* of the mutex */

static void make_mutex(void)
{
    pthread_mutexattr_t attr;
    CHECK(pthread_mutexattr_init(&attr) == 0 && pthread_mutexattr_settype(&attr, type) == 0);
    CHECK(pthread_mutexattr_setprotocol(&attr, protocol) == 0 && pthread_mutexattr_setrobust(&attr, robust) == 0);
    CHECK(pthread_mutex_init(&mutex, &attr) == 0 && pthread_mutex_lock(&mutex) == 0);
}
/* Held when it is asked for, and afterwards. */
static void ask_mutex(void)
{
    int again = type == PTHREAD_MUTEX_ERRORCHECK ? pthread_mutex_lock(&mutex) : pthread_mutex_trylock(&mutex);
    if (type == PTHREAD_MUTEX_RECURSIVE)
        CHECK(again == 0 && pthread_mutex_unlock(&mutex) == 0);
    else
        CHECK(again == (type == PTHREAD_MUTEX_ERRORCHECK ? EDEADLK : EBUSY));
}
/* Given back, and taken anew. */
static void set_mutex(int i)
{
    (void)i;
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    usleep(100);
    CHECK(pthread_mutex_lock(&mutex) == 0);
}
#define MUTEX(name, a_type, a_protocol, a_robust) \
    static void name(void)                        \
    {                                             \
        type = (a_type);                          \
        protocol = (a_protocol);                  \
        robust = (a_robust);                      \
        make_mutex();                             \
    }
MUTEX(have_normal, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED)
MUTEX(have_recursive, PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED)
MUTEX(have_checking, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED)
MUTEX(have_robust, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST)
MUTEX(have_inheriting, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED)
MUTEX(have_robust_inheriting, PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_ROBUST)

/* --- all of it --- */

static const struct state {
    const char *name;
    void (*have)(void);   /* before the first trip: sets it */
    void (*ask)(void);    /* finds what was set last */
    void (*set)(int ith); /* sets something else */
} states[] = {
    {"number", have_number, ask_number, set_none},
    {"name", have_name, ask_name, set_name},
    {"processors", have_processor, ask_processor, set_processor},
    {"mask", have_mask, ask_mask, set_mask},
    {"alternate_stack", have_stack, ask_stack, set_stack},
    {"nice_value", have_nice, ask_nice, set_nice},
    {"policy", have_policy, ask_policy, set_policy},
    {"timers", have_timer, ask_timer, set_none},
    {"normal_mutex", have_normal, ask_mutex, set_mutex},
    {"recursive_mutex", have_recursive, ask_mutex, set_mutex},
    {"checking_mutex", have_checking, ask_mutex, set_mutex},
    {"robust_mutex", have_robust, ask_mutex, set_mutex},
    {"inheriting_mutex", have_inheriting, ask_mutex, set_mutex},
    {"robust_inheriting_mutex", have_robust_inheriting, ask_mutex, set_mutex},
};
#define STATES (int)(sizeof states / sizeof *states)

static const struct state *state;
static int ith;

static void goes_on(struct away *a)
{
    (void)a;
    if (ith % 2 == 0) /* the first thing there is to set it, or to ask */
        state->ask();
    state->set(++ith);
    state->ask();
}

static void *live(void *arg)
{
    struct away away;
    away_begin(&away, N, goes_on);
#pragma omp parallel num_threads(N)
    CHECK(omp_get_num_threads() == N); /* libomp sets the processors of a first region's opener */
    state->have();
    for (int i = 0; i < TRIPS; i++) {
        away_trip(&away, (enum away_wait)i, (enum away_stay)(i % AWAY_STAYS));
        if (i % 2)
            state->ask();
    }
    state->ask();
    fprintf(stderr, "  %ld times elsewhere\n", away.times);
    away_end(&away);
    return arg;
}

/* Each state of the program's own thread, then of another one. */
static const char *name_of(int i) { return kind_name_in(i >= STATES, states[i % STATES].name); }
static void run(int i)
{
    state = &states[i % STATES];
    kind_run_in(i >= STATES, live);
}

int main(int argc, char **argv)
{
    in_a_process_each(2 * STATES, name_of, run, argc > 1 ? argv[1] : NULL);
    return 0;
}
