/* A root whose kernel thread carries nothing else: see lone_root.h. */
#include "lone_root.h"

#include "current.h"
#include "directed.h"
#include "idle.h"
#include "inherited.h"
#include "os.h"
#include "promote.h"
#include "race.h"
#include "run.h"
#include "runtime.h"
#include "sources.h"
#include "stand_below.h"
#include "standby.h"
#include "switch.h"
#include "vp_tls.h"
#include "watchdog.h"

#include <string.h>
#include <unistd.h>

#define KEPT_TRIES 16                /* at each look of the watchdog's */
#define STAND_NS UINT64_C(200000000) /* until a root's kernel thread stands on the root's stack */

static bool leave_root(void *frame)
{
    struct vp *vp = vp_in_own_block() ? ps_vp() : NULL;
    struct psthread *self = vp ? vp_run(vp)->current : NULL;
    struct uth *stack = vp ? vp_run(vp)->uth : NULL;
    if (!self || !ps_load_relaxed(&vp_run(vp)->lone) || vp_run(vp)->held || self->uth != stack || stack->vp ||
        !stack->stack || self->flags & PS_T_NOSTACK || !os_interrupted_program(frame, stack->stack, stack->stack_bytes))
        return false;
    directed_leaves(frame);
    vp_enqueue(vp, &self->item, PS_BACK);
    vp_leave_bound(vp, self);
    directed_is_back(frame);
    return true;
}

/* --- signals for the process that come while the first thread is away --- */

#define KEPT_MOST 32
static struct {
    _Atomic uint32_t n;
    _Atomic uint64_t since_ns; /* the first one was kept; 0: a signal has met the thread since */
    struct {
        int number;
        _Alignas(8) unsigned char info[OS_SIGNAL_BYTES];
    } signal[KEPT_MOST];
} kept;

/* Another vp can run what is in a lone root's queue. */
static bool others_can(void) { return ps_rt.num_vps > 1 || ps_rt.max_spares > 0; }

static bool is_root_of_now(const struct vp *vp)
{
    return ps_load_acquire(vp_attached(vp)) && vp_is_roots(vp) && ps_tls_on() && others_can();
}

/* That of the process's first kernel thread, where this is a root's. */
static struct vp *vp_of_first(void)
{
    int first = (int)getpid();
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned id = 0; id < slots; id++)
        if (ps_load_relaxed(&vp_run(ps_vp_at(id))->tid) == first && is_root_of_now(ps_vp_at(id)))
            return ps_vp_at(id);
    return NULL;
}

/* On the root's kernel thread: a handler that begins runs as the root, on its stack, and may be left. */
static bool root_is_there(const struct vp *vp)
{
    const struct uth *root = vp_run(vp)->own_uth;
    return uth_tls_current() == vp_run(vp)->own_tls && vp_run(vp)->uth == root &&
           (vp_directed(vp)->point || !(root->calls || root->wait.thread || root->left_by));
}

static bool is_late(void)
{
    uint64_t since_ns = ps_load_relaxed(&kept.since_ns);
    return since_ns && os_now_ns() - since_ns >= DIRECTED_TRIES_NS;
}

/* On vp's kernel thread, all signals blocked. n stays until it is known what is refused: the watchdog reads it. */
static void send_kept(struct vp *vp)
{
    uint32_t n = ps_load_relaxed(&kept.n), refused = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!os_signal_to_thread(ps_load_relaxed(&vp_run(vp)->tid), kept.signal[i].number, kept.signal[i].info))
            kept.signal[refused++] = kept.signal[i]; /* a quota: again at the watchdog's next look */
    ps_store_seq(&kept.n, refused);
}

/* What is pending already comes once, as the kernel has it. */
static bool keep_signal(struct vp *vp, int number, const void *info)
{
    uint64_t mask = os_swap_signal_mask(OS_ALL_SIGNALS);
    uint32_t n = ps_load_relaxed(&kept.n), i = 0;
    while (i < n && (kept.signal[i].number != number || number >= OS_QUEUED_SIGNAL))
        i++;
    bool fits = i < KEPT_MOST && !is_late() && watchdog_runs();
    if (fits && i == n) {
        if (!ps_load_relaxed(&kept.since_ns))
            ps_store_relaxed(&kept.since_ns, os_now_ns());
        kept.signal[i].number = number;
        memcpy(kept.signal[i].info, info, OS_SIGNAL_BYTES);
        ps_store_seq(&kept.n, n + 1);
        ps_or_seq(&vp_run(vp)->lone, PS_LONE_SIGNALS);
        idle_wake_this(vp);
        watchdog_serve_soon();
    }
    os_set_signal_mask(mask);
    return fits;
}

