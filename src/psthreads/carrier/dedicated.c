/* The dedicated kernel thread: its main function, how it is started and ended, how it waits, and its number.
 * dedicated.h has its states, tests/models/own_stack.md the orderings. */
#include "dedicated.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "adaptive_spin.h"
#include "check.h"
#include "current.h"
#include "home.h"
#include "identity.h"
#include "idle.h"
#include "inherited.h"
#include "os.h"
#include "own_stack.h"
#include "quota_park.h"
#include "receiver.h"
#include "run.h"
#include "runtime.h"
#include "scheduler.h"
#include "sources.h"
#include "switch.h"
#include "team.h"
#include "vp_tls.h"
#include "watchdog.h"

#define SPIN_CLOCK_PERIOD 64 /* looks between two readings of the clock, as in search.c */
/* After this time a dedicated kernel thread that spins yields its processor at each reading of the clock. */
#define SPIN_POLITE_NS 20000
/* The size of the kernel thread's own stack. The thread that it carries runs on another one. */
#define DEDICATED_STACK_BYTES ((size_t)64 * 1024)

/* The number of dedicated kernel threads that have not ended. */
static _Atomic uint32_t kernel_threads;
/* The number of this process (getpid); another number means a child between vfork and exec. */
static _Atomic int process;

void ps_dedicate_in_this_process(void) { ps_store_relaxed(&process, (int)getpid()); }
bool ps_in_vfork_child(void) { return (int)getpid() != ps_load_relaxed(&process); }

unsigned ps_dedicated_count(void) { return ps_load_acquire(&kernel_threads); }

/* --- the kernel thread --- */

/* Called by vp's kernel thread: sleeps for timeout_ns at most, unless something is pinned to vp, or vp is woken. */
static void sleep_dedicated(struct vp *vp, int64_t timeout_ns)
{
    ps_add_seq(&ps_idle.parks, 1); /* for deadlock.c: vp sleeps like a vp that parks */
    ps_store_seq(&vp_dedicated(vp)->sleeps, 1);
    if (!ps_load_seq(vp_pinned(vp)))
        os_park(&vp_dedicated(vp)->wake, 0, timeout_ns);
    ps_store_seq(&vp_dedicated(vp)->sleeps, 0);
    ps_xchg_seq(&vp_dedicated(vp)->wake, 0);
}

/* Returns true if vp has something to do: its thread is ready, vp has to end, or vp was woken to look for a signal. */
static bool is_called(const struct vp *vp)
{
    return ps_load_acquire(vp_pinned(vp)) || ps_load_acquire(&vp_dedicated(vp)->ends) ||
           ps_load_acquire(&vp_dedicated(vp)->wake);
}

/* Spins until vp is called (is_called), for limit_ns at most. True: vp is called. */
static bool spin_for(const struct vp *vp, uint64_t limit_ns)
{
    uint64_t start = os_now_ns();
    for (unsigned round = 1; !is_called(vp); round++) {
        cpu_pause();
        if (round % SPIN_CLOCK_PERIOD)
            continue;
        uint64_t spun = os_now_ns() - start;
        if (spun > limit_ns)
            return false;
        if (spun > SPIN_POLITE_NS)
            os_yield();
    }
    return true;
}

/* Moves the calling dedicated kernel thread off the processor that the team's parent has named, if it is there. The
 * parent spins on that processor for the member here, and the system has left this kernel thread waiting behind it. */
static void leave_processor(struct vp_dedicated *own)
{
    uint32_t leave = ps_load_relaxed(&own->leave);
    struct os_cpuset mask, others;
    if (PS_LIKELY(leave == 0))
        return;
    ps_store_relaxed(&own->leave, 0);
    if (leave > OS_MAX_CPUS || os_current_cpu() != (int)leave - 1 || os_affinity_get(&mask) != 0)
        return;
    others = mask;
    others.bits[(leave - 1) / 64] &= ~(UINT64_C(1) << (leave - 1) % 64);
    if (os_cpuset_count(&others) != 0 && os_affinity_set(&others) == 0)
        os_affinity_set(&mask);
}

