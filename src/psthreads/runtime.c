/* Starting and stopping the library: configuration, vps, roots, the forked child.
 *
 * The library starts at the first call that needs it. Workers start when they are first woken (idle.c): a program that
 * uses two threads on a large machine has one worker. Roots attach at their first call and detach when their kernel
 * thread ends (a pthread key's destructor).
 *
 * start_lock guards init, finalize, and the making of slots; a pthread mutex, since any kernel thread may come. */
#include "runtime.h"
#include "address_wait.h"
#include "bind.h"
#include "check.h"
#include "current.h"
#include "debug_layout.h"
#include "directed.h"
#include "divided.h"
#include "dump_request.h"
#include "ghosts.h"
#include "handoff.h"
#include "idle.h"
#include "key.h"
#include "loop.h"
#include "os.h"
#include "promote.h"
#include "psthread.h"
#include "quota_park.h"
#include "root_spread.h"
#include "sched.h"
#include "search.h"
#include "sources.h"
#include "standby.h"
#include "starter.h"
#include "steal.h"
#include "team.h"
#include "timer.h"
#include "tls.h"
#include "uth.h"
#include "vp.h"
#include "vp_tls.h"
#include "watchdog.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_STACK_BYTES ((size_t)256 * 1024)
#define DEFAULT_SEARCH_NS UINT64_C(1000000)
#define WORKER_STACK_BYTES ((size_t)64 * 1024) /* of the kernel thread itself: it only enters and leaves the loop */

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t started;
static pthread_key_t root_key;
static struct vp
    *starter; /* the root that called psthread_init; NULL: started by the first other call, vp 0 is its root's */
static unsigned group_size[OS_MAX_LEVELS], num_levels;
static _Atomic uint32_t victims_prepared;
static struct ps_settings settings = {.search_ns = UINT64_MAX, .max_spares = PS_MAX_SPARES};

void ps_configure(const struct ps_settings *wanted) { settings = *wanted; }

static void forget_worker(void) { ps_sub_seq(&ps_rt.num_kernel_threads, 1); }

/* --- workers --- */

static void spare_ended(struct vp *vp)
{
    vp->is_spare = false;
    ps_store_release(&vp->attached, 0);
    if (!ps_queue_seems_empty(&vp->queue)) /* threads that last ran here: anybody's now */
        idle_notify(NULL);
    forget_worker();
    ps_sub_seq(&ps_watchdog.spares, 1); /* last: who stops the library waits for it */
}

void *vp_worker_main(void *arg)
{
    struct vp *vp = arg;
    os_thread_name(vp->is_spare ? "psthreads-spare" : "psthreads-vp");
    uth_overflow_thread_init();
    vp_carry(vp);
    if (uth_adopt(&vp->native) != 0)
        ps_fatal("out of memory: a virtual processor cannot start");
    vp->native.vp = vp;
    vp->uth = &vp->native;
    ps_store_relaxed(&vp->tid, os_thread_id());
    vp->own_tp = cpu_get_tp();
    vp->own_errno = &errno;
    vp->tls = NULL;
    ps_store_release(&vp->attached, vp->is_spare ? PS_ATTACHED_OURS : PS_ATTACHED);
    vp->place = 0; /* of the kernel thread that carried it before */
    if (vp->by_watchdog)
        vp_take_signals(vp);
    if (vp->is_spare) {
        ps_sub_release(&ps_watchdog.coming, 1);
    }
    vp_enter_loop(vp);
    vp->is_deaf = false; /* the mask stays: nobody's code runs here any more, or a standby sets its own */
    uth_cache_drain(&vp->stacks);
    uth_tls_drain(&vp->blocks);
    uth_release(&vp->native);
    uth_overflow_thread_fini();
    bind_lift(); /* a standby carries others */
    vp_carry(NULL);
    if (vp->is_spare) {
        spare_ended(vp);
        return NULL;
    }
    bool by_standby = ps_load_relaxed(&vp->by_standby) == PS_STANDBY_CARRIES; /* else nobody may wait for it below */
    ps_store_release(&vp->attached, 0);
    if (by_standby)
        ps_store_release(&vp->by_standby, PS_STANDBY_THROUGH);
    return NULL;
}

/* A parked standby carries the worker, as if the watchdog had started it. */
static bool hand_to_standby(struct vp *vp)
{
    vp->by_watchdog = true;
    ps_store_relaxed(&vp->by_standby, PS_STANDBY_CARRIES);
    if (standby_run(vp_worker_main, vp))
        return true;
    ps_store_relaxed(&vp->by_standby, PS_STANDBY_NONE);
    return false;
}

static int start_kernel_thread(struct vp *vp)
{
    struct vp *here = ps_vp();
    vp->is_deaf = false;
    if (hand_to_standby(vp))
        return 0;
    if (here && starter_is_changed(here)) {
        vp->by_watchdog = true;
        int err = starter_ask(&vp->kernel_thread, vp_worker_main, vp, WORKER_STACK_BYTES);
        if (err != EBUSY)
            return err;
    }
    vp->by_watchdog = here == NULL;
    if (here && here->is_deaf) { /* its mask is inherited */
        vp->deaf_mask = here->deaf_mask;
        vp->is_deaf = true;
    }
    bind_lift();
    int err = os_thread_start(&vp->kernel_thread, vp_worker_main, vp, WORKER_STACK_BYTES, false);
    bind_lower();
    return err;
}

