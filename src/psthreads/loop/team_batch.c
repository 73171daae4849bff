/* A member that meets its team's barrier joins the batch of its vp, and a teammate runs: see team_batch.h.
 *
 * Callers: the member, on the kernel thread that carries its vp. */
#include "team_batch.h"

#include "current.h"
#include "queue.h"
#include "switch.h"
#include "visit.h"

static inline bool is_teammate(const struct psthread *t, const struct ps_team *team)
{
    return t->flags & PS_T_MEMBER && ((const struct ps_member *)(const void *)t)->team == team;
}

/* Of many members' contexts the first cache does not hold all: the one behind the next is fetched meanwhile. q's lock
 * is held. */
static inline void prefetch_front_locked(const struct ps_queue *q)
{
    const struct ps_item *front = ps_queue_item(q->items.next);
    if (!ps_list_empty(&q->items) && front->kind == PS_KIND_THREAD)
        __builtin_prefetch(PS_CONTAINER_OF(front, const struct psthread, item)->uth);
}

/* The team's next member that this vp would run, taken; the queue's lock is held. */
static inline struct ps_work take_teammate_locked(struct vp *vp, struct ps_team *team)
{
    struct psthread *pinned = ps_load_acquire(&vp->pinned);
    if (PS_UNLIKELY(pinned != NULL))
        return pinned != PS_PINNED_OFFLINE && is_teammate(pinned, team) ? vp_take_pinned(vp) : PS_NO_WORK;
    struct ps_queue *q = &vp->queue;
    if (ps_list_empty(&q->items))
        return PS_NO_WORK;
    struct ps_item *front = ps_queue_item(q->items.next);
    if (front->kind != PS_KIND_THREAD)
        return front == &team->item ? vp_take_item_locked(q, front) : PS_NO_WORK;
    struct psthread *t = PS_CONTAINER_OF(front, struct psthread, item);
    if (!is_teammate(t, team))
        return PS_NO_WORK;
    ps_queue_remove_locked(q, front);
    prefetch_front_locked(q);
    return ps_work_of(t);
}

/* self is not to leave in a batch. */
static enum ps_met wait_otherwise(struct vp *vp, struct ps_team *team, struct ps_member *m, uint32_t phase,
                                  bool counted)
{
    vp_run(vp)->uth->wait.thread = NULL;
    return ps_team_barrier_count(vp, team, m, phase, counted);
}

/* vp has something ready. */
static PS_NOINLINE PS_CODE_ALIGNED enum ps_met wait_in_batch(struct vp *vp, struct ps_team *team, struct ps_member *m,
                                                             uint32_t phase, bool counted)
{
    struct psthread *self = &m->thread;
    struct ps_waiters *among = &vp->waiters;
    struct ps_work w = PS_NO_WORK;
    if (vp_is(vp, VP_DEDICATED)) /* what is in its queue is for others */
        return ps_team_barrier_count(vp, team, m, phase, counted);
    struct uth *from = vp_run(vp)->uth;
    struct uth_wait *wait = &from->wait;
    wait->thread = self; /* while no thread can ready it */
    if (vp_stays_with_root(vp))
        return wait_otherwise(vp, team, m, phase, counted);
    if (PS_UNLIKELY(!ps_load_relaxed(&team->batched)))
        ps_store_seq(&team->batched, 1);
    ps_spin_lock(&vp->queue.lock);
    uint32_t count = ps_load_relaxed(&among->count);
    if (PS_LIKELY(!ps_load_seq(&team->notified)))
        w = take_teammate_locked(vp, team);
    if (PS_UNLIKELY(!ps_work_some(w))) {
        ps_spin_unlock(&vp->queue.lock);
        return wait_otherwise(vp, team, m, phase, counted);
    }
    if (count == 0) {
        among->team = team;
        among->phase = phase;
    }
    if (PS_LIKELY(!from->vp))
        ps_list_push_back(&among->list, &self->item.link);
    else
        among->root = self;
    among->uncounted++;
    ps_store_relaxed(&among->count, count + 1);
    wait->object = team;
    wait->kind = PS_WAIT_TEAM_BARRIER;
    wait->turn = phase;
    ps_spin_unlock(&vp->queue.lock);
    vp_switch_away(vp, self, w, false);
    wait->thread = NULL;
    return ps_team_barrier_over(team, phase) ? PS_MET_RELEASED : PS_MET_CALLED;
}

static PS_NOINLINE enum ps_met leave_and_wait(struct vp *vp, struct ps_team *team, struct ps_member *m, uint32_t phase,
                                              bool counted)
{
    ps_team_barrier_leave(vp);
    return vp_wait_in_batch(team, m, phase, counted);
}

PS_CODE_ALIGNED enum ps_met vp_wait_in_batch(struct ps_team *team, struct ps_member *m, uint32_t phase, bool counted)
{
    struct vp *vp = ps_vp_now();
    if (PS_UNLIKELY(vp_has_waiters(vp) && vp->waiters.team != team))
        return leave_and_wait(vp, team, m, phase, counted);
    if (ps_queue_seems_empty(&vp->queue) && !ps_load_relaxed(&vp->pinned))
        return ps_team_barrier_count(vp, team, m, phase, counted);
    return wait_in_batch(vp, team, m, phase, counted);
}