/* Waits until vp is called: spins if that may pay, then sleeps. Learns how long to spin. */
static void spin_and_sleep(struct vp *vp)
{
    struct vp_dedicated *own = vp_dedicated(vp);
    uint64_t spin_ns = 0;
    bool called = false;
    if (ps_load_relaxed(&own->may_spin) && own->spin_ns != 0 &&
        ps_load_relaxed(&ps_dedicated_threads) < ps_rt.num_vps) {
        ps_add_relaxed(&ps_dedicated_spins, 1);
        called = spin_for(vp, spin_ns = own->spin_ns);
        ps_sub_relaxed(&ps_dedicated_spins, 1);
    }
    if (called && !ps_load_relaxed(&own->wake)) {
        leave_processor(own);
        return;
    }
    uint64_t before = os_now_ns();
    sleep_dedicated(vp, OS_FOREVER);
    if (ps_rt.search_learns)
        own->spin_ns = ps_adaptive_spin_after(spin_ns, os_now_ns() - before, ps_rt.search_ns);
}

void ps_await_pinned(struct vp *vp)
{
    while (!ps_load_seq(vp_pinned(vp)) && !ps_load_acquire(&vp_dedicated(vp)->ends)) {
        int64_t timeout_ns = PS_HAS_IDENTITY && vp_run(vp)->dedicated_to ? ps_identity.look(vp) : OS_FOREVER;
        if (timeout_ns == OS_FOREVER && vp_run(vp)->dedicated_to)
            spin_and_sleep(vp);
        else if (timeout_ns != 0)
            sleep_dedicated(vp, timeout_ns);
    }
}

void ps_wait_dedicated(struct vp *vp, const struct psthread *self)
{
    const struct psthread *t;
    do {
        ps_await_pinned(vp);
        t = ps_xchg_seq(vp_pinned(vp), NULL);
        PS_ASSERT(t == self || t == PS_PINNED_OFFLINE);
        if (t == PS_PINNED_OFFLINE)
            quota_park_refused(vp); /* a root's vp does not go offline */
    } while (t != self);
    vp_tick(vp);
}

/* Waits, and returns the thread that is pinned to vp. NULL: vp has to end. */
static struct psthread *await_carrier(struct vp *vp)
{
    ps_await_pinned(vp);
    return ps_xchg_seq(vp_pinned(vp), NULL);
}

/* Tells the kernel the robust list of the thread that vp carries: its list of robust mutexes, which the kernel looks
 * through when the kernel thread ends. */
static void take_robust_list(const struct vp *vp, const void *own_list)
{
    void *its_list = uth_tls_robust_list(vp_run(vp)->dedicated_to);
    if (own_list && its_list)
        os_set_robust_list(its_list);
}

