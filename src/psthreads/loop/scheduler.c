/* The waiting primitive (ps_block) and the yield: see scheduler.h. */
#include "scheduler.h"

#include "check.h"
#include "current.h"
#include "dedicated.h"
#include "idle.h"
#include "lone_root.h"
#include "os.h"
#include "psthread.h"
#include "switch.h"
#include "visit.h"
#include "waiters.h"
#include "watchdog.h"

/* The slow path of ps_block. ps_block takes it if the vp is dedicated or stays with its root, has waiters (waiters.h)
 * or a pinned thread, or if it could take no thread from the front of the vp's queue. */
static PS_NOINLINE void block_slowly(struct vp *vp, struct psthread *self)
{
    struct uth_wait *wait = &self->uth->wait;
    if (vp_is(vp, VP_DEDICATED)) {
        ps_wait_dedicated(vp, self);
        wait->thread = NULL;
        return;
    }
    vp_leave_waiters(vp);
    if (vp_stays_with_root(vp)) {
        lone_root_call_stand_in();
        ps_wait_dedicated(vp, self);
        wait->thread = NULL;
        return;
    }
    struct ps_work w = vp_take_own(vp);
    /* w is self if another thread has readied self meanwhile: self just goes on */
    if (PS_LIKELY(ps_work_thread(w) != self))
        vp_switch_away(vp, self, w, true);
    wait->thread = NULL;
}

/* The end of ps_block if t, which was taken from the queue, is another thread, and the fast switch cannot be used: t
 * has no saved context, or members are bound to places. */
static PS_NOINLINE void block_for(struct vp *vp, struct psthread *self, struct psthread *t)
{
    struct uth_wait *wait = &self->uth->wait;
    vp_switch_away(vp, self, ps_work_of(t), true);
    wait->thread = NULL;
}

/* Takes the thread at the front of the vp's own queue. NULL: the queue is empty, its front is a team, or its lock is
 * held. */
static PS_ALWAYS_INLINE struct psthread *take_front_thread(struct ps_queue *q)
{
    struct psthread *t = NULL;
    if (ps_queue_seems_empty(q) || !ps_spin_take(&q->lock))
        return NULL;
    struct ps_item *front = ps_queue_item(q->items.next);
    if (PS_LIKELY(!ps_list_empty(&q->items) && front->kind == PS_KIND_THREAD)) {
        ps_queue_remove_locked(q, front);
        t = PS_CONTAINER_OF(front, struct psthread, item);
    }
    ps_spin_unlock(&q->lock);
    return t;
}

void ps_block(struct psthread *self, enum ps_wait kind, const volatile void *object)
{
    PS_CHECK(!(self->flags & PS_T_NOSTACK), "a thread created with PSTHREAD_ATTR_NOSTACK tried to block: "
                                            "work descriptors run as calls and may not wait");
    struct vp *vp = ps_vp_now();
    PS_ASSERT(vp_run(vp)->current == self &&
              self->uth == vp_run(vp)->uth); /* otherwise self's context would be saved in another thread's uth */
    struct uth *from = vp_run(vp)->uth;
    from->wait.thread = self;
    from->wait.object = object;
    from->wait.kind = kind;
    struct psthread *t;
    if (PS_UNLIKELY(vp_is(vp, VP_LONE) || vp_has_waiters(vp) || ps_load_relaxed(&vp->pinned) ||
                    !(t = take_front_thread(&vp->queue)))) {
        block_slowly(vp, self);
        return;
    }
    if (PS_UNLIKELY(t == self)) { /* another thread has readied self already */
        from->wait.thread = NULL;
        return;
    }
    if (PS_UNLIKELY(ps_places_on() || !vp_may_swap_to(t))) {
        block_for(vp, self, t);
        return;
    }
    vp_enter_thread(vp, t);
    vp_swap(vp, from, t->uth)->wait.thread = NULL;
}

/* The yield if places have queues of their own. self's stack is not bound to vp. */
static PS_NOINLINE bool yield_with_places(struct vp *vp, struct psthread *self)
{
    struct ps_work w = vp_take_own(vp);
    if (!ps_work_some(w))
        return false;
    vp_enqueue(vp, &self->item, PS_BACK);
    vp_give_way(vp, self, w, true);
    return true;
}

/* Yields to w, or to the front of the queue if w is none. The caller holds the queue's lock; this function releases it.
 * Returns false if there is nothing to yield to. */
static PS_NOINLINE bool yield_slow_locked(struct vp *vp, struct psthread *self, struct ps_work w)
{
    struct ps_queue *q = &vp->queue;
    while (!ps_work_some(w) && !ps_list_empty(&q->items))
        w = vp_take_item_locked(q, ps_queue_item(q->items.next));
    if (ps_work_some(w))
        ps_queue_push_back_locked(q, &self->item);
    ps_spin_unlock(&q->lock);
    if (PS_UNLIKELY(!ps_work_some(w)))
        return false;
    idle_notify(NULL);
    vp_give_way(vp, self, w, true);
    return true;
}

