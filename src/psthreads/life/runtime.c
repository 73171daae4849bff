/* Starting the library: configuration, the vps and their table; the handlers of fork.
 *
 * The library starts at the first call that needs it. Each worker starts when it is first woken (idle.c): a program
 * that uses two threads on a large machine has one worker. */
#include "life.h"
#include "run.h"

#include "check.h"
#include "current.h"
#include "deadlock.h"
#include "dedicated.h"
#include "dump_request.h"
#include "loop.h"
#include "os.h"
#include "psthread.h"
#include "quota_park.h"
#include "recall.h"
#include "scheduler.h"
#include "share.h"
#include "standby.h"
#include "team.h"
#include "tls.h"
#include "upcalls.h"
#include "uth.h"
#include "victims.h"
#include "vp_tls.h"
#include "watchdog.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_STACK_BYTES ((size_t)256 * 1024)
#define DEFAULT_SEARCH_NS UINT64_C(1000000)

const struct ps_upcalls ps_upcalls = {
    .attach = life_attach_root,
    .loop = vp_loop_main,
    .before_sleep = deadlock_look,
    .carry = vp_enter_loop,
    .watch = watchdog_main,
    .late_member = ps_member_late_main,
    .await_first = recall_await,
    .run_team = ps_team_run,
    .leave_waiters = ps_team_barrier_leave,
};

void ps_configure(const struct ps_settings *wanted) { ps_life.settings = *wanted; }

/* Returns how many pauses of the processor take about as long as blocking and being resumed: two switches and two queue
 * operations (balder-threads-2004 section 2 measures this at the start, too). Sets per_region_cycles from the same
 * measurement. */
static unsigned measure_spin_limit(void)
{
    enum { PAUSES = 64, TARGET_NS = 400 };
    uint64_t t0 = os_now_ns(), c0 = cpu_cycles();
    for (int i = 0; i < PAUSES; i++)
        cpu_pause();
    uint64_t cycles = cpu_cycles() - c0, ns = os_now_ns() - t0;
    ps_rt.per_region_cycles = cycles * PS_PER_REGION_NS / (ns ? ns : 1);
    uint64_t limit = TARGET_NS * PAUSES / (ns ? ns : 1);
    return limit < 4 ? 4 : limit > 400 ? 400 : (unsigned)limit;
}

static enum uth_tls_mode tls_mode(void)
{
    const char *wish = os_env("PSTHREADS_TLS");
    if (!wish || !strcmp(wish, "auto"))
        return UTH_TLS_AUTO;
    if (!strcmp(wish, "always"))
        return UTH_TLS_ALWAYS;
    if (!strcmp(wish, "never"))
        return UTH_TLS_NEVER;
    ps_warn("PSTHREADS_TLS=%s: not auto, always or never; using auto instead", wish);
    return UTH_TLS_AUTO;
}

/* Returns the size of a thread's stack in bytes: from config, from the settings, from PSTHREADS_STACKSIZE, or the
 * default. */
static size_t stack_wanted(const psthread_config_t *config)
{
    size_t bytes = config && config->stack_size ? config->stack_size : ps_life.settings.stack_bytes;
    if (bytes)
        return bytes;
    if (os_env_size("PSTHREADS_STACKSIZE", 1024, &bytes, "256 KiB") && !ps_stack_size_sensible(bytes)) {
        ps_warn("PSTHREADS_STACKSIZE is %zu bytes, which is not from %u to 64 GiB; using 256 KiB instead", bytes,
                PSTHREAD_STACK_MIN);
        bytes = 0;
    }
    return bytes ? bytes : DEFAULT_STACK_BYTES;
}

/* Reports how many processors this process has among the ranks of an MPI job on this machine, and why
 * (PSTHREADS_VERBOSE). */
static void tell_share(unsigned n)
{
    struct os_ranks ranks;
    os_ranks(&ranks);
    if (ranks.size)
        ps_warn("rank %u of %u on this machine: %u of %u processors (%s)", ranks.rank, ranks.size, n, ranks.processors,
                ranks.size == 1 ? "alone"
                : ranks.bound   ? "the launcher's binding"
                                : "dealt evenly");
}

static void describe_current(char *buf, size_t bytes)
{
    struct psthread *t = ps_current();
    if (!t)
        snprintf(buf, bytes, "a scheduler loop");
    else if (t->flags & PS_T_ROOT)
        snprintf(buf, bytes, "a root thread");
    else
        snprintf(buf, bytes, "thread %p of level %u", (void *)t, t->level);
}

static unsigned spares_wanted(const psthread_config_t *config)
{
    if (!config || !config->max_spares)
        return ps_life.settings.max_spares;
    return config->max_spares == PSTHREAD_NO_SPARES ? 0 : config->max_spares;
}