int vp_start_worker(struct vp *vp)
{
    static _Atomic uint32_t said;
    ps_add_seq(&ps_rt.num_kernel_threads, 1);
    int err = start_kernel_thread(vp);
    if (err) {
        forget_worker();
        if (!ps_xchg_acq_rel(&said, 1))
            ps_warn("the system refuses another kernel thread (%s): going on with %u of %u", strerror(err),
                    ps_load_relaxed(&ps_rt.num_kernel_threads) + 1, ps_rt.num_vps);
    } else {
        ps_store_release(&vp->started, PS_WORKER_RUNS);
    }
    return err;
}

/* --- start --- */

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

static void root_ended(void *arg);
static void end_last_root(struct vp *vp);
static _Atomic uint32_t main_ended; /* the process's initial thread: see end_last_root */

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

#define ORDERS_BYTES(n) ((size_t)(n) * (n) * sizeof(uint16_t))
static uint16_t *victim_orders; /* of all vps, one behind the other; by the one who prepares them */

bool ps_stack_size_sensible(size_t bytes)
{
    return bytes >= PSTHREAD_STACK_MIN && bytes <= ((size_t)1 << (sizeof(size_t) > 4 ? 36 : 30));
}

static int read_steal_groups(const psthread_config_t *config, unsigned num_vps)
{
    unsigned levels = config ? config->num_levels : 0;
    if (levels > OS_MAX_LEVELS || (levels && !config->group_size))
        return EINVAL;
    for (unsigned i = 0; i < levels; i++) {
        unsigned size = config->group_size[i];
        if (!size || size > num_vps || (i && size < config->group_size[i - 1]))
            return EINVAL;
        group_size[i] = size;
    }
    num_levels = levels;
    return 0;
}

/* Bytes of a thread's stack. */
static size_t stack_wanted(const psthread_config_t *config)
{
    size_t bytes = config && config->stack_size ? config->stack_size : settings.stack_bytes;
    if (bytes)
        return bytes;
    if (os_env_size("PSTHREADS_STACKSIZE", 1024, &bytes, "256 KiB") && !ps_stack_size_sensible(bytes)) {
        ps_warn("PSTHREADS_STACKSIZE is %zu bytes, which is not from %u to 64 GiB; using 256 KiB instead", bytes,
                PSTHREAD_STACK_MIN);
        bytes = 0;
    }
    return bytes ? bytes : DEFAULT_STACK_BYTES;
}

/* In a child that no root forked: the vp of its first kernel thread. It may be a worker's, and is never left. */
static struct vp *forked;

static void forget_vps(void)
{
    for (unsigned i = 0; i < PS_MAX_VPS; i++) {
        struct vp *vp = ps_load_relaxed(&ps_rt.vp[i]);
        if (!vp)
            break;
        ps_store_relaxed(&ps_rt.vp[i], NULL);
        san_root_gone(vp, sizeof *vp);
        os_unmap(vp, sizeof *vp);
    }
    if (victim_orders)
        os_unmap(victim_orders, ORDERS_BYTES(ps_rt.num_vps));
    victim_orders = NULL;
    forked = NULL;
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
        return settings.max_spares;
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
    ps_rt.search_ns = settings.search_ns == UINT64_MAX ? DEFAULT_SEARCH_NS : settings.search_ns;
    ps_rt.search_learns = settings.search_ns == UINT64_MAX;
    ps_rt.block_on_idle = settings.passive;
    ps_rt.predicts_serial = num_vps > 1 && !settings.passive;
    ps_rt.max_spares = spares_wanted(config);
}

static int make_vps(unsigned n)
{
    for (unsigned id = 0; id < n; id++)
        if (!vp_new(id, false)) {
            forget_vps();
            return ENOMEM;
        }
    int err = pthread_key_create(&root_key, root_ended);
    if (err)
        forget_vps();
    return err;
}

