/* Waiting for threads (join, detach), and running a thread that has not begun as a call (join, spawn).
 *
 * The states of the join word:
 *   OPEN -> ENDED            by the thread's end (acq_rel exchange; pairs with the joiner's acquire)
 *   OPEN -> joiner           by a joiner, which then waits: the word is the joiner's address
 *   joiner -> ENDED          by the thread's end, which then readies the joiner
 *   joiner -> OPEN           by the poller: the joiner's deadline has come
 *   joiner -> JOINED         by the joiner, which has run the thread itself, as a call
 *   OPEN -> DETACHED         by psthread_detach
 *   DETACHED -> ENDED        by the end of such a thread, which then frees itself
 *   ENDED -> JOINED          by a joiner
 *   ENDED -> ORPHANED        by the thread that frees the parent's descriptor
 *   ORPHANED -> JOINED       by a joiner
 * Every step out of ENDED is a compare-and-swap. The exception is a joiner that has waited: only this joiner may still
 * use the thread's descriptor. A joiner, and the thread that frees the parent's descriptor, may change the word at the
 * same time. If the joiner comes first, the other frees the joined thread; otherwise the joiner frees the orphan. */
#include "address_wait.h"
#include "create.h"
#include "dedicated.h"
#include "exit.h"
#include "key.h"
#include "timer.h"
#include "vp_tls.h"

#include <stdlib.h>

int psthread_waitall(void)
{
    children_wait_and_sweep(ps_self());
    return 0;
}

/* Removes t from its parent's list of zombies if t is the first there. Returns whether it did. The caller is the
 * parent. Only the parent removes zombies; its children only push in front of the first. So t's successor cannot
 * change, and the compare-and-swap has no ABA problem. */
static bool leaves_zombies(struct psthread *parent, struct psthread *t)
{
    /* Read before the list. If no child is alive, all pushes are over, and the load of the list below sees them all. */
    bool none_pushes = children_alone_with(parent, 0);
    struct psthread *first = ps_load_acquire(&parent->zombies);
    if (first != t)
        return false;
    if (PS_UNLIKELY(!none_pushes))
        return ps_cas_acquire(&parent->zombies, &first, t->next_zombie);
    ps_store_relaxed(&parent->zombies, t->next_zombie);
    return true;
}

/* Joins t without waiting. `seen` is the value that the caller has read from the join word. Returns 0 if t has ended.
 * Otherwise ESRCH: another thread has joined t; or EINVAL: t is detached, or another thread waits for it. */
static int join_ended(struct psthread *t, uintptr_t seen, void **result)
{
    while (seen == PS_JOIN_ENDED || seen == PS_JOIN_ORPHANED) {
        void *value = t->result;
        bool orphan = seen == PS_JOIN_ORPHANED;
        if (!ps_cas_acq_rel(&t->join, &seen, PS_JOIN_JOINED))
            continue;
        ps_race_acquire(t);
        struct vp *vp = ps_vp_attach_now();
        if (orphan || (t->parent == vp_run(vp)->current && leaves_zombies(vp_run(vp)->current, t)))
            children_give_up(vp, t); /* otherwise t stays in its parent's list, and the parent frees it */
        if (result)
            *result = value;
        return 0;
    }
    return seen == PS_JOIN_JOINED ? ESRCH : EINVAL;
}

#define NOT_JOINABLE (PS_T_DETACHED | PS_T_REUSED | PS_T_MEMBER | PS_T_ROOT)

/* Returns 0 if self may join t, as far as t's flags and state show; otherwise an errno value. */
static int check_joinable(const struct psthread *t, const struct psthread *self)
{
    if (!t || ps_load_relaxed(&t->state) == PS_FREE)
        return ESRCH;
    if (t == self)
        return EDEADLK;
    return t->flags & NOT_JOINABLE ? EINVAL : 0;
}

/* The `take` function of a timed join (timer.h): ends the wait of the joiner, whose deadline has come. Returns false if
 * the thread has just ended. */
static bool take_joiner(struct ps_timer *timer)
{
    struct psthread *t = timer->arg;
    uintptr_t joiner = (uintptr_t)timer->thread;
    return ps_cas_acq_rel(&t->join, &joiner, PS_JOIN_OPEN);
}

