/* The switch: a vp leaves one stack and goes on with another.
 *
 * Does: hands the kernel thread over to another stack, with the thread-local block and the current thread that belong
 * to it.
 * Does not: choose what runs (sources.h), or say where the left thread waits (scheduler.h).
 *
 * Caller: the kernel thread that carries vp, on the stack `from`, which is run.uth. A switch uses vp_leave, or
 * vp_swap on fast paths; code for dedicated and suspended stacks calls uth_switch itself. The vp still uses the left
 * stack until the switch has arrived on the other. There vp_arrived ends the switch: from then on other vps may take
 * the left context (uth.running). If the left thread has ended, its stack goes to the cache.
 *
 * Contract of the three functions, from the bottom up:
 *   vp_leave        switches to any stack that can go on: a saved context, a fresh stack, the kernel thread's own
 *   vp_resume       switches to the context of a thread, which is saved (uth_saved_soon), and not bound to another
 *                   vp. vp's kernel thread goes to the thread's place first. vp_resume_here: without that
 *   vp_switch_away  leaves the running thread self, whose context stays on `from`: self waits or is in a queue. Goes on
 *                   with w: any work that a loop may be given, or none
 * With `dying`, no vp comes back to `from`, and the function does not return. Otherwise it returns when a vp,
 * perhaps another one, has resumed `from`. vp_leave and vp_resume return that vp. After vp_switch_away the caller
 * reads its vp anew.
 *
 * Ordering: all that ran on the left stack happens before uth.running is cleared (release, uth_switched). A vp that
 * reads it clear (acquire, uth_saved_soon) then resumes the context. */
#ifndef PS_SWITCH_H
#define PS_SWITCH_H

#include "bind.h"
#include "current.h"
#include "run.h"
#include "runtime.h"
#include "uth.h"
#include "vp_tls.h"
#include "work.h"

/* 1 if a switch changes the native thread-local storage. Then the variable that has the current vp must be set anew
 * after each switch (vp_carry). */
#define VP_CARRY_ANEW CPU_CARRIES_TLS

/* Called first on the stack `self` after a switch to it: ends the switch. */
static inline void vp_arrived(struct vp *vp, struct uth *self)
{
    if (VP_CARRY_ANEW)
        vp_carry(vp);
    struct uth *left = vp_run(vp)->left_uth;
    bool dead = vp_run(vp)->left_dies;
    uth_switched(left, self);
    vp_run(vp)->left_uth = NULL;
    if (dead)
        uth_put(&vp_run(vp)->stacks, left);
}

/* Switches from the stack `from` to `to`. The thread pointer changes before the stack: then accesses through it after
 * the switch need not wait for the change (3 ns of 17 here). No other vp is in `to`'s block: the vp that ran there last
 * entered another block before it let go of `to` (uth.running). But a kernel thread may visit the block for a signal
 * (thread_signal.h), and has made its own vp the current one there. So `to` is claimed first: then the visitor has
 * gone, or it finds the claim and does not enter. Only then does this function read which vp was the last in the
 * block. */
static inline struct vp *vp_leave(struct vp *vp, struct uth *from, struct uth *to, bool dying)
{
    vp_run(vp)->left_uth = from;
    vp_run(vp)->left_dies = dying;
    from->tls = vp_run(vp)->tls;
    if (PS_UNLIKELY(!uth_claim(to)))
        uth_await_visitor(to);
    if (ps_tls_on())
        vp_enter_tls(vp, to->tls);
    vp_run(vp)->uth = to;
    vp = uth_switch_claimed(from, to, vp, dying);
    vp_arrived(vp, from);
    return vp;
}

/* Slow cases of vp_swap. vp_swap is vp_leave for the fast paths: `from` stays alive, and to's context is saved. vp_swap
 * keeps no value in a register across the switch. So a function that ends with a call of vp_swap need not save
 * registers for it. A thread without a block of its own keeps its errno, too. Returns `from`; the caller reads its vp
 * anew. vp_swap_told: tells a sanitizer. vp_swap_claimed: `to` is claimed, but a kernel thread may still visit it, or
 * its block was last entered by another vp. */
struct uth *vp_swap_told(struct vp *vp, struct uth *from, struct uth *to);
struct uth *vp_swap_claimed(struct vp *vp, struct uth *from, struct uth *to);
/* vp_swapped ends a switch of vp_swap, on the stack that now runs, and returns that stack. vp_bury_left does so if the
 * left stack dies: `left` goes to the cache. */
struct uth *vp_bury_left(struct vp *vp, struct uth *left);
static PS_ALWAYS_INLINE struct uth *vp_swapped(struct vp *vp)
{
    if (VP_CARRY_ANEW)
        vp_carry(vp);
    struct uth *left = vp_run(vp)->left_uth;
    bool dead = vp_run(vp)->left_dies;
    ps_store_release(&left->running, 0);
    vp_run(vp)->left_uth = NULL;
    if (PS_UNLIKELY(dead))
        return vp_bury_left(vp, left);
    struct uth *here = vp_run(vp)->uth;
    vp_set_errno(vp, here->error);
    return here;
}
/* Returns true if t has a context that is saved now, and that no kernel thread visits. */
static PS_ALWAYS_INLINE bool vp_may_swap_to(const struct psthread *t)
{
    return PS_LIKELY(t->uth && ps_load_acquire(&t->uth->running_or_visited) == 0);
}
static PS_ALWAYS_INLINE struct uth *vp_swap(struct vp *vp, struct uth *from, struct uth *to)
{
    vp_run(vp)->left_uth = from;
    vp_run(vp)->left_dies = false;
    from->tls = vp_run(vp)->tls;
    from->error = vp_errno(vp);
    if (san_any())
        return vp_swap_told(vp, from, to);
    if (PS_UNLIKELY(!uth_claim(to)))
        return vp_swap_claimed(vp, from, to);
    if (ps_tls_on() && to->tls != vp_run(vp)->tls) {
        if (PS_UNLIKELY(!to->tls || !uth_tls_was_in(to->tls, vp, ps_load_relaxed(&vp_run(vp)->tid))))
            return vp_swap_claimed(vp, from, to);
        /* vp_enter_tls_again would need one more register, which costs two instructions */
        cpu_set_tp_soon(to->tls->tp);
        vp_run(vp)->tls = to->tls;
    }
    vp_run(vp)->uth = to; /* after the thread pointer, as in vp_leave */
    return vp_swapped(cpu_switch(&from->ctx, &to->ctx, vp));
}