static int start_locked(const psthread_config_t *config)
{
    unsigned long n = config && config->num_vps ? config->num_vps : settings.num_vps;
    if (!n && !os_env_unsigned("PSTHREADS_NUM_VPS", 1, PS_MAX_VPS / 2, &n, "one per usable processor"))
        n = os_num_procs();
    if (n > PS_MAX_VPS / 2)
        return EINVAL;
    if (config && config->stack_size && !ps_stack_size_sensible(config->stack_size))
        return EINVAL;
    int err = read_steal_groups(config, (unsigned)n);
    if (err)
        return err;
    size_t stack = stack_wanted(config);
    if (!settings.stack_bytes ||
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
    ps_store_relaxed(&victims_prepared, 0);
    err = make_vps((unsigned)n);
    if (err)
        return err;
    ps_store_release(&ps_rt.num_slots, (uint32_t)n);
    quota_park_init();
    if (num_levels) /* the user's own order holds from the first steal; hwloc's is read by who has nothing else to do */
        ps_prepare_victims();
    uth_overflow_install(ps_current_uth, settings.describe ? settings.describe : describe_current,
                         settings.stack_variable ? settings.stack_variable : "PSTHREADS_STACKSIZE");
    dump_request_start();
    ps_store_release(&started, 1);
    return 0;
}

extern const struct ps_debug_layout ps_debug_layout;
struct dump_process dump_this_process(void)
{
    return (struct dump_process){
        .pid = getpid(), .layout = (uintptr_t)&ps_debug_layout, .openmp = (uintptr_t)settings.debug_layout};
}

/* No fork while the library starts, or makes a slot: a child could neither go on from there nor begin anew. Handlers
 * run the last registered first: what is asked for while start_lock is held (loaded objects) must be locked after
 * it. */
static void before_fork(void)
{
    pthread_mutex_lock(&start_lock);
    uth_tls_before_fork();
}
static void after_fork_in_parent(void)
{
    uth_tls_after_fork();
    pthread_mutex_unlock(&start_lock);
}
static void after_fork_in_child(void)
{
    uth_tls_after_fork();
    pthread_mutex_init(&start_lock, NULL);
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
    if (PS_LIKELY(ps_load_acquire(&started)))
        return;
    pthread_mutex_lock(&start_lock);
    int err = ps_load_relaxed(&started) ? 0 : start_locked(NULL);
    pthread_mutex_unlock(&start_lock);
    if (err)
        ps_fatal("cannot start: %s", strerror(err));
}

int psthread_init(const psthread_config_t *config)
{
    pthread_mutex_lock(&start_lock);
    int err = ps_load_relaxed(&started) ? EBUSY : start_locked(config);
    pthread_mutex_unlock(&start_lock);
    if (!err)
        starter = ps_vp_attach();
    return err;
}

unsigned psthread_num_vps(void)
{
    ps_start();
    return ps_rt.num_vps;
}

/* --- visiting orders --- */

static void name_levels(const struct os_topology *topo)
{
    char(*name)[sizeof ps_rt.level_name[0]] = ps_rt.level_name;
    memset(name, 0, sizeof ps_rt.level_name);
    for (unsigned i = 0; i < num_levels; i++) {
        memcpy(name[i], "group", sizeof "group");
        name[i][sizeof "group" - 1] = (char)('1' + i);
    }
    if (!num_levels) {
        memcpy(name[0], "cpu", sizeof "cpu");
        for (unsigned i = 0; i + 1 < topo->num_levels; i++)
            strncpy(name[i + 1], topo->level[i].kind, sizeof name[0] - 1);
    }
    memcpy(name[PS_STEAL_LEVELS - 1], "machine", sizeof "machine");
}

bool ps_victims_prepared(void) { return ps_load_relaxed(&victims_prepared); }

void ps_prepare_victims(void)
{
    uint32_t no = 0;
    unsigned n = ps_rt.num_vps;
    if (PS_LIKELY(ps_load_relaxed(&victims_prepared)) || !ps_cas_acq_rel(&victims_prepared, &no, 1) || n <= 2)
        return;
    uint16_t *orders = os_map(ORDERS_BYTES(n));
    if (!orders)
        return;
    victim_orders = orders;
    struct os_topology topo;
    /* hwloc does not survive that it gets no memory in the middle. */
    bool have_topo = !num_levels && os_memory_left() == SIZE_MAX && os_topology_read(&topo) != ENOMEM;
    for (unsigned id = 0; id < n; id++) {
        uint16_t *order = orders + (size_t)id * n;
        if (num_levels)
            ps_steal_order(id, n, group_size, num_levels, order, ps_vp_at(id)->victims_end);
        else if (have_topo)
            ps_steal_order_topology(id, n, &topo, NULL, order, ps_vp_at(id)->victims_end);
        else
            break;
        ps_store_release(&ps_vp_at(id)->victims, order);
    }
    if (num_levels || have_topo)
        name_levels(&topo);
    if (have_topo)
        os_topology_free(&topo);
}

/* --- roots --- */

/* A slot from id `first` on that is free: 0, or a guest's; made at need. NULL: there are too many, or no memory. */
static struct vp *claim_slot(unsigned first, uint32_t attached)
{
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned id = first; id < slots; id = id ? id + 1 : ps_rt.num_vps) {
        struct vp *vp = ps_vp_at(id);
        uint32_t no = 0;
        if (!ps_load_relaxed(&vp->attached) && ps_cas_seq(&vp->attached, &no, attached))
            return vp;
    }
    pthread_mutex_lock(&start_lock);
    slots = ps_load_relaxed(&ps_rt.num_slots);
    struct vp *vp = slots < PS_MAX_VPS ? vp_new(slots, true) : NULL;
    if (vp) {
        ps_store_relaxed(&vp->attached, attached);
        ps_store_release(&ps_rt.num_slots, slots + 1);
    }
    pthread_mutex_unlock(&start_lock);
    return vp;
}