bool ps_signal_is_kept(int number, const void *info)
{
    bool may = ps_tls_on() && !PS_TSAN && !ps_race_enabled() && !san_valgrind(); /* preempt.c */
    struct vp *vp = may ? vp_of_first() : NULL;
    int first = vp ? ps_load_relaxed(&vp_run(vp)->tid) : 0;
    bool came_there = os_thread_id() == first;
    if (!vp || !os_signal_is_for_first(number, info, came_there))
        return false;
    if (!came_there)
        return !(ps_load_seq(&vp_outer(vp)->inner_mask) >> (number - 1) & 1) && os_thread_hears(first, number) &&
               os_signal_to_thread(first, number, info);
    if (!root_is_there(vp) && !vp_run(vp)->own_tls)
        return keep_signal(vp, number, info);
    ps_store_relaxed(&kept.since_ns, 0);
    return false;
}

bool lone_root_keeps(void) { return ps_load_seq(&kept.n) != 0; }

static bool come_to_kept(void *frame)
{
    struct vp *vp = vp_of_first();
    bool is_here = vp && os_thread_id() == ps_load_relaxed(&vp_run(vp)->tid); /* an interrupt may replace another */
    if (!is_here || !(root_is_there(vp) || is_late()))
        return leave_root(frame);
    send_kept(vp);
    return false;
}

void lone_root_serve(void)
{
    _Atomic uint32_t nobody_wakes = 0;
    struct vp *vp = lone_root_keeps() ? vp_of_first() : NULL;
    for (unsigned tries = 0; vp && tries < KEPT_TRIES && lone_root_keeps(); tries++) {
        if (!directed_root_has_called(vp) || is_late()) {
            os_interrupt(ps_load_relaxed(&vp_run(vp)->tid), come_to_kept);
        } else if (standby_keep_out()) {
            directed_ask_to_move(NULL, vp, vp, true);
            standby_direct_end();
        }
        os_park(&nobody_wakes, 0, DIRECTED_PAUSE_NS);
    }
}

void lone_root_reset(void)
{
    ps_store_relaxed(&kept.n, 0);
    ps_store_relaxed(&kept.since_ns, 0);
}

void lone_root_send_kept(struct vp *vp)
{
    if (PS_UNLIKELY(lone_root_keeps() && vp_of_first() == vp)) {
        uint64_t mask = os_swap_signal_mask(OS_ALL_SIGNALS);
        send_kept(vp);
        os_set_signal_mask(mask);
    }
}

static void wait_there(struct vp *vp)
{
    vp_run(vp)->uth = vp_run(vp)->own_uth;
    lone_root_send_kept(vp);
    ps_await_pinned(vp);
}

/* Where root's context is bound to another vp, a thread that the root has called has moved there. The root's context
 * comes back by being pinned to this vp. */
static void stand_as_root(struct vp *vp)
{
    struct uth *root = vp_run(vp)->own_uth;
    if (vp_run(vp)->uth == root)
        return;
    uint64_t mask = os_swap_signal_mask(OS_ALL_SIGNALS);
    bool stood = true;
    while (stood && !ps_load_seq(vp_pinned(vp))) { /* a handler may be left, and the root wait on */
        if (root->vp != vp) {
            stood = stand_below_running(vp, vp_run(vp)->uth, root, wait_there, &mask);
        } else if ((stood = uth_visit(root, root->tls))) {
            stood = stand_below_saved(vp, vp_run(vp)->uth, root, wait_there, &mask);
            uth_visited(root);
        }
    }
    os_set_signal_mask(mask);
}

struct ps_work lone_root_await(struct vp *vp)
{
    stand_as_root(vp);
    ps_await_pinned(vp);
    struct psthread *t = ps_xchg_seq(vp_pinned(vp), NULL);
    return t == PS_PINNED_REST ? (struct ps_work){.what = t, .id = PS_WORK_REST} : ps_work_of(t);
}

/* The root has not seen yet that it is to stay, or leaves its stack or its storage, or comes back. */
static bool root_is_away(const struct vp *vp)
{
    const struct uth *root = vp_run(vp)->own_uth;
    struct psthread *const volatile *waits = &root->wait.thread, *const volatile *yields = &root->left_by;
    const volatile uint32_t *calls = &root->calls;
    return !ps_load_seq(&vp_alone(vp)->sleeps) && !ps_load_seq(&vp_run(vp)->in_handler) &&
           (*calls || *waits || *yields);
}

