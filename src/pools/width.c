/* How many threads a library's call may use: its width. width_policy.h decides.
 *
 * There are two states. WIDE: every call comes to us, and the calls themselves take samples: at most one a millisecond,
 * or at each call while several threads call. NARROW: a call with one job does not come to us, so perhaps none does.
 * Therefore a kernel thread of ours, the sampler, takes a sample every few milliseconds until the state is WIDE again;
 * then it sleeps. The sampler is started when the state first becomes NARROW, so a program that never needs it has
 * none.
 *
 * The state changes under one lock. A call only tries to take it: if another thread has it, the call takes no sample.
 * No wake-up is lost: the state becomes NARROW, and the sampler is signalled, under the lock under which the sampler
 * looks before it sleeps. After a fork the child is WIDE and has no sampler. */
#include "pools.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "width_policy.h"

enum {
    CALL_SAMPLE_US = 1000,
    TICK_US = 2000,
    LATE_US = 300,    /* a sampler that wakes later than this had to wait for a processor */
    CALLER_US = 5000, /* a thread that has called in this time counts as a caller */
    CALLERS = 64,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t narrowed = PTHREAD_COND_INITIALIZER;
static struct width_policy policy; /* its `processors` is 0 until the first call */
static bool has_sampler;
static uint64_t last_us, last_cpu_us, last_preempted;
/* The width. Written by the holder of the lock, read by any thread; publishes nothing else, so relaxed. Before the
 * first call it has no limit. */
static _Atomic(unsigned) width_now = UINT_MAX;
static _Atomic(uint64_t) called_at_us[CALLERS]; /* [hash of a thread]: its last call; written by that thread, relaxed */

unsigned pools_width_now(void) { return ps_load_relaxed(&width_now); }

static uint64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Returns how many threads have called lately. Two threads with the same hash count as one. */
static unsigned count_callers(uint64_t now)
{
    unsigned n = 0;
    for (unsigned i = 0; i < CALLERS; i++) {
        uint64_t at = ps_load_relaxed(&called_at_us[i]);
        n += at != 0 && now - at < CALLER_US;
    }
    return n;
}

static void note_caller(uint64_t now)
{
    uint64_t self = (uint64_t)pthread_self();
    ps_store_relaxed(&called_at_us[(self * 0x9e3779b97f4a7c15U) >> 58], now);
}

static uint64_t microseconds(struct timeval t) { return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec; }

static bool is_narrow(void) { return policy.width < policy.processors; }

/* Makes the policy's width known: to callers of pools_width_now, and to all OpenBLAS libraries. So a call of OpenBLAS
 * has at most as many jobs as there are processors, even if the program allows more. With more jobs, which wait for one
 * another, some would wait for jobs without a processor. */
static void set_width(void)
{
    ps_store_relaxed(&width_now, policy.width);
    openblas_set_width(policy.width);
}

/* Takes a sample and lets the policy decide. idle: a processor was idle when the sample was due. The caller holds the
 * lock. */
static void take_sample(uint64_t now, bool idle)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    uint64_t cpu = microseconds(used.ru_utime) + microseconds(used.ru_stime), preempted = (uint64_t)used.ru_nivcsw;
    struct width_sample s = {.at_us = now,
                             .wall_us = now > last_us ? now - last_us : 1,
                             .cpu_us = cpu > last_cpu_us ? cpu - last_cpu_us : 0,
                             .preempted = preempted - last_preempted,
                             .callers = count_callers(now),
                             .idle = idle};
    last_us = now;
    last_cpu_us = cpu;
    last_preempted = preempted;
    unsigned before = policy.width, width = width_policy_step(&policy, &s);
    if (width != before)
        set_width();
}

/* The sampler. Its policy is SCHED_BATCH, so on waking it preempts no other thread. The threads that compute are not
 * disturbed, and the sampler runs late if no processor is idle. */
static void *sampler(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "psthreads-pools");
    syscall(SYS_sched_setscheduler, 0, SCHED_BATCH, &(struct sched_param){0});
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!is_narrow())
            pthread_cond_wait(&narrowed, &lock);
        pthread_mutex_unlock(&lock);
        uint64_t due = now_us() + TICK_US;
        nanosleep(&(struct timespec){.tv_nsec = TICK_US * 1000}, NULL);
        uint64_t now = now_us();
        pthread_mutex_lock(&lock);
        take_sample(now, now - due < LATE_US);
    }
    return NULL;
}

/* Starts the sampler. If that fails, the state becomes WIDE again at once: otherwise it would stay NARROW for ever. The
 * caller holds the lock. */
static void start_sampler(void)
{
    sigset_t all, before;
    pthread_t thread;
    pthread_attr_t attr;
    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    has_sampler = pthread_create(&thread, &attr, sampler, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    if (!has_sampler) {
        policy.width = policy.processors;
        set_width();
    }
}

void pools_width_at_call(void)
{
    uint64_t now = now_us();
    note_caller(now);
    if (pthread_mutex_trylock(&lock) != 0)
        return;
    if (policy.processors == 0) {
        width_policy_init(&policy, pools_core->num_vps());
        set_width();
    }
    if (now - last_us >= CALL_SAMPLE_US || count_callers(now) > 1) {
        take_sample(now, false);
        if (is_narrow()) {
            if (!has_sampler)
                start_sampler();
            pthread_cond_signal(&narrowed);
        }
    }
    pthread_mutex_unlock(&lock);
}

void pools_width_after_fork(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&narrowed, NULL);
    has_sampler = false;
    policy.processors = 0;
    last_us = last_cpu_us = last_preempted = 0;
    ps_store_relaxed(&width_now, UINT_MAX);
}