static int carry_spare(struct vp *vp)
{
    int err = standby_run_spare(vp_worker_main, vp);
    if (err != EAGAIN)
        return err;
    os_thread thread;
    err = os_thread_start(&thread, vp_worker_main, vp, WORKER_STACK_BYTES, false);
    if (!err)
        os_thread_detach(thread);
    standby_direct_end();
    return err;
}

/* By a root's kernel thread, as a worker. */
static int carry_stand_in(struct vp *vp)
{
    os_thread thread;
    vp->by_watchdog = true;
    if (standby_run(vp_worker_main, vp))
        return 0;
    int err = starter_is_changed(ps_vp()) ? starter_ask(&thread, vp_worker_main, vp, WORKER_STACK_BYTES) : EBUSY;
    if (err == EBUSY) {
        vp->by_watchdog = false;
        bind_lift();
        err = os_thread_start(&thread, vp_worker_main, vp, WORKER_STACK_BYTES, false);
        bind_lower();
    }
    if (!err)
        os_thread_detach(thread);
    return err;
}

static int start_spare(int (*carry)(struct vp *vp))
{
    struct vp *vp = claim_slot(ps_rt.num_vps, PS_ATTACHED_OURS);
    if (!vp)
        return EAGAIN;
    vp->is_spare = true;
    vp->by_watchdog = true;
    ps_store_relaxed(&vp->lone, false); /* as a root's that had the slot */
    ps_store_relaxed(&vp->handoff, HANDOFF_BUSY);
    ps_add_seq(&ps_rt.num_kernel_threads, 1);
    uint32_t alive = ps_add_seq(&ps_watchdog.spares, 1) + 1;
    ps_add_relaxed(&ps_watchdog.coming, 1);
    int err = carry(vp);
    if (err) {
        ps_sub_relaxed(&ps_watchdog.coming, 1);
        spare_ended(vp);
        return err;
    }
    ps_add_relaxed(&ps_watchdog.spares_ever, 1);
    if (alive > ps_load_relaxed(&ps_watchdog.spares_most))
        ps_store_relaxed(&ps_watchdog.spares_most, alive);
    return 0;
}

int vp_start_spare(void) { return start_spare(carry_spare); }

void vp_start_stand_in(void) { start_spare(carry_stand_in); }

struct vp *vp_claim_alone(struct uth_tls *block)
{
    struct vp *vp = claim_slot(ps_rt.num_vps, PS_ATTACHED_OURS);
    if (!vp)
        return NULL;
    vp->tls = NULL;
    vp->current = NULL;
    vp->place = 0;
    ps_store_relaxed(&vp->handoff, HANDOFF_BUSY);
    ps_store_relaxed(&vp->tid, 0); /* of who had the slot before */
    ps_store_relaxed(&vp->wake_alone, 0);
    ps_store_relaxed(&vp->pinned, NULL);
    ps_store_relaxed(&vp->alone_ends, 0);
    ps_store_relaxed(&vp->alone_sleeps, 0);
    ps_store_relaxed(&vp->alone_state, PS_ALONE_STARTS);
    ps_store_relaxed(&vp->lone, false);
    ps_add_seq(&ps_rt.num_kernel_threads, 1);
    vp->alone_for = block;
    return vp;
}

void vp_alone_ended(struct vp *vp)
{
    uth_cache_drain(&vp->stacks);
    uth_tls_drain(&vp->blocks);
    vp->alone_for = NULL;
    vp->tls = NULL;
    forget_worker();
    ps_store_release(&vp->attached, 0);
    if (!ps_queue_seems_empty(&vp->queue)) /* threads that were made here: anybody's now */
        idle_notify(NULL);
}

/* The calling kernel thread's own stack: see divided.h. Of a kernel thread, not of a block. */
static __thread bool divided;

void ps_stack_divided(uintptr_t low)
{
    struct vp *vp = ps_vp();
    struct uth *u = vp ? vp->uth : NULL;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), top;
    size_t bytes;
    if (u && u->stack) {
        if (low - (uintptr_t)u->stack < u->stack_bytes)
            u->call_span = 0;
    } else if (low > here && os_thread_stack(&top, &bytes) && low < top) {
        divided = true;
        if (u)
            u->call_span = 0;
    }
}

/* See uth.h: a root's stack is the program's, and may be smaller than what members are promised. */
static void set_root_room(struct uth *native)
{
    uintptr_t top;
    size_t bytes, promised = ps_rt.stack_size - ps_rt.stack_size / UTH_CALL_SHARE;
    native->call_floor = native->call_span = 0;
    if (divided || !os_thread_stack(&top, &bytes))
        return;
    promised -= promised % 4096; /* the share was rounded up: the promise itself is whole pages */
    if (bytes < promised)
        return;
    size_t spare = bytes - promised, share = bytes / UTH_CALL_SHARE;
    native->call_span = spare > share ? spare : share;
    native->call_floor = top - native->call_span;
}

