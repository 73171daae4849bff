/* Making and submitting a thread: the parts that are inlined, because a call would cost most of the time. */
#ifndef PS_CREATE_H
#define PS_CREATE_H

#include "children.h"
#include "idle.h"
#include "psthread.h"
#include "race.h"
#include "runtime.h"
#include "sources.h"
#include "vp.h"

#include <errno.h>

/* Returns the flags (PS_T_...) that attr asks for. If attr has a stack size, stores it in t, unless t is to have no
 * stack. */
unsigned create_apply_attr(struct psthread *t, const psthread_attr_t *attr);

static inline int check_attr(const psthread_attr_t *attr)
{
    if (attr && (attr->flags & ~(PSTHREAD_ATTR_DETACHED | PSTHREAD_ATTR_NOSTACK)))
        return EINVAL;
    return attr && attr->stack_size && !ps_stack_size_sensible(attr->stack_size) ? EINVAL : 0;
}

static PS_ALWAYS_INLINE void thread_make(struct psthread *t, struct psthread *parent, const psthread_attr_t *attr,
                                         void *(*fn)(void *), void *arg, unsigned flags)
{
    uintptr_t join = PS_JOIN_OPEN;
    if (PS_UNLIKELY(attr != NULL)) {
        flags |= create_apply_attr(t, attr);
        join = flags & PS_T_DETACHED ? PS_JOIN_DETACHED : PS_JOIN_OPEN;
    }
    if (parent->flags & PS_T_ROOT)
        flags |= PS_T_OUTER;
    t->item.kind = PS_KIND_THREAD;
    t->item.bound = 0;
    t->flags = (uint8_t)flags;
    t->level = parent->level + 1;
    t->uth = NULL;
    t->fn = fn;
    t->arg = arg;
    t->parent = parent;
    ps_store_relaxed(&t->join, join);
    ps_store_relaxed(&t->state, PS_MADE);
    parent->created++;
}

/* Returns 0 if t has ended and may be made again, otherwise the errno value that says why not. */
static inline int check_reuse(struct psthread *t)
{
    enum ps_state state = ps_load_acquire(&t->state);
    if (!(t->flags & PS_T_REUSED))
        return EINVAL;
    return state == PS_ENDED ? 0 : EBUSY;
}

/* Makes a thread and returns it in *thread. counted: the thread is added to the count of threads made. flags: 0, or
 * PS_T_REUSED; then *thread may be an ended thread, whose descriptor is used again. Returns 0 or an errno value. */
static PS_ALWAYS_INLINE int create_thread(struct vp *vp, psthread_t *thread, const psthread_attr_t *attr,
                                          void *(*fn)(void *), void *arg, bool counted, unsigned flags)
{
    int err = check_attr(attr);
    if (PS_UNLIKELY(err || !thread || !fn))
        return err ? err : EINVAL;
    struct psthread *parent = vp_run(vp)->current;
    if (PS_UNLIKELY(parent->sweep_in-- == 0) && !children_look_after(vp, parent))
        return ENOMEM;
    struct psthread *t = flags & PS_T_REUSED ? *thread : NULL;
    if (t && (err = check_reuse(t)) != 0)
        return err;
    if (!t)
        t = descriptor_new(&vp_run(vp)->descriptors);
    if (PS_UNLIKELY(!t))
        return ENOMEM;
    thread_make(t, parent, attr, fn, arg, flags);
    t->vp = vp;
    if (counted)
        vp_count_made(vp);
    *thread = t;
    return 0;
}

/* Marks t as `state` and counts it as submitted; the caller then puts it into target's queue. The store is relaxed:
 * either no other thread knows t, or the step that published t orders the accesses. vp is the caller's vp, in whose
 * counter t is counted. */
static PS_ALWAYS_INLINE void submit_thread(struct vp *vp, struct psthread *t, struct vp *target, enum ps_state state)
{
    ps_race_release(t);
    ps_store_relaxed(&t->state, state);
    t->vp = target;
    vp_count_submitted(vp);
}

/* As vp_enqueue, for a thread that has not begun; inlined. Unless there are places it wakes no home that stands aside.
 * */
static PS_ALWAYS_INLINE void enqueue_fresh(struct vp *target, struct psthread *t, enum ps_end end)
{
    struct ps_queue *q = &target->queue;
    if (ps_places_on()) {
        vp_enqueue(target, &t->item, end);
        return;
    }
    ps_spin_lock(&q->lock);
    if (end == PS_FRONT)
        ps_queue_push_front_locked(q, &t->item);
    else
        ps_queue_push_back_locked(q, &t->item);
    ps_spin_unlock(&q->lock);
    idle_notify(target);
}

#endif
