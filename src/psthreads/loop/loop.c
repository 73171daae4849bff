/* The loop of a vp: the scheduler on one screen.
 *
 * The loop runs on a uth of its own. It calls a thread that has not begun on this same stack. So a thread that never
 * blocks costs no switch (nthlib-2004 section 2, stack handoff). If a ready thread has a context of its own, the
 * loop switches to that context, and the loop's stack goes back to the cache. Nothing is lost with the stack,
 * because the loop has no state.
 *
 * Callers: each function runs on the kernel thread that carries its argument vp. */
#include "loop.h"

#include "check.h"
#include "dedicated.h"
#include "os.h"
#include "put_back.h"
#include "quota_park.h"
#include "race.h"
#include "receiver.h"
#include "search.h"
#include "switch.h"
#include "team.h"
#include "visit.h"
#include "waiters.h"

static void run_fresh(struct vp *vp, struct psthread *t);
static bool run_elsewhere(struct vp *vp, struct uth *self, struct psthread *t);
static void resume_or_hand_back(struct vp *vp, struct uth *self, struct psthread *t);

/* Runs vp's loop on `self`, the running uth. Does not return. */
static PS_NORETURN void run_loop(struct vp *vp, struct uth *self)
{
    struct ps_work w = vp_run(vp)->first_work;
    vp_run(vp)->first_work = PS_NO_WORK;
    for (;;) {
        if (!ps_work_some(w)) {
            vp_leave_waiters(vp);
            w = vp_take_next(vp);
            if (!ps_work_some(w))
                w = vp_find_work(vp);
        }
        struct psthread *t = ps_work_thread(w);
        if (ps_work_team(w)) {
            ps_upcalls.run_team(ps_work_team(w), (unsigned)w.id);
        } else if (ps_work_is_offline(w)) {
            quota_park_run(vp);
        } else if (!t) { /* the vp is to end */
            vp_leave(vp, self, &vp_run(vp)->native, true);
            __builtin_unreachable();
        } else if (t->uth) {
            resume_or_hand_back(vp, self, t);
        } else if (!(PS_UNLIKELY(t->flags & PS_T_SIZED) && run_elsewhere(vp, self, t))) {
            run_fresh(vp, t);
        }
        vp = ps_vp(); /* the thread that ran may have returned on another vp */
        w = PS_NO_WORK;
    }
}

/* Each IN_VAIN-th time that a context is not saved in time, the vp sleeps. The other times it yields its processor. */
#define IN_VAIN 16

/* Leaves the loop's stack `self` for t's context. Returns only if t's context is not saved after a while. Then t goes
 * into the queue of t->vp, the vp that still runs it. That vp may have no stack for its own loop, and so cannot leave
 * t. It waits for a stack in vp_switch_to_fresh; it finds t in its queue and goes on with t, unless another vp takes t
 * first. Meanwhile this vp yields its processor or sleeps, as both vps may share one processor. */
static void resume_or_hand_back(struct vp *vp, struct uth *self, struct psthread *t)
{
    if (PS_LIKELY(uth_saved_soon(t->uth))) {
        vp_resume(vp, self, t, true);
        __builtin_unreachable();
    }
    vp_hand_back(vp, t, t->vp);
    if (++vp_run(vp)->in_vain % IN_VAIN)
        os_yield();
    else
        os_park(&ps_rt.stopping, 0, PS_ASIDE_NS);
}

/* Calls t's function in a fiber of the program's sanitizer. So the thread sanitizer sees that t begins after its
 * creator's call, and ends before the thread that waits for t goes on. A fiber takes a tenth of a millisecond to make.
 * Threads that never switch (PS_T_NOSTACK) share one fiber for each stack; the sanitizer then believes that the threads
 * which run on one stack are ordered. */
static PS_NOINLINE void *call_with_fiber(struct vp *vp, struct psthread *t, struct ps_call call)
{
    bool shared = t->flags & PS_T_NOSTACK;
    struct uth *here = vp_run(vp)->uth;
    void *own = NULL, **fiber = shared ? &here->piece_fiber : &own, *stack = here, *parent = t->parent;
    san_fiber_make(fiber);
    void *outer = san_fiber_enter(*fiber);
    ps_race_acquire(stack);
    ps_race_acquire(t);
    void *result = call.fn(call.arg);
    ps_thread_end_keys(ps_vp(), t);
    ps_race_release(t);
    ps_race_release(parent);
    ps_race_release(stack);
    san_fiber_leave(outer);
    if (!shared)
        san_fiber_end(fiber);
    return result;
}

static void run_fresh(struct vp *vp, struct psthread *t)
{
    bool member = t->flags & PS_T_MEMBER;  /* its keys last as long as the team: ps_team_fini ends them */
    bool own_tls = ps_tls_on() && !member; /* the function of a member enters the member's block itself */
    struct ps_call call = member ? (struct ps_call){t->member_fn, t} : ps_thread_begin(t);
    if (own_tls)
        vp_enter_tls(vp, vp_new_tls(vp));
    if (vp_is(vp, VP_SIGNALS_BLOCKED) && !member)
        vp_unblock_signals(vp); /* the program's code takes signals, also where threads have no blocks */
    vp_begins(vp, t);
    if (member) {
        call.fn(call.arg); /* t has ended itself: another vp may run it already */
        vp_run(ps_vp())->current = NULL;
        return;
    }
    void *result = PS_UNLIKELY(uth_sanitizers != 0) ? call_with_fiber(vp, t, call) : call.fn(call.arg);
    vp = ps_thread_end_keys(ps_vp(), t);
    if (own_tls)
        vp = vp_end_tls(vp);
    vp = ps_thread_end(vp, t, result);
    vp_run(vp)->current = NULL;
}

void vp_loop_main(void *transfer, void *self)
{
    struct vp *vp = transfer;
    vp_arrived(vp, self);
    run_loop(vp, self);
}

/* Runs t, a fresh thread that wants a stack of its own size: the loop moves to such a stack and calls t there.
 * Returns only if there was no memory for the stack, and t has run here. */
static void move_to_sized(struct vp *vp, struct uth *self, struct psthread *t)
{
    struct uth *sized = uth_get_sized(t->stack_size);
    if (!sized || uth_start(sized, vp_loop_main, sized) != 0) {
        if (sized)
            uth_put(&vp_run(vp)->stacks, sized);
        ps_warn("no memory for a stack of %zu bytes: the thread runs on one of %zu bytes", (size_t)t->stack_size,
                self->stack_bytes);
        run_fresh(vp, t);
        return;
    }
    vp_run(vp)->first_work = ps_work_of(t);
    sized->tls = NULL;
    vp_leave(vp, self, sized, true);
    __builtin_unreachable();
}

/* Runs t on another stack, if it wants a larger one than this. True: t has run. False: the caller runs it here. */
static PS_NOINLINE bool run_elsewhere(struct vp *vp, struct uth *self, struct psthread *t)
{
    if (self->stack_bytes >= t->stack_size)
        return false;
    move_to_sized(vp, self, t);
    return true;
}

void vp_enter_loop(struct vp *vp)
{
    while (!vp_start_loop(vp, &vp_run(vp)->native, false)) {
        vp_stand_aside(vp);
        if (vp_is(vp, VP_SPARE)) {
            ps_sub_seq(&ps_watchdog.spares, 1);
            return;
        }
        if (ps_load_acquire(&ps_rt.stopping))
            return;
        os_park(&ps_rt.stopping, 0, PS_ASIDE_NS);
    }
}
