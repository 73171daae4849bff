/* Signals that are sent to one thread: see thread_signal.h for states and orderings. */
#include "thread_signal.h"

#include <string.h>

#include "current.h"
#include "dedicated.h"
#include "home.h"
#include "idle.h"
#include "inherited.h"
#include "process_signal.h"
#include "run.h"
#include "runtime.h"
#include "suspended_stack.h"
#include "switch.h"
#include "team.h"
#include "vp_tls.h"

#define TAKEN UINT32_MAX
#define LOOK_NS INT64_C(1000000)
#define UNSEEN_NS UINT64_C(64000000) /* a poke that was not seen for this time is sent again */

/* --- where the thread is --- */

/* Finds the uth in which the context of the block's thread is saved, and begins a visit of it: until uth_visited the
 * context stays saved. Returns NULL if it finds none. */
static struct uth *saved(const struct uth_tls *block)
{
    unsigned slots = ps_load_acquire(&ps_rt.table_size);
    for (unsigned id = 0; id < slots; id++) /* the thread is a root, or was called on a root's stack */
        if (uth_visit(&vp_run(ps_vp_at(id))->native, block))
            return &vp_run(ps_vp_at(id))->native;
    return uth_visit_any(block);
}

/* If the block's thread is suspended below another thread that it has called, returns it. From then on it can go on
 * only on its dedicated kernel thread, which calls this function. Otherwise returns NULL. */
static struct psthread *take_from_caller(struct uth_tls *block)
{
    struct psthread *t = ps_load_seq(&block->below);
    if (!t)
        return NULL;
    uth_tls_take_away(block);
    return os_fence_all() && ps_load_seq(&block->below) == t ? t : NULL;
}

/* Returns a vp, other than the thread's dedicated one (`own`), that is in the block as far as can be seen. NULL:
 * none. */
static struct vp *vp_in_block(const struct uth_tls *block, const struct vp *own)
{
    unsigned slots = ps_load_acquire(&ps_rt.table_size);
    for (unsigned id = 0; id < slots; id++) {
        struct vp *vp = ps_vp_at(id);
        struct uth_tls *volatile *in = &vp_run(vp)->tls;
        if (*in == block && vp != own && ps_load_acquire(vp_attached(vp)))
            return vp;
    }
    return NULL;
}

/* Returns the home of the root whose storage this is; NULL: the block is not a root's. */
static struct vp *home_of_block(const struct uth_tls *block)
{
    return block->adopted ? (struct vp *)(uintptr_t)block->home : NULL;
}

/* --- on the dedicated kernel thread, which blocks signals --- */

static uint64_t unblocked(const struct vp *vp) { return OS_ALL_SIGNALS & ~vp_run(vp)->unblocked_mask; }

void thread_signal_take_back(struct vp *vp)
{
    struct vp_thread_signal *d = vp_thread_signal(vp);
    uint32_t number = ps_load_seq(&d->letter);
    if (number && number != TAKEN && ps_cas_seq(&d->letter, &number, 0))
        os_signal_to_thread(ps_load_relaxed(&vp_run(vp)->tid), (int)number, d->info);
}

/* Called when vp's kernel thread, the dedicated one, is in the block: unblocks signals, so that deferred ones are
 * handled, then blocks them again. */
static void unblock_there(struct vp *vp)
{
    thread_signal_take_back(vp);
    vp_unblock_signals(vp);
    vp_block_signals_slowly(vp);
}

/* Enters the block with signals blocked: pending signals are handled when they are unblocked, not here. */
static void enter_blocked(struct vp *vp)
{
    vp_run(vp)->tls = NULL; /* so that the block is entered anew: another vp may have been in it */
    vp_is_no_more(vp, VP_SIGNALS_BLOCKED);
    vp_enter_tls(vp, vp_run(vp)->dedicated_to);
    vp_becomes(vp, VP_SIGNALS_BLOCKED);
}