/* Clears ps_rt, and sets the fields that do not change until the library stops. */
static void set_constants(const psthread_config_t *config, unsigned num_vps, size_t stack)
{
    memset(&ps_rt, 0, sizeof ps_rt);
    ps_rt.num_vps = num_vps;
    cpu_float_save(&ps_rt.floats);
    ps_rt.floats_of_opener = ps_life.settings.floats_of_opener;
    ps_rt.stack_size = stack;
    ps_rt.has_global = config && config->global_queue;
    ps_queue_init(&ps_rt.global);
    ps_rt.spin_limit = measure_spin_limit();
    ps_rt.search_ns = ps_life.settings.search_ns == UINT64_MAX ? DEFAULT_SEARCH_NS : ps_life.settings.search_ns;
    ps_rt.search_learns = ps_life.settings.search_ns == UINT64_MAX;
    ps_rt.block_on_idle = ps_life.settings.passive;
    ps_rt.predicts_serial = num_vps > 1 && !ps_life.settings.passive;
    ps_rt.max_spares = spares_wanted(config);
    ps_rt.homes_stand_aside = ps_life.settings.root_exit != NULL;
}

/* Warns of environment variables that begin with PSTHREADS_ and that no part of the project reads. */
static void check_variables(void)
{
    static const char *const names[] = {"PSTHREADS_NUM_VPS",
                                        "PSTHREADS_STACKSIZE",
                                        "PSTHREADS_TLS",
                                        "PSTHREADS_VERBOSE",
                                        "PSTHREADS_DUMP",
                                        "PSTHREADS_MPI",
                                        "PSTHREADS_MPI_COLLECTIVES",
                                        "PSTHREADS_MPI_TASK_ORDER",
                                        "PSTHREADS_EE",
                                        "PSTHREADS_HOME",
                                        "PSTHREADS_POOLS",
                                        "PSTHREADS_CENSUS",
                                        "PSTHREADS_CENSUS_AT",
                                        "PSTHREADS_TRACE",
                                        "PSTHREADS_SHARE",
                                        "PSTHREADS_STATS",
                                        "PSTHREADS_TRACE_LIMIT",
                                        "PSTHREADS_RECORDING",
                                        "PSTHREADS_PEERS",
                                        "PSTHREADS_TASKQC_CC"};
    static bool done;
    if (!done)
        os_env_check_names("PSTHREADS_", names, sizeof names / sizeof names[0]);
    done = true;
}

static int make_vps(unsigned n)
{
    for (unsigned id = 0; id < n; id++)
        if (!life_make_vp(id, false)) {
            life_forget_vps();
            return ENOMEM;
        }
    int err = pthread_key_create(&ps_life.root_key, life_root_ended);
    if (err)
        life_forget_vps();
    return err;
}

static int start_locked(const psthread_config_t *config)
{
    unsigned long n = config && config->num_vps ? config->num_vps : ps_life.settings.num_vps;
    if (!n && !os_env_unsigned("PSTHREADS_NUM_VPS", 1, PS_MAX_WORKERS, &n, "one per usable processor"))
        n = os_num_procs();
    if (n > PS_MAX_WORKERS)
        return EINVAL;
    if (config && config->stack_size && !ps_stack_size_sensible(config->stack_size))
        return EINVAL;
    int err = victims_read_groups(config, (unsigned)n);
    if (err)
        return err;
    size_t stack = stack_wanted(config);
    /* Stacks are larger than was asked for, because a joiner may run a thread in the unused part of its own stack. A
     * size from the settings stays as it is. */
    if (!ps_life.settings.stack_bytes || (config && config->stack_size))
        stack += stack / (UTH_CALL_SHARE - 1) + 1;
    uth_init(stack);
    set_constants(config, (unsigned)n, stack);
    watchdog_reset();
    standby_reset();
    ps_dedicate_in_this_process();
    check_variables();
    ps_rt.verbose = os_env_switch("PSTHREADS_VERBOSE");
    if (ps_rt.verbose)
        tell_share(ps_rt.num_vps);
    ps_store_relaxed(&ps_rt.tls, uth_tls_init(tls_mode(), ps_rt.verbose));
    if (ps_tls_on())
        vp_prepare_tls();
    victims_reset();
    err = make_vps((unsigned)n);
    if (err)
        return err;
    ps_store_release(&ps_rt.table_size, (uint32_t)n);
    quota_park_init();
    share_configure();
    /* An order of stealing that the program has given holds from the first theft. The machine's order is computed
     * later, by a vp that has found no work. */
    if (victims_are_given())
        ps_prepare_victims();
    uth_overflow_install(ps_current_uth, ps_life.settings.describe ? ps_life.settings.describe : describe_current,
                         ps_life.settings.stack_variable ? ps_life.settings.stack_variable : "PSTHREADS_STACKSIZE");
    dump_request_start();
    ps_store_release(&ps_life.started, 1);
    return 0;
}