struct vp *ps_vp_attach(void)
{
    struct vp *vp = ps_vp();
    if (PS_LIKELY(vp != NULL))
        return vp;
    ps_start();
    vp = claim_slot(0, PS_ATTACHED);
    if (PS_UNLIKELY(!vp)) {
        PS_CHECK(ps_load_relaxed(&ps_rt.num_slots) < PS_MAX_VPS, "more than %u kernel threads use the library at once",
                 PS_MAX_VPS);
        ps_fatal("out of memory: a kernel thread cannot join the library");
    }
    if (PS_UNLIKELY(ps_load_seq(&ps_rt.quiescing))) {
        pthread_mutex_lock(&start_lock);
        pthread_mutex_unlock(&start_lock);
    }
    ps_store_relaxed(&vp->tid, os_thread_id());
    vp->own_tp = cpu_get_tp();
    vp->own_errno = &errno;
    vp->tls = NULL;
    vp->place = 0;
    uth_overflow_thread_init();
    if (uth_adopt(&vp->native) != 0)
        ps_fatal("out of memory: a kernel thread cannot join the library");
    vp->native.vp = vp;
    vp->own_uth = &vp->native;
    vp->own_tls = NULL;
    set_root_room(&vp->native);
    ps_store_relaxed(&vp->lone, directed_to_root(ps_load_relaxed(&vp->tid)));
    ps_store_relaxed(&vp->alone_ends, 0);
    vp->outer_mask = vp->inner_mask = os_signal_mask();
    os_affinity_get(&vp->outer_cpus);
    vp->outer_changed = false;
    ps_store_relaxed(&vp->changed, false);
    vp->forked_as = NULL;
    vp->uth = &vp->native;
    ps_thread_init_root(&vp->root, vp, &vp->native);
    vp->current = &vp->root;
    ps_store_relaxed(&vp->handoff, HANDOFF_BUSY);
    vp_carry(vp);
    pthread_setspecific(root_key, vp);
    return vp;
}

void ps_end_local(struct psthread *t)
{
    if (settings.root_exit && t->local)
        settings.root_exit(t->local);
    t->local = NULL;
}

/* wait: for the threads that it has made; else it is known that none of them runs. */
static void root_detach(struct vp *vp, bool wait)
{
    ps_end_local(&vp->root);
    ps_thread_end_root(&vp->root, wait);
    uth_cache_drain(&vp->stacks);
    uth_tls_drain(&vp->blocks);
    uth_release(&vp->native);
    uth_overflow_thread_fini();
    vp->current = NULL;
    vp_carry(NULL);
    ps_store_release(&vp->attached, 0);
    if (!ps_queue_seems_empty(&vp->queue))
        idle_notify(NULL);
}

static void root_ended(void *arg)
{
    if (os_thread_id() == (int)getpid())
        ps_store_seq(&main_ended, 1);
    if (ps_vp() == arg)
        end_last_root(arg);
}

int psthread_detach_self(void)
{
    struct vp *vp = ps_vp();
    if (!vp)
        return 0;
    if (vp->current != &vp->root || vp == starter)
        return EPERM;
    root_detach(vp, true);
    pthread_setspecific(root_key, NULL);
    return 0;
}

/* --- stop --- */

/* `stopping` is set. */
static void wake_stand_ins(void)
{
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned id = ps_rt.num_vps; id < slots; id++)
        if (ps_load_acquire(&ps_vp_at(id)->attached) == PS_ATTACHED_OURS)
            idle_wake_this(ps_vp_at(id));
}

static void stop_workers(void)
{
    ps_store_seq(&ps_rt.stopping, 1);
    quota_park_end();
    for (unsigned id = 1; id < ps_rt.num_vps; id++) {
        struct vp *vp = ps_vp_at(id);
        idle_wake_this(vp); /* one that was never started is refused from now on */
        uint32_t state;
        while ((state = ps_load_acquire(&vp->started)) == PS_WORKER_NONE || state == PS_WORKER_STARTING)
            os_yield(); /* somebody else has taken its bit just now */
        if (state != PS_WORKER_RUNS)
            continue;
        if (ps_load_relaxed(&vp->by_standby) == PS_STANDBY_NONE)
            os_thread_join(vp->kernel_thread);
        else
            while (ps_load_acquire(&vp->by_standby) != PS_STANDBY_THROUGH)
                os_yield();
        forget_worker();
    }
    watchdog_stop();
    timer_stop();
    wake_stand_ins();
    while (ps_load_acquire(&ps_watchdog.spares)) /* they find nothing and leave */
        os_yield();
    watchdog_may_start();
    standby_stop();
}

/* Does another root use the library? Spares end by themselves. */
static bool other_roots(const struct vp *self)
{
    if (forked && forked != self)
        return true;
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned id = 0; id < slots; id = id ? id + 1 : ps_rt.num_vps) {
        struct vp *vp = ps_vp_at(id);
        if (vp != self && ps_load_seq(&vp->attached) == PS_ATTACHED)
            return true;
    }
    return false;
}

static void restart_workers(void)
{
    for (unsigned id = 1; id < ps_rt.num_vps; id++) {
        struct vp *vp = ps_vp_at(id);
        ps_store_relaxed(&vp->started, PS_WORKER_NONE);
        vp->searching = false;
    }
    quota_park_restart();
    ps_store_seq(&ps_rt.stopping, 0);
}

/* A root that comes meanwhile sets `attached` in its vp, then reads `quiescing`. The caller sets `quiescing`, then
 * looks which vps are attached (all seq_cst). One of the two sees the other: either nothing is stopped, or the root
 * waits at start_lock. */
