/* Starting the library: configuration, vps and their slots; the handlers of fork.
 *
 * The library starts at the first call that needs it. Workers start when they are first woken (idle.c): a program that
 * uses two threads on a large machine has one worker. */
#include "life.h"

#include "check.h"
#include "current.h"
#include "debug_layout.h"
#include "dump_request.h"
#include "handoff.h"
#include "os.h"
#include "promote.h"
#include "psthread.h"
#include "quota_park.h"
#include "root_spread.h"
#include "sched.h"
#include "standby.h"
#include "tls.h"
#include "uth.h"
#include "victims.h"
#include "vp.h"
#include "vp_tls.h"
#include "watchdog.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_STACK_BYTES ((size_t)256 * 1024)
#define DEFAULT_SEARCH_NS UINT64_C(1000000)

struct life ps_life = {.start_lock = PTHREAD_MUTEX_INITIALIZER,
                       .settings = {.search_ns = UINT64_MAX, .max_spares = PS_MAX_SPARES}};

void ps_configure(const struct ps_settings *wanted) { ps_life.settings = *wanted; }

static struct vp *vp_new(unsigned id, bool is_guest)
{
    struct vp *vp = os_map(sizeof *vp);
    if (!vp)
        return NULL;
    san_root_made(vp, sizeof *vp);
    vp->id = id;
    vp->is_guest = is_guest;
    vp->own_uth = &vp->native;
    ps_queue_init(&vp->queue);
    ps_list_init(&vp->waiters.list);
    uth_cache_init(&vp->stacks);
    ps_store_relaxed(&vp->handoff, is_guest || id == 0 ? HANDOFF_BUSY : HANDOFF_IDLE);
    vp->deal = id % ps_rt.num_vps;
    vp->spin_ns = ps_rt.search_ns;
    ps_store_release(&ps_rt.vp[id], vp);
    return vp;
}

/* Pauses that take about as long as blocking and being resumed: two switches, two queue operations (balder-threads-2004
 * section 2 measures the same at start-up). */
static unsigned measure_spin_limit(void)
{
    enum { PAUSES = 64, TARGET_NS = 400 };
    uint64_t t0 = os_now_ns(), c0 = cpu_cycles();
    for (int i = 0; i < PAUSES; i++)
        cpu_pause();
    uint64_t cycles = cpu_cycles() - c0, ns = os_now_ns() - t0;
    ps_rt.recheck_cycles = cycles * PS_RECHECK_NS / (ns ? ns : 1);
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

static PS_NOINLINE void recheck_tls(struct vp *vp, uint64_t now)
{
    vp->rechecked_at = now;
    vp->opened = true;
    dump_request_look();
    quota_park_remind(now);
    ps_root_look(vp);
    if (PS_UNLIKELY(ps_load_relaxed(&ps_rt.num_slots) > ps_rt.num_vps)) {
        ps_root_spread_look(vp, now);
        watchdog_arm(); /* root_fairness.h */
    }
    if (uth_tls_recheck() && !ps_tls_on())
        ps_store_relaxed(&ps_rt.tls, true);
}

uint64_t ps_recheck_tls(struct vp *vp)
{
    uint64_t now = cpu_cycles();
    if (PS_UNLIKELY(now - vp->rechecked_at >= ps_rt.recheck_cycles))
        recheck_tls(vp, now);
    return now;
}

bool ps_stack_size_sensible(size_t bytes)
{
    return bytes >= PSTHREAD_STACK_MIN && bytes <= ((size_t)1 << (sizeof(size_t) > 4 ? 36 : 30));
}

/* Bytes of a thread's stack. */
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

/* A slot from id `first` on that is free: 0, or a guest's; made at need. NULL: there are too many, or no memory. */
struct vp *life_claim_slot(unsigned first, uint32_t attached)
{
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned id = first; id < slots; id = id ? id + 1 : ps_rt.num_vps) {
        struct vp *vp = ps_vp_at(id);
        uint32_t no = 0;
        if (!ps_load_relaxed(&vp->attached) && ps_cas_seq(&vp->attached, &no, attached))
            return vp;
    }
    /* A handler that waits there for others, who send signals, would have the lock (a collector that stops threads). */
    uint64_t mask = os_signal_mask();
    os_set_signal_mask(OS_ALL_SIGNALS);
    pthread_mutex_lock(&ps_life.start_lock);
    slots = ps_load_relaxed(&ps_rt.num_slots);
    struct vp *vp = slots < PS_MAX_VPS ? vp_new(slots, true) : NULL;
    if (vp) {
        ps_store_relaxed(&vp->attached, attached);
        ps_store_release(&ps_rt.num_slots, slots + 1);
    }
    pthread_mutex_unlock(&ps_life.start_lock);
    os_set_signal_mask(mask);
    return vp;
}