/* vp is about to run t: moves its kernel thread to t's place, if places are on. */
static inline void vp_migrate(struct vp *vp, const struct psthread *t)
{
    if (ps_places_on())
        vp_migrate_slow(vp, t);
}

/* Makes t, which has a context, the thread that vp runs. */
static inline void vp_enter_thread(struct vp *vp, struct psthread *t)
{
    PS_ASSERT(!t->uth->vp || t->uth->vp == vp);
    t->vp = vp;
    vp_run(vp)->current = t;
    vp_tick(vp);
}

/* Goes on with thread t, whose context is saved; leaves the stack `from`. */
static inline struct vp *vp_resume_here(struct vp *vp, struct uth *from, struct psthread *t, bool dying)
{
    vp_enter_thread(vp, t);
    return vp_leave(vp, from, t->uth, dying);
}
static inline struct vp *vp_resume(struct vp *vp, struct uth *from, struct psthread *t, bool dying)
{
    vp_migrate(vp, t);
    return vp_resume_here(vp, from, t, dying);
}

/* The slow case of vp_switch_away: w has no context, its context was not saved in time, or w is none. Runs the loop on
 * a fresh stack, which begins with w. */
void vp_switch_to_fresh(struct vp *vp, struct psthread *self, struct ps_work w);

/* Leaves self, whose uth keeps its context, and goes on with w. When self runs again its errno is as before, even if
 * self has no block of its own. may_be_bound: false if the caller knows that vp's kernel thread need not be moved to a
 * place for w.
 *
 * Another vp may have taken self by now, and wait until self's context is saved. So vp waits for the context of w no
 * longer than a switch takes. After that vp leaves self for a fresh stack, and the loop there waits for w: no vp waits
 * for the context of a loop. Otherwise two members could wait for each other for ever. A barrier makes both ready while
 * they are about to leave their stacks. Then the vp of each takes the other one: out of the queue of a place that both
 * vps share, or out of a queue whose vp has gone offline. tests/models/block_ready.pml. */
static PS_ALWAYS_INLINE void vp_switch_away(struct vp *vp, struct psthread *self, struct ps_work w, bool may_be_bound)
{
    struct psthread *t = ps_work_thread(w);
    int error = vp_errno(vp);
    PS_ASSERT(self->uth == vp_run(vp)->uth);
    if (PS_LIKELY(t && t->uth && uth_saved_soon(t->uth))) {
        vp = may_be_bound ? vp_resume(vp, self->uth, t, false) : vp_resume_here(vp, self->uth, t, false);
    } else {
        vp_switch_to_fresh(vp, self, w);
        vp = ps_vp();
    }
    vp_set_errno(vp, error);
}

/* As vp_switch_away, if self does not wait: it is in a queue, or pinned to a vp. */
static PS_ALWAYS_INLINE void vp_give_way(struct vp *vp, struct psthread *self, struct ps_work w, bool may_be_bound)
{
    self->uth->left_by = self;
    vp_switch_away(vp, self, w, may_be_bound);
}

/* For a dedicated vp. vp_run_dedicated switches from vp's native stack to t, whose context is bound to vp.
 * vp_leave_dedicated switches from `context` back to the native stack. The caller has published the context for another
 * vp; vp_leave_dedicated returns on that vp. The context goes on in block `tls`. */
void vp_run_dedicated(struct vp *vp, struct psthread *t);
void vp_leave_dedicated(struct vp *vp, struct uth *context, struct uth_tls *tls);
/* Leaves the running thread self, whose context is bound to another vp and published there. vp goes on with other
 * ready work. Returns on that other vp. */
void vp_leave_bound(struct vp *vp, struct psthread *self);
/* Makes t, which has no context yet, the thread that vp runs, on the running uth. The caller calls t's function
 * next. */
static inline void vp_begins(struct vp *vp, struct psthread *t)
{
    t->uth = vp_run(vp)->uth;
    t->uth->name[0] = '\0';
    t->vp = vp;
    ps_store_relaxed(&t->state, PS_RUNNING);
    vp_run(vp)->current = t;
    vp_tick(vp);
    vp_migrate(vp, t);
}
/* Leaves `from` for a loop on a fresh stack. The loop begins with run.first_work. False: no memory for a stack. */
bool vp_start_loop(struct vp *vp, struct uth *from, bool dying);
/* Gives up the running stack with its frames, and goes on with a fresh loop. The caller has ended the thread that ran
 * there. */
PS_NORETURN void vp_abandon(struct vp *vp);

#endif