void ps_quiesce(void)
{
    if (!ps_load_acquire(&started))
        return;
    struct vp *vp = ps_vp_attach();
    pthread_mutex_lock(&start_lock);
    ps_store_seq(&ps_rt.quiescing, 1);
    if (!other_roots(vp)) {
        stop_workers();
        restart_workers();
        ps_store_relaxed(&vp->changed, false); /* all that will be started begins with what it has now */
        if (ps_alone_count() > 0)
            starter_prepare();
    }
    ps_store_seq(&ps_rt.quiescing, 0);
    pthread_mutex_unlock(&start_lock);
    uth_cache_trim(&vp->stacks, 0);
}

static uint64_t sum(size_t counter)
{
    uint64_t n = 0;
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned i = 0; i < slots; i++)
        n += ps_load_acquire((_Atomic uint64_t *)(void *)((char *)ps_vp_at(i) + counter));
    return n;
}

static bool all_ended(void)
{
    uint64_t ended =
        sum(offsetof(struct vp, ended)); /* first: a thread may submit another before it ends, never after */
    return ended == sum(offsetof(struct vp, submitted));
}

#define FIRST_PAUSE_NS INT64_C(20000)
#define LONGEST_PAUSE_NS INT64_C(1000000)

/* The caller, a root, lets others run until every thread that was submitted has ended. */
void ps_wait_for_all(struct vp *vp)
{
    if (sum(offsetof(struct vp, made)) == sum(offsetof(struct vp, submitted)))
        psthread_waitall(); /* nobody is left who was not submitted: it blocks properly */
    for (int64_t pause_ns = FIRST_PAUSE_NS; !all_ended();) { /* threads whose parents did not wait for them */
        if (ps_yield()) {
            pause_ns = FIRST_PAUSE_NS;
            continue;
        }
        os_park(&vp->wake_word, 0, pause_ns);
        pause_ns = pause_ns < LONGEST_PAUSE_NS ? pause_ns * 2 : pause_ns;
    }
}

int psthread_finalize(void)
{
    if (!ps_load_acquire(&started))
        return EPERM;
    struct vp *vp = ps_vp_attach(); /* the library may have been started by a call that needs no thread */
    if ((starter ? vp != starter : vp->id != 0) || vp->current != &vp->root)
        return EPERM;
    ps_wait_for_all(vp);
    while (ps_load_acquire(&ps_watchdog.spares) > ps_load_acquire(&ps_watchdog.standing) || ps_alone_count() > 0)
        os_yield(); /* nothing is left for them */
    if (other_roots(vp))
        return EBUSY;
    stop_workers();
    pthread_mutex_lock(&start_lock);
    root_detach(vp, false);
    pthread_setspecific(root_key, NULL);
    pthread_key_delete(root_key);
    ps_descriptors_release_all();
    forget_vps();
    starter = NULL;
    ps_store_release(&started, 0);
    pthread_mutex_unlock(&start_lock);
    return 0;
}

/* --- the process's end --- */

/* A process whose initial thread has ended by pthread_exit ends with its last thread, as POSIX has it: the C library
 * sees to that where kernel threads end. The library's own do not: they sleep. So the last root that ends after the
 * initial thread, or the initial thread if it is the last, waits for all threads. Then it stops the library's kernel
 * threads; they start again if somebody still calls.
 *
 * main_ended is set by a destructor of the initial thread's; it and `attached` are seq_cst: of the initial thread and
 * another root that ends, one sees that it is the last. In a child forked by a thread that is not a root there is no
 * root at all: the vp that finds nothing to do, and that nobody could ever wake (deadlock.c), ends the process. */
static pthread_key_t main_key;

bool ps_main_ended(void) { return ps_load_seq(&main_ended); }

/* The caller carries no vp. */
static void stop_kernel_threads(void)
{
    pthread_mutex_lock(&start_lock);
    ps_store_seq(&ps_rt.quiescing, 1);
    bool last = ps_load_acquire(&started) && !other_roots(NULL);
    if (last) {
        stop_workers();
        restart_workers();
    }
    ps_store_seq(&ps_rt.quiescing, 0);
    pthread_mutex_unlock(&start_lock);
    if (!last && forked)
        idle_wake_this(forked); /* it looks again whether anybody is left: deadlock.c */
    unsigned ours = 1 + dump_request_runs();
    if (last && ours > 1 && os_count_kernel_threads() - os_main_thread_gone() == ours)
        ps_end_process();
}

static void end_last_root(struct vp *vp)
{
    bool last = ps_load_seq(&main_ended) && !other_roots(vp);
    if (last)
        ps_wait_for_all(vp);
    root_detach(vp, true);
    if (ps_load_seq(&main_ended))
        stop_kernel_threads();
}

static void *exit_now(void *arg)
{
    (void)arg;
    exit(0);
}

void ps_end_process(void)
{
    os_thread t;
    if (os_thread_start(&t, exit_now, NULL, 0, false) !=
        0) /* one that carries nothing: handlers may call what they like */
        exit_now(NULL);
    os_thread_detach(t);
}