/* The main function of a dedicated kernel thread. arg: its vp. */
static void *dedicated_main(void *arg)
{
    struct vp *vp = arg;
    struct psthread *t;
    vp_carry(vp);
    void *native_tp = vp_run(vp)->kernel_tp = cpu_get_tp();
    ps_store_relaxed(&vp_run(vp)->own_tp, native_tp);
    vp_run(vp)->own_errno = &errno;
    if (uth_adopt(&vp_run(vp)->native) != 0)
        ps_fatal("out of memory: a kernel thread cannot start");
    vp_run(vp)->native.vp = vp;
    vp_run(vp)->uth = &vp_run(vp)->native;
    ps_store_relaxed(&vp_run(vp)->tid, os_thread_id());
    os_thread_name(NULL);
    os_affinity_set(&vp_outer(vp)->cpus);
    void *own_list = os_robust_list();
    take_robust_list(vp, own_list);
    ps_store_seq(&vp_outer(vp)->inner_mask, vp_outer(vp)->mask);
    vp_begin_blocked(vp, vp_outer(vp)->mask); /* the kernel thread was started with all signals blocked */
    ps_store_release(&vp_dedicated(vp)->state, PS_DEDICATED_STARTED);
    os_wake(&vp_dedicated(vp)->state, INT_MAX);
    while ((t = await_carrier(vp)) != NULL) {
        if (!t->uth) {
            own_stack_begin(vp, t);
            continue;
        }
        while (!uth_saved_soon(t->uth)) /* the vp that t ran on is about to leave t's stack */
            os_yield();
        if (PS_HAS_IDENTITY)
            ps_identity.take_back(vp);
        vp_run_dedicated(vp, t);
    }
    vp_enter_tls(vp, NULL);
    if (own_list)
        os_set_robust_list(own_list);
    vp_carry(NULL);
    uth_release(&vp_run(vp)->native);
    /* From here on block and vp belong to the thread that calls ps_retire_dedicated. */
    ps_store_release(&vp_dedicated(vp)->state, PS_DEDICATED_LEFT);
    os_wake(&vp_dedicated(vp)->state, INT_MAX);
    ps_sub_seq(&kernel_threads, 1); /* the last step, because the thread that stops the library waits for it */
    return NULL;
}

/* Waits until vp's kernel thread has left `state`. A signal handler may wait here for the end of STARTS: it never waits
 * for a start that it has itself interrupted. The starter blocks all signals before other threads can see the start
 * (uth_tls.own), until the kernel thread exists. From then on the kernel thread leaves STARTS without help. So a
 * handler on the starter runs before other threads can see the start, or when the start needs the starter no more. */
static void wait_while(struct vp *vp, uint32_t state)
{
    while (ps_load_acquire(&vp_dedicated(vp)->state) == state)
        os_park(&vp_dedicated(vp)->state, state, OS_FOREVER);
}

/* Starts the kernel thread of vp, which is dedicated to block's thread. Returns 0 or an errno value. */
static int start_own_carrier(struct vp *vp, const struct uth_tls *block)
{
    os_thread thread;
    bind_lift();
    ps_inherit_kernel_state(vp, block);
    int err = os_thread_start(&thread, dedicated_main, vp, DEDICATED_STACK_BYTES, true);
    bind_lower();
    if (!err)
        os_thread_detach(thread);
    return err;
}

/* Returns the vp of block's dedicated kernel thread, and starts this kernel thread if there is none. NULL: there is
 * none, and none can be started. Several threads may call at once. No kernel thread is started from a signal handler,
 * nor from a function of the program that the runtime calls: the frames below may hold locks that the C library needs
 * for the start (malloc's). */
static struct vp *own_carrier(struct uth_tls *block)
{
    static _Atomic uint32_t said;
    struct vp *vp = ps_load_acquire(&block->own);
    const struct vp *here = ps_vp();
    if (PS_LIKELY(vp != NULL))
        return vp;
    if (here && (vp_run(here)->held || ps_in_handler()))
        return NULL;
    vp = vp_claim_dedicated(block);
    if (!vp)
        return NULL;
    void *other = NULL;
    if (here && !vp_differs(here))
        watchdog_be_there(); /* before signals are blocked: the watchdog keeps its starter's mask for spares */
    uint64_t mask = os_swap_signal_mask(OS_ALL_SIGNALS); /* wait_while says why */
    if (block->adopted)                                  /* a root may leave home for this kernel thread */
        ps_store_relaxed(&ps_rt.roots_leave, true);
    if (!ps_cas_seq(&block->own, &other, vp)) {
        os_set_signal_mask(mask);
        vp_dedicated_ended(vp);
        return other;
    }
    ps_add_seq(&kernel_threads, 1);
    bool refused = start_own_carrier(vp, block) != 0;
    os_set_signal_mask(mask);
    if (refused) {
        ps_store_release(&block->own, NULL);
        vp_dedicated_ended(vp);
        ps_sub_seq(&kernel_threads, 1);
        if (!ps_xchg_acq_rel(&said, 1))
            ps_warn("the system refuses a thread that sets or asks for state of the kernel's a kernel thread of its "
                    "own: what it sets holds for "
                    "others too (said once)");
        return NULL;
    }
    return vp;
}