/* Handles deferred signals in the block, on the stack of u, on which thread t is suspended. is_saved: t's context is
 * saved, and the handlers run below it. Otherwise a thread that t has called runs above t, and the handlers run in an
 * area of the stack. */
static void unblock_below(struct vp *vp, struct uth *u, const struct psthread *t, bool is_saved)
{
    ps_store_relaxed(&vp_run(vp)->stands_as, t ? t->local : NULL);
    enter_blocked(vp);
    if (!(is_saved ? suspended_stack_run_saved(vp, u, unblock_there)
                   : suspended_stack_run_called(vp, u, unblock_there)))
        unblock_there(vp);  /* there is no room on that stack: handles them on this one */
    vp_enter_tls(vp, NULL); /* leaves the block: from here on the thread may go on elsewhere */
    ps_store_relaxed(&vp_run(vp)->stands_as, NULL);
}

/* Lets vp's kernel thread, the dedicated one, handle signals in the thread's block, if it may be in the block now.
 * Returns false if the thread runs elsewhere or is being moved, or if home's loop uses the root's block. */
static bool come_in(struct vp *vp)
{
    struct uth_tls *block = vp_run(vp)->dedicated_to;
    struct uth *u = saved(block);
    struct vp *home = home_of_block(block);
    const struct psthread *caller;
    if (home && !home_storage_free(home)) {
        if (u)
            uth_visited(u);
        /* While the root is saved, home's loop may still use the root's storage. Home is woken, so that its loop
         * changes to storage of its own (E in home.h). */
        idle_wake_this(home);
        ps_wake_dedicated(home);
        return false;
    }
    if (u) { /* the thread is saved: signals are handled on its stack, below the context */
        unblock_below(vp, u, vp_left_by(u), true);
        uth_visited(u);
        /* No region is open, or the member's body has returned: signals are handled on this kernel thread's own
         * stack. */
    } else if (ps_team_rests(vp, block)) {
        enter_blocked(vp);
        thread_signal_take_back(vp);
        vp_unblock_signals(vp);
        /* The thread has called another thread, which runs: signals are handled in an area of the stack that both are
         * on. */
    } else if ((caller = take_from_caller(block)) != NULL) {
        unblock_below(vp, caller->uth, caller, false);
    } else {
        return false;
    }
    return true;
}

/* Called when the thread runs on vp `to`. If vp has no letter, one of its pending signals becomes the letter. Then `to`
 * is poked: it is sent a signal of the same number, and its handler takes the letter. `to` is poked again if it has
 * seen the last poke and the letter is still there. It is also poked again if it has not seen the poke for UNSEEN_NS:
 * the program may have taken this signal by sigwait. */
static void write_letter(struct vp *vp, const struct vp *to)
{
    struct vp_thread_signal *d = vp_thread_signal(vp);
    int tid = ps_load_relaxed(&vp_run(to)->tid);
    uint64_t now_ns = os_now_ns();
    /* Read before the letter, because `to` takes the letter first and clears on_way afterwards. */
    uint32_t on_way = ps_load_seq(&d->on_way);
    uint32_t letter = ps_load_acquire(&d->letter);
    if (!letter) {
        int number = os_take_signal(unblocked(vp), d->info);
        if (number <= 0)
            return;
        letter = (uint32_t)number;
        ps_store_relaxed(&d->poked, 0);
        ps_store_seq(&d->letter, letter);
    }
    if (letter == TAKEN || (ps_load_relaxed(&d->poked) == tid && on_way && now_ns - d->poke_ns < UNSEEN_NS))
        return;
    d->poke_ns = now_ns;
    ps_store_relaxed(&d->poked, tid);
    ps_store_seq(&d->on_way, 1);
    os_signal_poke(tid, (int)letter, vp_run(vp)->id);
}

/* Makes `mask`, which a root has noted as its own, the mask with which vp's kernel thread takes signals for the
 * root. */
static void take_mask_of_root(struct vp *vp, uint64_t mask)
{
    if (PS_LIKELY(vp_run(vp)->unblocked_mask == mask))
        return;
    vp_block_signals_slowly(vp);
    vp_run(vp)->unblocked_mask = mask;
}