/* As a root it comes back in root_ended. */
static void main_thread_ended(void *arg)
{
    (void)arg;
    ps_store_seq(&main_ended, 1);
    if (!ps_vp() && ps_load_acquire(&started) && !other_roots(NULL))
        end_last_root(ps_vp_attach());
}

__attribute__((constructor)) static void watch_main(void)
{
    if (pthread_key_create(&main_key, main_thread_ended) == 0 && os_thread_id() == (int)getpid())
        pthread_setspecific(main_key, &main_key);
}

/* --- fork --- */

/* The thread that forked is alone: those that it has made, and who waits for it, are not in this process. */
static void lonely(struct psthread *t)
{
    static struct psthread nobody = {.flags = PS_T_ROOT};
    t->created = 0;
    ps_store_relaxed(&t->children, 0);
    if (t->flags & (PS_T_ROOT | PS_T_MEMBER))
        return;
    t->parent = &nobody; /* its `children` never comes to 0 */
    ps_store_relaxed(&t->join, PS_JOIN_DETACHED);
}

/* Of those whose functions are on its stack, that thread, and its parent where it is a region's first member. Whoever
 * else has called it as a call is not there. */
static bool goes_on(const struct psthread *t)
{
    const struct psthread *living = ps_vp()->current;
    while (living != t && living->flags & PS_T_MEMBER &&
           PS_CONTAINER_OF(living, const struct ps_member, thread)->id == 0)
        living = living->parent;
    return living == t;
}

/* Nor are other threads that waited: so debuggers and reports, which count waiting threads, do not find them. */
static void forget_who_waits(const struct uth *but)
{
    for (struct uth_chunk *c = &uth_registry; c != NULL; c = ps_load_acquire(&c->next))
        for (unsigned i = 0; i < UTH_CHUNK_SLOTS; i++) {
            struct uth *u = ps_load_relaxed(&c->slot[i]);
            if (u != NULL && u != but)
                u->wait.thread = NULL;
        }
}

/* The thread that forked, in block, is the child's only kernel thread, as the C library and the kernel know it: fork
 * has put block's descriptor in the place of the initial thread's. So self is a root's vp from here on, block its own
 * storage, and the context that runs is bound to it. (The storage that the kernel thread had in the parent is free
 * memory to the C library, where that was not the initial thread.) */
static void own_by_fork(struct vp *self, struct uth_tls *block)
{
    self->own_uth = self->uth;
    self->own_tls = block;
    self->own_tp = cpu_get_tp();
    self->own_errno = &errno;
    self->uth->vp = self;
    self->is_guest = self->id != 0;
    ps_store_relaxed(&self->lone, false);
    self->outer_mask = self->inner_mask = os_signal_mask();
    os_affinity_get(&self->outer_cpus);
    ps_store_relaxed(&block->alone, self);
    unsigned slots = ps_load_relaxed(&ps_rt.num_slots);
    for (unsigned id = 0; id < slots; id++) { /* promoted on a root's stack: that vp has none to give to another root */
        struct vp *vp = ps_vp_at(id);
        if (vp == self || self->uth != &vp->native)
            continue;
        ps_store_relaxed(&vp->tid, 0);
        ps_store_relaxed(&vp->attached, PS_ATTACHED_OURS);
    }
    ps_team_forget_block(self->current, block);
}

/* What others have left for vp in the parent. */
static void forget_messages(struct vp *vp)
{
    ps_queue_init(&vp->queue);
    vp->waiters.root = NULL;
    vp->waiters.uncounted = 0;
    ps_list_init(&vp->waiters.list);
    ps_store_relaxed(&vp->waiters.count, 0);
    vp->is_deaf = false;
    ps_store_relaxed(&vp->pinned, NULL);
    ps_store_relaxed(&vp->wake_word, 0);
    ps_store_relaxed(&vp->wake_alone, 0);
    ps_store_relaxed(&vp->alone_sleeps, 0); /* else a spare in its slot passes for one that sleeps: deadlock.c */
    ps_store_relaxed(&vp->alone_ends, 0);
    ps_store_relaxed(&vp->directed, 0);
    ps_store_relaxed(&vp->changed, false); /* what who forked has set is the process's */
    ps_store_relaxed(&vp->started, PS_WORKER_NONE);
    ps_store_relaxed(&vp->by_standby, PS_STANDBY_NONE);
    ps_store_relaxed(&vp->made, 0);
    ps_store_relaxed(&vp->submitted, 0);
    ps_store_relaxed(&vp->ended, 0);
    vp->native.wait.thread = NULL;
}

/* The kernel thread that carried vp is not in this process. What it was in the middle of is unknown: its caches are
 * left alone for good. */