/* --- joining a thread that has not begun ---
 *
 * The joiner takes such a thread out of its queue and runs it as a call on its own stack: no switch, no wait. The
 * thread keeps its identity (keys, name, level, children). If it blocks, the stack blocks, and so does the joiner,
 * which could not go on before the thread anyway. The joiner looks only at both ends of the queue in which the thread
 * was enqueued: most programs join threads in the order in which they made them, or in the reverse order. A theft may
 * have moved the thread to another queue. The joiner does not look there.
 * If threads have blocks, the called thread begins in one of its own, unless psthread_spawn has made the thread.
 * No call is made if the thread wants a stack of its own size, if a sanitizer runs (which needs a fiber for each
 * thread), or if places are in use. No call is made if the joiner has no stack, is dedicated or has a time limit, or if
 * its stack has a name, or if its vp may run nothing but its root (vp_stays_with_root). No call is made if more than a
 * share of the stack is in use (uth.h: call_floor), or if the stack is smaller than a thread's usual one. */

static PS_ALWAYS_INLINE bool may_be_called(const struct psthread *self, const struct psthread *t, const struct vp *vp)
{
    return !(t->flags & PS_T_SIZED) && !(self->flags & PS_T_NOSTACK) && !ps_places_on() && uth_sanitizers == 0 &&
           !vp_run(vp)->uth->name[0] && !vp_is(vp, VP_DEDICATED) && !vp_stays_with_root(vp) &&
           uth_has_room(vp_run(vp)->uth, __builtin_frame_address(0)) &&
           (!vp_run(vp)->uth->stack || vp_run(vp)->uth->stack_bytes >= ps_rt.stack_size);
}

static bool is_unbegun(const struct psthread *t)
{
    enum ps_state state = ps_load_relaxed(&t->state);
    return state == PS_READY || state == PS_SPAWNED;
}

/* Takes t out of the queue of `where`, if t has not begun and is the first or the last there. Returns whether it has
 * taken t. */
static bool take_unbegun(struct psthread *t, struct vp *where)
{
    struct ps_queue *q = &where->queue;
    if (!ps_spin_take(&q->lock))
        return false;
    bool here = (q->items.next == &t->item.link || q->items.prev == &t->item.link) && is_unbegun(t);
    if (here)
        ps_queue_remove_locked(q, &t->item);
    ps_spin_unlock(&q->lock);
    return here;
}

/* Calls the thread's function. Returns the function's result, or the value that was given to psthread_exit. A C++
 * exception that leaves the function does not reach the caller. */
#if defined(CPU_HAS_GUARDED_CALL)
static PS_ALWAYS_INLINE void *call_here(struct ps_exits *exits, const struct ps_call *call)
{
    struct ps_exit here;
    ps_exit_push_on(exits, &here, NULL, (uintptr_t)cpu_guarded_call);
    void *result = cpu_guarded_call(call->fn, call->arg, &here.guard);
    ps_exit_pop_from(exits, &here);
    return result;
}
#else
static PS_NOINLINE void *call_here(struct ps_exits *exits, const struct ps_call *call)
{
    struct ps_exit here;
    ps_exit_push_on(exits, &here, NULL, (uintptr_t)call_here);
    if (_setjmp(here.jump) != 0)
        return here.result;
    PS_BE_OUTERMOST();
    void *result = call->fn(call->arg);
    ps_exit_pop_from(exits, &here);
    return result;
}
#endif

/* Ends t, which self has called: runs the destructors of its keys and, if own_tls, leaves its block for `before`, the
 * block of self. counted: t was counted as submitted. If t has forked and this is the child process, waits for all
 * threads, and ends the process. An exception that a destructor throws does not reach the caller. */
static PS_NOINLINE struct vp *end_here(struct psthread *self, struct psthread *t, const struct psthread *parent,
                                       bool own_tls, struct uth_tls *before, bool counted)
{
    PS_BE_OUTERMOST();
    if (t->keys)
        ps_keys_run_destructors(&t->keys);
    struct vp *vp = ps_vp();
    vp_run(vp)->uth->name[0] = '\0';
    bool forked = t->parent != parent; /* t has forked, and this is the child: fork.c has replaced t->parent */
    if (counted || forked)
        vp_count_ended(vp);
    if (PS_UNLIKELY(forked)) {
        if (own_tls)
            vp = vp_end_tls(vp);
        ps_wait_for_all(vp);
        exit(0);
    }
    if (own_tls)
        vp = vp_end_tls_for(vp, self, before);
    __asm__ volatile("" ::: "memory"); /* keeps the calls above from being tail calls: this frame must still be there */
    return vp;
}

/* Calls t on self's stack, and marks it as ended. The caller then sets t's join word, and takes t out of its parent's
 * count. own_tls: t gets a thread-local block of its own, and self's block is entered again afterwards. counted: t was
 * counted as submitted. If t blocks, both may move to another vp: *vp_io is set to the vp that runs self afterwards. */