int64_t thread_signal_look(struct vp *vp)
{
    struct vp *home = home_of_block(vp_run(vp)->dedicated_to);
    if (home && !vp_run(vp)->tls)
        take_mask_of_root(vp, ps_load_seq(&vp_outer(home)->inner_mask));
    if (!vp_is(vp, VP_SIGNALS_BLOCKED))
        return OS_FOREVER;
    if (vp_run(vp)->tls)
        thread_signal_take_back(vp);
    if (vp_run(vp)->tls ||
        (!ps_load_acquire(&vp_thread_signal(vp)->letter) && !(os_signals_pending() & unblocked(vp)))) {
        vp_unblock_signals(vp);
        return OS_FOREVER;
    }
    ps_dedicate(vp_run(vp)->dedicated_to);
    if (come_in(vp))
        return 0;
    struct vp *to = vp_in_block(vp_run(vp)->dedicated_to, vp);
    if (to)
        write_letter(vp, to);
    return LOOK_NS;
}

/* --- in a handler on another kernel thread --- */

static bool take_letter(int number, void *info)
{
    struct vp *here = ps_vp();
    struct uth_tls *block = uth_tls_current();
    if (!block && here && home_block(here) && home_block(here)->tp == cpu_get_tp())
        block = home_block(here);
    struct vp *own = block ? ps_load_acquire(&block->dedicated) : NULL;
    uint32_t letter = (uint32_t)number;
    const struct psthread *t = here ? vp_run(here)->current : NULL;
    if (here && (vp_switches(here) || (t && t->uth != vp_run(here)->uth)))
        return false; /* the kernel thread is in the thread's block, but not yet on its stack: it is poked again */
    if (!own || !vp_is(own, VP_DEDICATED) || !ps_cas_seq(&vp_thread_signal(own)->letter, &letter, TAKEN))
        return false;
    memcpy(info, vp_thread_signal(own)->info, OS_SIGNAL_BYTES);
    ps_store_seq(&vp_thread_signal(own)->letter, 0);
    ps_wake_dedicated(own);
    return true;
}

bool thread_signal_take(int number, void *info)
{
    unsigned by = os_signal_poked_by(info);
    bool taken = take_letter(number, info);
    struct vp *own = by < ps_load_acquire(&ps_rt.table_size) ? ps_vp_at(by) : NULL;
    if (own && ps_load_relaxed(&vp_thread_signal(own)->poked) == os_thread_id())
        ps_store_seq(&vp_thread_signal(own)->on_way, 0);
    return taken;
}

/* --- a root --- */

/* The last number other than 0 that ps_ready_root_for_signals was given: that kernel thread may become a root later. A
 * hint. */
static _Atomic int expected;

void thread_signal_root_begins(const struct vp *vp)
{
    if (PS_UNLIKELY(ps_load_relaxed(&expected) == ps_load_relaxed(&vp_run(vp)->tid)))
        ps_dedicated_number(home_block(vp));
}

int ps_ready_root_for_signals(const void *tp, int tid, int number)
{
    if (tid)
        ps_store_relaxed(&expected, tid);
    unsigned slots = ps_load_acquire(&ps_rt.table_size);
    int to = 0;
    for (unsigned id = 0; id < slots; id++) {
        struct vp *vp = ps_vp_at(id);
        struct uth_tls *block = ps_load_acquire(vp_attached(vp)) ? home_block(vp) : NULL;
        struct uth_tls *volatile *in = &vp_run(vp)->tls;
        if (!block || (tp ? block->tp != tp : ps_load_relaxed(&vp_run(vp)->tid) != tid))
            continue;
        to = ps_dedicated_number(block);
        if (!number || !vp_home(vp)->empty || *in == block ||
            ps_load_seq(&vp_outer(vp)->inner_mask) >> (number - 1) & 1)
            to = 0;
    }
    return to;
}