void life_forget_vps(void)
{
    for (unsigned i = 0; i < PS_MAX_VPS; i++) {
        struct vp *vp = ps_load_relaxed(&ps_rt.vp[i]);
        if (!vp)
            break;
        ps_store_relaxed(&ps_rt.vp[i], NULL);
        san_root_gone(vp, sizeof *vp);
        os_unmap(vp, sizeof *vp);
    }
    victims_forget();
    ps_life.forked = NULL;
}

/* Among ranks of an MPI job that share the machine: what is this one's, and why. */
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

/* What stays as it is until the library stops. */
static void set_constants(const psthread_config_t *config, unsigned num_vps, size_t stack)
{
    memset(&ps_rt, 0, sizeof ps_rt);
    ps_rt.num_vps = num_vps;
    ps_rt.stack_size = stack;
    ps_rt.has_global = config && config->global_queue;
    ps_queue_init(&ps_rt.global);
    ps_rt.spin_limit = measure_spin_limit();
    ps_rt.search_ns = ps_life.settings.search_ns == UINT64_MAX ? DEFAULT_SEARCH_NS : ps_life.settings.search_ns;
    ps_rt.search_learns = ps_life.settings.search_ns == UINT64_MAX;
    ps_rt.block_on_idle = ps_life.settings.passive;
    ps_rt.predicts_serial = num_vps > 1 && !ps_life.settings.passive;
    ps_rt.max_spares = spares_wanted(config);
}

static int make_vps(unsigned n)
{
    for (unsigned id = 0; id < n; id++)
        if (!vp_new(id, false)) {
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
    if (!ps_life.settings.stack_bytes ||
        (config && config->stack_size)) /* who joins a thread may run it on what is left of its own stack */
        stack += stack / (UTH_CALL_SHARE - 1) + 1;
    uth_init(stack);
    set_constants(config, (unsigned)n, stack);
    watchdog_reset();
    standby_reset();
    ps_promote_in_this_process();
    ps_rt.verbose = os_env("PSTHREADS_VERBOSE") != NULL;
    if (ps_rt.verbose)
        tell_share(ps_rt.num_vps);
    ps_store_relaxed(&ps_rt.tls, uth_tls_init(tls_mode(), ps_rt.verbose));
    if (ps_tls_on())
        vp_prepare_tls();
    victims_reset();
    err = make_vps((unsigned)n);
    if (err)
        return err;
    ps_store_release(&ps_rt.num_slots, (uint32_t)n);
    quota_park_init();
    /* The user's own order holds from the first steal; hwloc's is read by a vp that has nothing else to do. */
    if (victims_are_given())
        ps_prepare_victims();
    uth_overflow_install(ps_current_uth, ps_life.settings.describe ? ps_life.settings.describe : describe_current,
                         ps_life.settings.stack_variable ? ps_life.settings.stack_variable : "PSTHREADS_STACKSIZE");
    dump_request_start();
    ps_store_release(&ps_life.started, 1);
    return 0;
}

extern const struct ps_debug_layout ps_debug_layout;
struct dump_process dump_this_process(void)
{
    return (struct dump_process){
        .pid = getpid(), .layout = (uintptr_t)&ps_debug_layout, .openmp = (uintptr_t)ps_life.settings.debug_layout};
}

/* No fork while the library starts, or makes a slot: a child could neither go on from there nor begin anew. Handlers
 * run the last registered first: what is asked for while start_lock is held (loaded objects) must be locked after
 * it. */
static void before_fork(void)
{
    pthread_mutex_lock(&ps_life.start_lock);
    uth_tls_before_fork();
}
static void after_fork_in_parent(void)
{
    uth_tls_after_fork(false);
    pthread_mutex_unlock(&ps_life.start_lock);
}
static void after_fork_in_child(void)
{
    uth_tls_after_fork(true);
    pthread_mutex_init(&ps_life.start_lock, NULL);
    ps_after_fork_in_child();
}
/* From the beginning: a fork that is under way when another kernel thread starts the library runs no handler that comes
 * late. */
__attribute__((constructor)) static void sched_watch_forks(void)
{
    os_objects_init();
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    os_loading_init();
}

void ps_start(void)
{
    if (PS_LIKELY(ps_load_acquire(&ps_life.started)))
        return;
    pthread_mutex_lock(&ps_life.start_lock);
    int err = ps_load_relaxed(&ps_life.started) ? 0 : start_locked(NULL);
    pthread_mutex_unlock(&ps_life.start_lock);
    if (err)
        ps_fatal("cannot start: %s", strerror(err));
}

int psthread_init(const psthread_config_t *config)
{
    pthread_mutex_lock(&ps_life.start_lock);
    int err = ps_load_relaxed(&ps_life.started) ? EBUSY : start_locked(config);
    pthread_mutex_unlock(&ps_life.start_lock);
    if (!err)
        ps_life.starter = ps_vp_attach();
    return err;
}

unsigned psthread_num_vps(void)
{
    ps_start();
    return ps_rt.num_vps;
}