static PS_ALWAYS_INLINE void *call_thread(struct vp **vp_io, struct psthread *self, struct psthread *t, bool own_tls,
                                          bool counted)
{
    struct vp *vp = *vp_io;
    struct psthread *parent = t->parent;
    struct uth_tls *before = vp_run(vp)->tls;
    if (own_tls) {
        struct uth_tls *tls = vp_new_tls(vp);
        vp_enter_tls(vp, tls);
    }
    struct ps_call call = ps_thread_begin(t);
    t->uth = vp_run(vp)->uth;
    t->vp = vp;
    ps_store_relaxed(&t->state, PS_RUNNING);
    vp_run(vp)->current = t;
    vp_tick(vp);
    void *result = call_here(vp_exits(vp), &call);
    if (!own_tls && PS_LIKELY(!t->keys && t->parent == parent)) {
        vp = ps_vp_now();
        vp_run(vp)->uth->name[0] = '\0';
        if (counted)
            vp_count_ended(vp);
    } else {
        vp = end_here(self, t, parent, own_tls, before, counted);
    }
    self->uth = vp_run(vp)->uth;
    self->vp = vp;
    vp_run(vp)->current = self;
    ps_store_relaxed(&t->state, PS_ENDED);
    if (t->created) /* children of t may be alive: adds the hold, as ps_thread_end does */
        ps_add_acq_rel(&t->children, (int64_t)t->created + PS_CHILDREN_HELD);
    *vp_io = vp;
    return result;
}

/* Subtracts a thread that self has called, and that has ended, from the count of its parent's children. */
static void called_child_ended(struct vp *vp, struct psthread *self, struct psthread *parent)
{
    if (parent == self && self->created)
        self->created--;
    else
        children_child_ended(vp, parent);
}

/* Calls t, which self has taken out of a ready queue, and frees it. t's join word is self's address. Returns t's
 * result. */
static PS_ALWAYS_INLINE void *run_as_call(struct vp *vp, struct psthread *self, struct psthread *t, bool own_tls)
{
    struct psthread *parent = t->parent;
    void *result = call_thread(&vp, self, t, own_tls, true);
    ps_store_relaxed(&t->join, PS_JOIN_JOINED);
    called_child_ended(vp, self, parent);
    children_give_up(vp, t);
    return result;
}

/* As run_as_call, with a thread-local block for t; self is marked as suspended below t meanwhile (thread_signal.h).
 * Returns false if self is a root that must stay on its kernel thread: then t is in the queue again. */
static PS_NOINLINE bool run_as_call_in_block(struct vp *vp, struct psthread *self, struct psthread *t, void **result)
{
    if (vp_stays_with_root(vp)) {
        vp_enqueue(vp, &t->item, PS_BACK);
        return false;
    }
    if (vp_run(vp)->tls)
        vp_suspend_caller(self, vp_run(vp)->tls);
    *result = run_as_call(vp, self, t, true);
    return true;
}

/* --- work first ---
 *
 * psthread_spawn runs the new thread at once, as a call on the stack of its maker, in two cases: no vp searches or is
 * parked, or this vp's queue already has a thread that other vps can steal. (A thread that cannot be called, see above,
 * is put into the queue.) So a recursion leaves its oldest thread, which has the most work, to be stolen, and makes
 * calls of the others. If no vp steals that thread, its joiner calls it.
 * A spawned thread ends like any thread: other threads may have its handle from psthread_self, and join it while it
 * runs.
 * A spawned thread that is called at once is not counted as submitted: the thread below it on the stack is counted, or
 * is a root. In a child process that it has forked, ps_after_fork_in_child counts it.
 * A spawned thread runs in the thread-local block of its maker or joiner, as psthread.h says: a block of its own costs
 * as much as ten such calls. */

static bool others_have_enough(struct vp *vp) { return !idle_any() || !ps_queue_seems_empty(&vp->queue); }

static void run_at_once(struct vp *vp, struct psthread *self, struct psthread *t)
{
    t->result = call_thread(&vp, self, t, false, false);
    uintptr_t joiner = ps_xchg_acq_rel(&t->join, PS_JOIN_ENDED);
    if (joiner == PS_JOIN_OPEN && PS_LIKELY(children_alone_with(self, 1))) {
        t->next_zombie = ps_load_relaxed(&self->zombies);
        ps_store_relaxed(&self->zombies, t);
    } else if (joiner == PS_JOIN_OPEN)
        children_add_zombie(self, t);
    else if (joiner == PS_JOIN_DETACHED)
        children_give_up(vp, t);
    else
        ps_ready((struct psthread *)joiner, PS_FRONT); /* the joiner frees t */
    called_child_ended(vp, self, self);
}