static void forget_carrier(struct vp *vp, unsigned id)
{
    uth_cache_init(&vp->stacks);
    vp->blocks.num = 0;
    vp->free_threads = vp->free_batch = NULL;
    vp->num_free = 0;
    vp->slab_left = 0;
    vp->searching = false;
    vp->is_spare = false;
    vp->held = false;
    vp->current = NULL;
    vp->tls = NULL; /* it was in the block of whom it carried in the parent */
    vp->alone_for = NULL;
    vp->is_guest = id >= ps_rt.num_vps; /* also where it was own_by_fork */
    vp->own_uth = &vp->native;
    vp->own_tls = NULL;
    vp->first_work = (struct ps_work){0};
    ps_store_relaxed(&vp->attached, 0);
    ps_store_relaxed(&vp->handoff, vp->is_guest || id == 0 ? HANDOFF_BUSY : HANDOFF_IDLE);
}

/* The library's own kernel threads, and what they kept. */
static void forget_kernel_threads(void)
{
    ps_descriptors_after_fork_in_child();
    ps_wait_on_after_fork();
    timer_after_fork_in_child();
    ps_store_relaxed(&ps_rt.num_kernel_threads, 0);
    ps_store_relaxed(&ps_rt.quiescing, 0);
    ps_store_relaxed(&ps_rt.stopping, 0);
    watchdog_reset();
    standby_reset();
    starter_reset();
    dump_request_after_fork_in_child();
    ps_alone_after_fork_in_child();
}

static void note_forked_as(struct vp *self, const struct psthread *current)
{
    self->forked_as = current;
    if (current && current->flags & PS_T_MEMBER)
        self->forked_region = PS_CONTAINER_OF(current, struct ps_member, thread)->team->region;
}

/* self, the vp of the thread that forked, goes on as a carrier like any other: nothing starves here, and the watchdog
 * does not know of it. block: the thread-local block that the thread is in, promoted or not; NULL: none. */
static void go_on_in_child(struct vp *self, const struct psthread *current, struct uth_tls *block)
{
    ps_team_after_fork_in_child(self);
    self->alone_for = NULL;
    self->is_spare = false;
    ps_store_relaxed(&self->attached, PS_ATTACHED);
    note_forked_as(self, current);
    if (self->id != 0 && self->id < ps_rt.num_vps)
        idle_never_start(self); /* a member forked on a worker: this kernel thread carries it already */
    if (block)
        own_by_fork(self, block);
}

void ps_after_fork_in_child(void)
{
    static _Atomic int done_in;
    if (!ps_load_relaxed(&started) || ps_xchg_acq_rel(&done_in, (int)getpid()) == (int)getpid())
        return;
    struct vp *self = ps_vp();
    struct psthread *current = self ? self->current : NULL;
    unsigned slots = ps_load_relaxed(&ps_rt.num_slots);
    for (unsigned id = 0; id < slots; id++) {
        struct vp *vp = ps_vp_at(id);
        forget_messages(vp);
        if (vp != self)
            forget_carrier(vp, id);
    }
    if (current && !(current->flags & (PS_T_ROOT | PS_T_MEMBER))) {
        vp_count_made(self);
        vp_count_submitted(self);
    }
    if (current)
        lonely(current);
    forget_who_waits(self ? self->uth : NULL);
    starter = current && current->flags & PS_T_ROOT ? self : NULL;
    forked = current && !(current->flags & PS_T_ROOT) ? self : NULL;
    ps_store_relaxed(&main_ended, forked != NULL);
    forget_kernel_threads();
    if (current) {
        ps_once_after_fork_in_child(goes_on);
        ps_workqueue_after_fork_in_child(goes_on);
    }
    struct uth_tls *block = ps_tls_on() ? uth_tls_after_fork_in_child(self ? self->own_tp : NULL) : NULL;
    if (self)
        ps_store_relaxed(&self->tid, os_thread_id());
    ps_queue_init(&ps_rt.global);
    ps_bind_after_fork_in_child();
    quota_park_restart();
    if (self)
        go_on_in_child(self, current, block);
}

bool ps_forked_here(void)
{
    struct vp *vp = ps_vp();
    return vp && vp->own_tls && vp->tls == vp->own_tls;
}

/* Kernel threads of the runtime's are none of the program's. A count may be wrong for a moment, while one of them ends:
 * then the caller looks again. */
static bool program_has_others(const struct vp *self)
{
    unsigned carried = 0, slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned id = 0; id < slots; id++)
        carried += ps_load_seq(&ps_vp_at(id)->attached) != 0;
    unsigned ours =
        carried + quota_park_count() + watchdog_runs() + dump_request_runs() + timer_poller_idles() + standby_idle();
    return other_roots(self) || os_count_kernel_threads() > ours;
}

void ps_end_forked(void)
{
    struct vp *vp = ps_vp();
    struct psthread *t = vp->current;
    if (t->keys)
        ps_keys_run_destructors(&t->keys);
    uth_tls_end(vp->own_tls);
    _Atomic uint32_t nobody_wakes = 0;
    for (int64_t pause_ns = FIRST_PAUSE_NS; program_has_others(vp);) {
        os_park(&nobody_wakes, 0, pause_ns);
        pause_ns = pause_ns < LONGEST_PAUSE_NS ? pause_ns * 2 : LONGEST_PAUSE_NS;
    }
    exit(0);
}

/* --- for reports --- */

struct uth *ps_current_uth(void)
{
    struct vp *vp = ps_vp();
    return vp ? vp->uth : NULL;
}