/* No fork happens while the library starts or stops: a child could neither finish what its parent had begun, nor start
 * the library anew. A start takes the lock of the loaded objects while it holds start_lock. So the handlers before a
 * fork must lock in this order, too. fork calls these handlers in the reverse order of their registration:
 * os_objects_init registers its own first (watch_forks).
 *
 * The thread that forks stays on its kernel thread until the fork is over, whatever it waits for in the C library. It
 * holds the C library's locks then, malloc's among them, and without these no kernel thread could be started to run it
 * again. */
/* Guarded by start_lock. forks_on: the vp of the thread that forks. was_held: the `held` of that vp before the fork; it
 * may be set already, because the program's malloc may fork. */
static struct vp *forks_on;
static bool was_held;

/* Signals are blocked while the locks are held. Otherwise a handler that runs here, and waits for a handler in another
 * thread, would keep the locks meanwhile. */
static uint64_t mask_of_forker; /* the mask before the fork; guarded by start_lock */
uint64_t life_mask_of_forker(void) { return mask_of_forker; }

static void before_fork(void)
{
    uint64_t mask = os_swap_signal_mask(OS_ALL_SIGNALS);
    pthread_mutex_lock(&ps_life.start_lock);
    forks_on = ps_vp();
    if (forks_on) {
        was_held = vp_run(forks_on)->held;
        vp_run(forks_on)->held = true;
    }
    uth_tls_before_fork();
    mask_of_forker = mask;
}
static void has_forked(void)
{
    if (forks_on)
        vp_run(forks_on)->held = was_held;
    forks_on = NULL;
}
static void after_fork_in_parent(void)
{
    uint64_t mask = mask_of_forker;
    uth_tls_after_fork();
    has_forked();
    pthread_mutex_unlock(&ps_life.start_lock);
    os_set_signal_mask(mask);
}
static void after_fork_in_child(void)
{
    uint64_t mask = mask_of_forker;
    uth_tls_after_fork();
    has_forked();
    pthread_mutex_init(&ps_life.slot_lock, NULL);
    pthread_mutex_init(&ps_life.start_lock, NULL);
    os_set_signal_mask(mask); /* before the next call, which notes this mask as the thread's */
    ps_after_fork_in_child();
}
/* Registers the handlers of fork when the library is loaded. A fork that is under way when another kernel thread starts
 * the library would not run handlers that are registered then. The handlers here are registered before those of the
 * program and of the libraries that need this one. So before a fork the program's handlers run first, find the library
 * in its normal state, and may wait for any thread. In the child the program's handlers run later, and find the library
 * made anew. */
__attribute__((constructor)) static void watch_forks(void)
{
    os_objects_init();
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

struct starting {
    uint64_t mask;
    int cancelable;
};
/* Takes start_lock, with signals blocked and cancellation disabled. A signal's handler that interrupts the start, here
 * or on a kernel thread that the start makes, might call OpenMP. It would wait for start_lock, which the thread below
 * it holds. A thread that is cancelled in a cancellation point of the C library (pthread_join) would end while it holds
 * the lock. */
static struct starting begin_start(void)
{
    struct starting before = {.mask = os_swap_signal_mask(OS_ALL_SIGNALS)};
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before.cancelable);
    pthread_mutex_lock(&ps_life.start_lock);
    return before;
}
static void end_start(struct starting before)
{
    pthread_mutex_unlock(&ps_life.start_lock);
    pthread_setcancelstate(before.cancelable, NULL);
    os_set_signal_mask(before.mask);
}

void ps_start(void)
{
    if (PS_LIKELY(ps_load_acquire(&ps_life.started)))
        return;
    struct starting before = begin_start();
    int err = ps_load_relaxed(&ps_life.started) ? 0 : start_locked(NULL);
    end_start(before);
    if (err)
        ps_fatal("cannot start: %s", strerror(err));
}

int psthread_init(const psthread_config_t *config)
{
    struct starting before = begin_start();
    int err = ps_load_relaxed(&ps_life.started) ? EBUSY : start_locked(config);
    end_start(before);
    if (!err)
        ps_life.starter = ps_vp_attach();
    return err;
}

unsigned psthread_num_vps(void)
{
    ps_start();
    return ps_rt.num_vps;
}