/* Another thread; or none, and the root's own stack is not where its kernel thread is. */
static bool carries_somebody_else(const struct vp *vp, uint64_t since_ns, unsigned tries)
{
    struct uth_tls *const volatile *in = &vp_run(vp)->tls;
    struct uth *const volatile *on = &vp_run(vp)->uth;
    uint64_t waited_ns = os_now_ns() - since_ns;
    struct uth_tls *block = *in;
    bool stands = *on == vp_run(vp)->own_uth;
    return (block && block != vp_run(vp)->own_tls) || (stands && root_is_away(vp))
               ? waited_ns < DIRECTED_TRIES_NS || tries < DIRECTED_TRIES_LEAST
               : !stands && (waited_ns < STAND_NS || tries < DIRECTED_TRIES_LEAST);
}

static void leave_to_root(struct vp *vp)
{
    _Atomic uint32_t nobody_wakes = 0;
    if (!(ps_load_relaxed(&vp_run(vp)->lone) & PS_LONE_SIGNALS))
        ps_or_seq(&vp_run(vp)->lone, PS_LONE_SIGNALS);
    if (ps_vp() == vp && !uth_tls_current()) /* the root itself, perhaps in a handler */
        return;
    idle_wake_this(vp);
    uint64_t since_ns = os_now_ns();
    bool fenced = os_fence_all(); /* else the first interrupt has to do */
    for (unsigned tries = 0; (!fenced && tries == 0) || carries_somebody_else(vp, since_ns, tries); tries++) {
        directed_wait_as_oneself(tries); /* it may stand there itself */
        if (directed_root_has_called(vp))
            directed_ask_to_move(NULL, vp, vp, true);
        else
            os_interrupt(ps_load_relaxed(&vp_run(vp)->tid), leave_root);
        os_park(&nobody_wakes, 0, DIRECTED_PAUSE_NS);
    }
}

unsigned lone_root_count(void)
{
    unsigned n = 0, slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned id = 0; id < slots; id++) {
        struct vp *vp = ps_vp_at(id);
        n += ps_load_relaxed(&vp_run(vp)->lone) && ps_load_acquire(vp_attached(vp)) == PS_ATTACHED && vp_is_roots(vp);
    }
    return n;
}

void lone_root_call_stand_in(void)
{
    uint32_t spares = ps_load_relaxed(&ps_watchdog.spares);
    if (!idle_any() && spares < ps_rt.max_spares && spares < lone_root_count() &&
        vp_look_for_all(PS_IN_QUEUE | PS_IN_PLACES | PS_IN_GLOBAL))
        vp_start_stand_in();
}

void lone_root_has_mask(struct vp *vp, uint64_t mask)
{
    bool keeps_out = (os_interrupt_is_blocked(mask) || mask & OS_FAULT_SIGNALS) && ps_tls_on() && others_can();
    bool is_lone = ps_load_relaxed(&vp_run(vp)->lone) & PS_LONE_MASK;
    if (keeps_out && !is_lone)
        ps_or_seq(&vp_run(vp)->lone, PS_LONE_MASK);
    else if (!keeps_out && is_lone)
        ps_and_seq(&vp_run(vp)->lone, (uint8_t)~PS_LONE_MASK);
}

static _Atomic int expected;  /* the number of a kernel thread that may become a root */
static __thread bool counted; /* this kernel thread has asked what is counted for it */

bool lone_root_expected(int tid) { return (counted || ps_load_relaxed(&expected) == tid) && others_can(); }

void ps_root_counted(const void *tp)
{
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    if (!tp || tp == cpu_get_tp())
        counted = true;
    for (unsigned id = 0; id < slots; id++) {
        struct vp *vp = ps_vp_at(id);
        if (is_root_of_now(vp) && (tp ? vp_run(vp)->own_tp == tp : ps_vp() == vp))
            ps_or_seq(&vp_run(vp)->lone, PS_LONE_SIGNALS);
    }
}

void ps_ready_root_for_signals(const void *tp, int tid)
{
    if (tid != 0)
        ps_store_relaxed(&expected, tid);
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned id = 0; id < slots; id++) {
        struct vp *vp = ps_vp_at(id);
        if (is_root_of_now(vp) && (tp ? vp_run(vp)->own_tp == tp : ps_load_relaxed(&vp_run(vp)->tid) == tid))
            leave_to_root(vp);
    }
}

void ps_all_roots_alone(void)
{
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned id = 0; id < slots; id++)
        if (is_root_of_now(ps_vp_at(id)))
            ps_or_seq(&vp_run(ps_vp_at(id))->lone, PS_LONE_SIGNALS);
}