int psthread_spawn(psthread_t *thread, const psthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
    struct vp *vp = ps_vp_attach_now();
    int err = create_thread(vp, thread, attr, fn, arg, false, 0);
    if (PS_UNLIKELY(err))
        return err;
    struct psthread *t = *thread;
    if (others_have_enough(vp) && may_be_called(vp_run(vp)->current, t, vp)) {
        run_at_once(vp, vp_run(vp)->current, t);
    } else {
        vp_count_made(vp);
        submit_thread(vp, t, vp, PS_SPAWNED);
        enqueue_fresh(vp, t, PS_FRONT);
    }
    return 0;
}

int psthread_tryjoin(psthread_t t, void **result)
{
    int err = check_joinable(t, ps_self());
    if (err)
        return err;
    uintptr_t seen = ps_load_acquire(&t->join);
    if (seen != PS_JOIN_OPEN)
        return join_ended(t, seen, result);
    ps_tried_in_vain();
    return EBUSY;
}

/* Blocks self, whose address is in t's join word, until t ends or the deadline comes. Returns 0, with t's result in
 * *result and t freed; or ETIMEDOUT. */
static PS_NOINLINE int wait_for_end(struct psthread *self, struct psthread *t, void **result, uint64_t deadline_ns)
{
    struct ps_timer timer = {.deadline_ns = deadline_ns, .take = take_joiner, .arg = t, .thread = self};
    if (ps_block_until(self, PS_WAIT_JOIN, t, &timer))
        return ETIMEDOUT;
    ps_race_acquire(t);
    if (result)
        *result = t->result;
    ps_store_relaxed(&t->join, PS_JOIN_JOINED);
    children_give_up(ps_vp(), t);
    return 0;
}

static PS_ALWAYS_INLINE int join_thread(psthread_t t, void **result, uint64_t deadline_ns)
{
    struct vp *vp = ps_vp_attach_now();
    struct psthread *self = vp_run(vp)->current;
    int err = check_joinable(t, self);
    if (PS_UNLIKELY(err))
        return err;
    uintptr_t seen = ps_load_acquire(&t->join);
    if (seen != PS_JOIN_OPEN || !ps_cas_acq_rel(&t->join, &seen, (uintptr_t)self))
        return join_ended(t, seen, result);
    bool own_tls = ps_tls_on() && ps_load_relaxed(&t->state) != PS_SPAWNED;
    if (deadline_ns != PS_NEVER || !may_be_called(self, t, vp) || !take_unbegun(t, t->vp))
        return wait_for_end(self, t, result, deadline_ns);
    void *returned;
    if (!own_tls)
        returned = run_as_call(vp, self, t, false);
    else if (!run_as_call_in_block(vp, self, t, &returned))
        return wait_for_end(self, t, result, deadline_ns);
    if (result)
        *result = returned;
    return 0;
}

/* The fast case of join_thread. Joins t and frees it, if the caller is the parent of t, and t has ended and has neither
 * children nor zombies. t must be the first in the parent's list of zombies, and no child of the parent may be alive
 * that could push itself there. Returns false, with nothing changed, if that is not so, if another thread joins t, or
 * if a race detector is used. */
static PS_ALWAYS_INLINE bool reap_first_zombie(struct psthread *t, void **result)
{
    struct vp *vp = ps_vp_now();
    struct psthread *self = vp ? vp_run(vp)->current : NULL;
    uintptr_t seen = PS_JOIN_ENDED;
    if (!self || t->flags & NOT_JOINABLE || ps_load_acquire(&t->join) != seen || t->parent != self || t->created ||
        ps_load_relaxed(&t->zombies) || ps_race_enabled() || !children_alone_with(self, 0) ||
        ps_load_acquire(&self->zombies) != t)
        return false;
    struct psthread *next = t->next_zombie;
    void *value = t->result;
    if (!ps_cas_acq_rel(&t->join, &seen, PS_JOIN_JOINED)) /* another joiner has come first */
        return false;
    ps_store_relaxed(&self->zombies, next);
    descriptor_put(&vp_run(vp)->descriptors, t);
    if (result)
        *result = value;
    return true;
}

static PS_NOINLINE int join_forever(psthread_t t, void **result) { return join_thread(t, result, PS_NEVER); }

int psthread_join(psthread_t t, void **result)
{
    bool reaped = t && ps_load_relaxed(&t->state) == PS_ENDED && reap_first_zombie(t, result);
    return reaped ? 0 : join_forever(t, result);
}

int psthread_timedjoin(psthread_t t, void **result, uint64_t deadline_ns)
{
    return deadline_ns == PS_NEVER ? psthread_join(t, result) : join_thread(t, result, deadline_ns);
}

int psthread_detach(psthread_t t)
{
    int err = check_joinable(t, NULL);
    if (err)
        return err;
    uintptr_t seen = PS_JOIN_OPEN;
    return ps_cas_acq_rel(&t->join, &seen, PS_JOIN_DETACHED) ? 0 : join_ended(t, seen, NULL);
}