/* The yield on a stack that is bound to vp, such as the kernel thread's own: self may not enter the queue, so it goes
 * into vp's pinned slot. */
static PS_NOINLINE bool yield_as_root(struct vp *vp, struct psthread *self)
{
    if (vp_stays_with_root(vp))
        return false;
    struct ps_work w = vp_take_front(&vp->queue);
    if (ps_places_on() && !ps_work_some(w))
        w = ps_bind_visit(vp, PS_TAKE); /* if vp stands aside, takes only members of its own root's regions */
    if (!ps_work_some(w))
        return false;
    ps_store_seq(&vp->pinned, self);
    watchdog_arm_for_root(); /* the thread that runs here now may spin until the root runs */
    vp_give_way(vp, self, w, true);
    return true;
}

/* Each 64th yield looks into the global queue first, since threads that poll may keep the vp's own queue full. */
#define GLOBAL_TURNS 64

/* The yield if there is a global queue. */
static PS_NOINLINE bool yield_with_global(struct vp *vp, struct psthread *self)
{
    bool root = vp_run(vp)->uth->vp != NULL;
    if (vp_stays_with_root(vp))
        return false;
    struct ps_work w = PS_NO_WORK;
    if (++vp_run(vp)->global_turns % GLOBAL_TURNS == 0)
        w = vp_visit(vp, PS_IN_GLOBAL, PS_TAKE, false);
    if (!ps_work_some(w)) /* a root is about to enter the pinned slot itself, so the slot is empty */
        w = root ? vp_visit(vp, PS_IN_QUEUE | PS_IN_PLACES | PS_IN_GLOBAL, PS_TAKE, false)
                 : vp_visit(vp, PS_OWN | PS_IN_GLOBAL, PS_TAKE, false);
    if (!ps_work_some(w))
        return false;
    if (root) {
        ps_store_seq(&vp->pinned, self);
        watchdog_arm_for_root();
    } else {
        vp_enqueue(vp, &self->item, PS_BACK);
    }
    vp_give_way(vp, self, w, true);
    return true;
}

/* The slow path of the yield, for all cases that yield and yield_with_root do not serve themselves. */
static PS_NOINLINE bool yield_slowly(struct vp *vp, struct psthread *self)
{
    struct ps_queue *q = &vp->queue;
    if (vp_is(vp, VP_DEDICATED))
        return false;
    vp_leave_waiters(vp);
    if (PS_UNLIKELY(vp_run(vp)->uth->vp != NULL)) {
        struct uth *root = vp_run(vp)->uth;
        root->left_by = self;
        bool yields = ps_rt.has_global ? yield_with_global(vp, self) : yield_as_root(vp, self);
        root->left_by = NULL;
        return yields;
    }
    if (PS_UNLIKELY(ps_rt.has_global))
        return yield_with_global(vp, self);
    if (PS_UNLIKELY(vp_run(vp)->place != 0)) /* self is bound to a place, or runs after a thread that was */
        return yield_with_places(vp, self);
    struct ps_work w = vp_take_pinned(vp);
    if (PS_LIKELY(!ps_work_some(w)) && ps_queue_seems_empty(q))
        return ps_places_on() && yield_with_places(vp, self);
    ps_spin_lock(&q->lock);
    return yield_slow_locked(vp, self, w);
}

/* Yields to t, which was taken out of the queue or the pinned slot. self is in the queue already, so wakes a vp for the
 * queue if none searches. */
static PS_NOINLINE bool yield_for(struct vp *vp, struct psthread *self, struct psthread *t)
{
    idle_notify(NULL);
    vp_give_way(vp, self, ps_work_of(t), false);
    return true;
}

/* Yields to t, whose context is not saved yet. Either t was in the pinned slot and self is in the queue, or t was in
 * the queue and self is in the pinned slot. */
static PS_NOINLINE bool yield_soon_for(struct vp *vp, struct psthread *self, struct psthread *t)
{
    struct uth *from = self->uth;
    vp_give_way(vp, self, ps_work_of(t), false);
    from->left_by = NULL;
    return true;
}

/* The yield if self's context is bound to vp, or a thread whose context is bound to vp is ready. In the first case self
 * goes into the pinned slot, and the front of the queue runs. In the second case self goes to the back of the queue,
 * and the pinned thread runs. Only vp, or a releaser (home.h), takes a thread out of the pinned slot. Two contexts can
 * be bound to a vp (a root's, and that of a member which runs there while the root waits elsewhere), but only one of
 * them is pinned at a time. Both cases use the same call of the switch, in turns, so the processor predicts the return
 * after it (cpu/x86_64/switch.S). */