struct vp *ps_dedicate(struct uth_tls *block)
{
    void *none = NULL;
    struct vp *vp = own_carrier(block);
    if (!vp)
        return NULL;
    bool changes = ps_cas_seq(&block->dedicated, &none, vp);
    /* Called even if another thread has set `dedicated`: that thread may not have come to this call yet. */
    uth_tls_drop_cached(block);
    if (changes && ps_add_seq(&ps_dedicated_threads, 1) == 0)
        idle_wake_all(); /* so that all workers block signals from now on (process_signal.h) */
    return vp;
}

/* --- numbers --- */

/* Waits until vp's kernel thread is started, and returns its number; 0: vp is NULL. */
static int number_when_started(struct vp *vp)
{
    if (vp)
        wait_while(vp, PS_DEDICATED_STARTS);
    return vp ? ps_load_relaxed(&vp_run(vp)->tid) : 0;
}

int ps_number_of(struct uth_tls *block) { return number_when_started(own_carrier(block)); }
int ps_dedicated_number(struct uth_tls *block) { return number_when_started(ps_dedicate(block)); }

/* A DEDICATED thread moves to its dedicated kernel thread, which has its kernel state. In a handler it cannot move: it
 * asks by the number. */
int ps_number_to_ask(struct uth_tls *block)
{
    if ((ps_load_seq(&block->dedicated) && ps_dedicate_self()) || ps_in_vfork_child())
        return 0;
    return ps_number_of(block);
}

int ps_number_of_caller(void)
{
    int number = home_number();
    struct uth_tls *block = number == 0 ? uth_tls_current() : NULL;
    if (block)
        number = ps_number_to_ask(block);
    return number != 0 ? number : os_thread_id();
}

/* If the running thread itself has this number, but cannot move there (it is in a handler, for example), its call is
 * made for the kernel thread that carries it now. */
int ps_number_to_set(int number)
{
    unsigned slots = ps_dedicated_count() ? ps_load_acquire(&ps_rt.table_size) : 0;
    for (unsigned id = 0; id < slots; id++) {
        struct vp *vp = ps_vp_at(id);
        struct uth_tls *block = vp_run(vp)->dedicated_to;
        if (!vp_is(vp, VP_DEDICATED) || ps_load_relaxed(&vp_run(vp)->tid) != number || !block)
            continue;
        ps_dedicate(block);
        if (block == uth_tls_current() && !ps_dedicate_self())
            return os_thread_id();
    }
    return number;
}

void ps_retire_dedicated(struct uth_tls *block)
{
    struct vp *vp = ps_load_acquire(&block->own);
    if (!vp)
        return;
    wait_while(vp, PS_DEDICATED_STARTS);
    ps_store_seq(&vp_dedicated(vp)->ends, 1);
    ps_wake_dedicated(vp);
    wait_while(vp, PS_DEDICATED_STARTED);
    if (ps_xchg_seq(&block->dedicated, NULL))
        ps_sub_seq(&ps_dedicated_threads, 1);
    ps_store_relaxed(&block->own, NULL);
    own_stack_give_back(block, vp);
    vp_dedicated_ended(vp);
}

void ps_dedicated_after_fork_in_child(void)
{
    unsigned slots = ps_load_acquire(&ps_rt.table_size);
    for (unsigned id = 0; id < slots; id++)
        if (ps_vp_at(id))
            thread_signal_begins(vp_thread_signal(ps_vp_at(id)));
    ps_store_relaxed(&ps_dedicated_threads, 0);
    ps_store_relaxed(&ps_dedicated_spins, 0);
    ps_store_relaxed(&kernel_threads, 0);
    ps_dedicate_in_this_process();
}