static PS_NOINLINE bool yield_with_root(struct vp *vp, struct psthread *self)
{
    struct uth *from = vp_run(vp)->uth;
    struct ps_queue *q = &vp->queue;
    struct psthread *t = ps_load_acquire(&vp->pinned);
    if (PS_UNLIKELY(ps_places_on() || vp_is(vp, VP_LONE) || t == PS_PINNED_OFFLINE))
        return yield_slowly(vp, self);
    from->left_by = self;
    if (from->vp) {
        if (PS_UNLIKELY(t != NULL) || !(t = take_front_thread(q)))
            return yield_slowly(vp, self);
        ps_store_seq(&vp->pinned, self);
        watchdog_arm_for_root(); /* the thread that runs here now may spin until the root runs */
    } else {
        if (PS_UNLIKELY(!t || !ps_spin_take(&q->lock)))
            return yield_slowly(vp, self);
        if (PS_UNLIKELY(!ps_cas_acq_rel(&vp->pinned, &t, NULL))) { /* the root was released meanwhile (home.h) */
            ps_spin_unlock(&q->lock);
            return yield_slowly(vp, self);
        }
        ps_queue_push_back_locked(q, &self->item);
        ps_spin_unlock(&q->lock);
        if (PS_UNLIKELY(!idle_knows()))
            return yield_for(vp, self, t);
    }
    if (PS_UNLIKELY(!vp_may_swap_to(t)))
        return yield_soon_for(vp, self, t);
    vp_enter_thread(vp, t);
    vp_swap(vp, from, t->uth)->left_by = NULL;
    return true;
}

/* Each way out of the fast path is a tail call, so that the fast path saves no registers for it. */
static PS_ALWAYS_INLINE bool yield(void)
{
    struct vp *vp = ps_vp_now();
    struct psthread *self;
    if (!vp || !(self = vp_run(vp)->current) || self->flags & PS_T_NOSTACK)
        return false;
    struct uth *from = vp_run(vp)->uth;
    struct ps_queue *q = &vp->queue;
    if (PS_UNLIKELY(vp_has_waiters(vp) || ps_rt.has_global || vp_run(vp)->place))
        return yield_slowly(vp, self);
    /* from->vp is also set for the context of a dedicated thread. */
    if (PS_UNLIKELY(ps_load_relaxed(&vp->pinned) || from->vp))
        return yield_with_root(vp, self);
    if (ps_queue_seems_empty(q))
        return ps_places_on() && yield_slowly(vp, self);
    if (PS_UNLIKELY(!ps_spin_take(&q->lock)))
        return yield_slowly(vp, self);
    struct ps_item *front = ps_queue_item(q->items.next);
    if (PS_UNLIKELY(ps_list_empty(&q->items) || !ps_item_plain(front)))
        return yield_slow_locked(vp, self, PS_NO_WORK);
    /* The front leaves the queue and self enters at the back, so the queue's count stays the same. */
    struct psthread *t = PS_CONTAINER_OF(front, struct psthread, item);
    ps_list_remove(&front->link);
    ps_list_push_back(&q->items, &self->item.link);
    ps_spin_unlock(&q->lock);
    if (PS_UNLIKELY(!idle_knows() || !vp_may_swap_to(t)))
        return yield_for(vp, self, t);
    from->left_by = self;
    vp_enter_thread(vp, t);
    vp_swap(vp, from, t->uth);
    return true;
}

bool ps_yield(void)
{
    const struct vp *vp = ps_vp_now();
    return !(vp && PS_UNLIKELY(ps_load_relaxed(&vp_run(vp)->in_handler)) && ps_in_handler()) && yield();
}

bool ps_root_wanted(void)
{
    struct vp *vp = ps_vp();
    return vp && vp_root_wanted(vp);
}

/* One in YIELDS_IN_VAIN of the yields that find nothing ready on the vp makes a system call, which lets other kernel
 * threads run. With a call in each yield, a thread that is alone on its vp would be many times slower than threads
 * that share one. A thread that waits in a yield loop for another kernel thread still makes the call within a
 * microsecond or two. */
#define YIELDS_IN_VAIN 16

void psthread_yield(void)
{
    if (PS_LIKELY(yield()))
        return;
    struct vp *vp = ps_vp_attach();
    if (++vp_run(vp)->yields % YIELDS_IN_VAIN == 0) {
        os_yield();
    } else {
        cpu_pause();
    }
}

unsigned ps_spin_limit(void) { return ps_rt.block_on_idle ? 0 : ps_rt.spin_limit; }

bool ps_spin_useful(void)
{
    struct vp *vp = ps_vp();
    return vp && !ps_rt.block_on_idle && !ps_work_some(vp_visit(vp, PS_OWN, PS_PEEK, false));
}
