/* The barrier of a team's members.
 *
 * Does: counts arrivals, lets members wait, and lets all go on.
 * Does not: know tasks, or serve other threads than members (barrier.c does). A member arrives only after the core has
 * run the member's tasks; once a region has tasks, members wait in the core (ps_team_notify).
 * Caller: an unfinished member of an open region, in its own name.
 *
 * If members share vps, each member that arrives joins its vp's list of *waiters*, and the vp runs the next member at
 * once. That takes the queue's lock once, and no shared line. The vp's last member counts all of them with one
 * subtraction from the word `barrier`, then spins. If the barrier opens meanwhile, the whole list becomes ready.
 * Otherwise that member blocks, and the list is *published* as a batch together with it (team_batches.h). The member
 * that opens the barrier readies the batch. The lists are not used if each member has a vp, if the program has places,
 * or if the region has tasks. Then members spin, and block as batches of one. Members with a vp each meet without the
 * word as long as none comes late (team_rounds.c).
 *
 * Invariants: a batch enters the word in its own phase only, and leaves it once. As long as arrivals of a vp's waiters
 * are not counted, a member of the team that has not arrived runs on this vp. The word's states, orderings, turns, and
 * why each step is right: tests/models/team_barrier.md.
 *
 * Failures: none.
 * Cost: a member that waits: a lock, a switch. A vp: a subtraction from the shared word, a read of it, and a lock to
 * let its waiters go. A team on one vp: a lock alone.
 * Rejected: a word `blocked` in each member and a count of them (five atomic operations a member). Readied members
 * always at the front of the queue (a team that only goes through barriers would keep its vp for ever). nthlib-2004
 * sections 2 and 3; manycore-nested-2016 section 3.1. */
#include "check.h"
#include "current.h"
#include "idle.h"
#include "runtime.h"
#include "scheduler.h"
#include "sources.h"
#include "switch.h"
#include "team.h"
#include "team_batches.h"
#include "visit.h"
#include "vp.h"
#include "waiters.h"
#include "watchdog.h"

void ps_team_barrier_fork(struct ps_team *team, unsigned n)
{
    uint64_t phase = phase_of(ps_load_relaxed(&team->barrier));
    ps_store_relaxed(&team->barrier, phase << PHASE_SHIFT | n);
    ps_store_relaxed(&team->batched, 0);
}

static inline void ready_if_any(struct vp *vp)
{
    if (vp_has_waiters(vp))
        ready_waiters(vp, PS_BACK);
}

static inline void leave_if_any(struct vp *vp)
{
    if (PS_UNLIKELY(vp_has_waiters(vp)))
        ps_team_barrier_leave(vp);
}

PS_NOINLINE void ps_team_barrier_leave(struct vp *vp)
{
    ps_spin_lock(&vp->queue.lock);
    if (!vp_has_waiters(vp)) { /* the waiters were called back meanwhile */
        ps_spin_unlock(&vp->queue.lock);
        return;
    }
    struct ps_team *team = vp->waiters.team;
    if (!vp->waiters.uncounted && ps_team_barrier_over(team, vp->waiters.phase)) {
        ready_and_unlock(vp, true, PS_BACK);
        return;
    }
    struct taken t = take_waiters_locked(&vp->waiters);
    ps_spin_unlock(&vp->queue.lock);
    struct ps_member *first = t.first ? member_of(t.first) : NULL, *last = first;
    if (first)
        first->batch = ps_load_relaxed(&t.w.count) - (t.w.root != NULL);
    if (t.w.root) {
        struct ps_member *root = PS_CONTAINER_OF(t.w.root, struct ps_member, thread);
        root->batch = 1;
        root->next_batch = first ? (uint32_t)number_of(team, first) : 0;
        first = root;
        last = last ? last : root;
    }
    bool opens;
    if (!publish_waiters(team, first, last, t.w.phase, t.w.uncounted, &opens)) {
        last->next_batch = 0;
        ready_batches(team, (uint32_t)number_of(team, first), NULL, NULL);
    } else if (PS_UNLIKELY(opens)) {
        ps_team_barrier_release(team);
    } else if (ps_load_seq(&team->notified)) {
        ready_batches(team, take_published(team), NULL, NULL);
    }
}

static void call_back_from(struct vp *vp, struct ps_team *team)
{
    struct ps_waiters *w = &vp->waiters;
    ps_spin_lock(&vp->queue.lock);
    if (ps_load_relaxed(&w->count) == 0 || w->team != team) {
        ps_spin_unlock(&vp->queue.lock);
        return;
    }
    bool opens = w->uncounted && left_of(ps_sub_acq_rel(&team->barrier, w->uncounted)) == w->uncounted;
    w->uncounted = 0;
    ready_and_unlock(vp, false, PS_BACK);
    if (PS_UNLIKELY(opens))
        ps_team_barrier_release(team);
}

void ps_team_barrier_call_back(struct ps_team *team)
{
    if (ps_load_seq(&team->batched)) {
        unsigned vps = ps_load_acquire(&ps_rt.table_size);
        for (unsigned i = 0; i < vps; i++) {
            struct vp *vp = ps_vp_at(i);
            if (vp)
                call_back_from(vp, team);
        }
    }
    ready_batches(team, take_published(team), NULL, NULL);
}

/* --- the barrier --- */

static bool arrive_central(struct ps_team *team)
{
    if (PS_UNLIKELY(ps_load_acquire(&team->batched)))
        leave_if_any(ps_vp());
    return left_of(ps_sub_acq_rel(&team->barrier, 1)) == 1;
}

bool ps_team_barrier_release(struct ps_team *team)
{
    if (PS_UNLIKELY(ps_load_relaxed(&team->spread)))
        ps_team_rounds_release(team, head_of(ps_load_relaxed(&team->barrier)) != 0);
    uint64_t phase = (phase_of(ps_load_relaxed(&team->barrier)) + 1) & PHASE_MASK;
    uint64_t word = ps_xchg_seq(&team->barrier, phase << PHASE_SHIFT | team->n);
    PS_ASSERT(left_of(word) == 0);
    struct vp *vp = ps_vp();
    bool turn = PS_UNLIKELY(!ps_queue_seems_empty(&vp->queue)) && has_turn(vp);
    ready_batches(team, head_of(word), NULL, turn ? vp : NULL);
    if (vp_has_waiters(vp) && vp->waiters.team == team)
        ready_waiters(vp, turn ? PS_FRONT : PS_BACK);
    return vp_root_wanted(vp);
}

/* Spins until the phase ends. Returns 1 if the phase has ended; -1 if the region has tasks, so that the member is
 * called away; 0 if the limit was reached, or if to spin is of no use (ps_spin_useful). */
static int spin_for_phase(struct ps_team *team, uint32_t phase, unsigned limit)
{
    for (unsigned i = 0; i < limit; i++) {
        if (ps_team_barrier_over(team, phase))
            return 1;
        if (ps_load_relaxed(&team->notified))
            return -1;
        if (!(i % 16) && !ps_spin_useful())
            return 0;
        cpu_pause();
    }
    return 0;
}

/* Member m, which has arrived, waits as a batch of one. True: the phase is over. False: m was called away. */
static bool block_in_barrier(struct ps_team *team, struct ps_member *m, uint32_t phase)
{
    bool opens;
    m->batch = 1;
    if (!publish_waiters(team, m, m, phase, 0, &opens)) {
        ready_if_any(ps_vp());
        return true;
    }
    if (ps_load_seq(&team->notified) && ready_batches(team, take_published(team), m, NULL)) {
        ready_if_any(ps_vp());
        return ps_team_barrier_over(team, phase);
    }
    m->thread.uth->wait.turn = phase;
    ps_block(&m->thread, PS_WAIT_TEAM_BARRIER, team); /* ps_block counts and publishes the vp's waiters as well */
    /* If the phase is not over, m was called away since the region has tasks. */
    return ps_team_barrier_over(team, phase);
}

/* A vp's last member spins at most BATCH_SPINS times ps_spin_limit if its vp has waiters. The limit is low: if the
 * system takes the vp's processor meanwhile, no other vp can run the waiters. */
#define BATCH_SPINS 4
/* A vp's last member spins at most ALONE_SPINS times ps_spin_limit if its vp has no waiters. The member has the vp to
 * itself. If the member blocked, its vp would find no work. Or the vp would take another vp's member, and the blocked
 * member would lose its vp. */
#define ALONE_SPINS 16

static bool await_opening(struct ps_team *team, unsigned id, uint32_t phase)
{
    if (ps_team_barrier_over(team, phase))
        return true;
    int spun = spin_for_phase(team, phase, ps_spin_limit() * (ps_load_relaxed(&team->spread) ? PS_BARRIER_SPINS : 1));
    return spun ? spun > 0 : block_in_barrier(team, ps_team_member(team, id), phase);
}

/* Counts the waiters of the caller's vp first, if there are any, so that they do not depend on this member. */
bool ps_team_barrier_await(struct ps_team *team, unsigned id, uint32_t phase)
{
    leave_if_any(ps_vp());
    return await_opening(team, id, phase);
}

/* m and the `fellows` members that wait on its vp have been counted. Waits for the other members. */
static PS_NOINLINE enum ps_met await_others(struct ps_team *team, struct ps_member *m, uint32_t phase, uint32_t fellows)
{
    unsigned times = fellows == 0 ? ALONE_SPINS : fellows < BATCH_SPINS ? fellows + 1 : BATCH_SPINS;
    int spun = spin_for_phase(team, phase, ps_spin_limit() * times);
    if (!spun)
        return block_in_barrier(team, m, phase) ? PS_MET_RELEASED : PS_MET_CALLED;
    ready_if_any(ps_vp());
    return spun > 0 ? PS_MET_RELEASED : PS_MET_CALLED;
}

/* Opens the barrier, since all members are vp's waiters and the caller. The caller holds the lock of vp's queue; it
 * is free on return. */
static inline void open_here_and_unlock(struct vp *vp, struct ps_team *team, uint32_t phase)
{
    PS_ASSERT(ps_load_relaxed(&team->barrier) == ((uint64_t)phase << PHASE_SHIFT | team->n));
    ps_store_release(&team->barrier, (((uint64_t)phase + 1) & PHASE_MASK) << PHASE_SHIFT | team->n);
    bool turn = PS_UNLIKELY(!ps_list_empty(&vp->queue.items)) && has_turn(vp);
    ready_and_unlock(vp, true, turn ? PS_FRONT : PS_BACK);
}

/* Member m arrives on vp, the caller's, and cannot wait in a batch. Counts vp's waiters and m by one subtraction.
 * Returns PS_MET_LAST if no arrival is missing then; otherwise waits. Opens the barrier itself if all members are on
 * vp, `counted` is false, and vp's root_first is not set. */
static enum ps_met count_arrivals(struct vp *vp, struct ps_team *team, struct ps_member *m, uint32_t phase,
                                  bool counted)
{
    struct ps_waiters *w = &vp->waiters;
    uint32_t arrivals = 1, fellows = 0;
    if (vp_has_waiters(vp)) {
        ps_spin_lock(&vp->queue.lock);
        fellows = ps_load_relaxed(&w->count);
        arrivals += w->uncounted;
        w->uncounted = 0;
        if (arrivals == team->n && !counted && PS_LIKELY(!ps_load_relaxed(&vp->root_first))) {
            open_here_and_unlock(vp, team, phase);
            return PS_MET_RELEASED;
        }
        ps_spin_unlock(&vp->queue.lock);
    }
    if (left_of(ps_sub_acq_rel(&team->barrier, arrivals)) == arrivals)
        return PS_MET_LAST;
    return await_others(team, m, phase, fellows);
}

/* --- members that share a vp --- */

static inline bool is_teammate(const struct psthread *t, const struct ps_team *team)
{
    return t->flags & PS_T_MEMBER && ((const struct ps_member *)(const void *)t)->team == team;
}

/* Prefetches the context of the queue's front thread, which runs after the one just taken. With many members the
 * first-level cache does not hold it. q's lock is held. */
static inline void prefetch_front_locked(const struct ps_queue *q)
{
    const struct ps_item *front = ps_queue_item(q->items.next);
    if (!ps_list_empty(&q->items) && front->kind == PS_KIND_THREAD)
        __builtin_prefetch(PS_CONTAINER_OF(front, const struct psthread, item)->uth);
}

/* Takes the next work of vp if that is a member of the team, or the team's entry; else returns none. The queue's
 * lock is held. */
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

/* Called if m has set wait.thread, to wait in a batch, and cannot. Clears wait.thread, then does what count_arrivals
 * does. */
static enum ps_met wait_otherwise(struct vp *vp, struct ps_team *team, struct ps_member *m, uint32_t phase,
                                  bool counted)
{
    vp_run(vp)->uth->wait.thread = NULL;
    return count_arrivals(vp, team, m, phase, counted);
}

/* Does the rest of meet_in_batch if vp seems to have something ready. */
static PS_NOINLINE PS_CODE_ALIGNED enum ps_met wait_in_batch(struct vp *vp, struct ps_team *team, struct ps_member *m,
                                                             uint32_t phase, bool counted)
{
    struct psthread *self = &m->thread;
    struct ps_waiters *among = &vp->waiters;
    struct ps_work w = PS_NO_WORK;
    if (vp_is(vp, VP_DEDICATED)) /* a dedicated vp takes no teammate out of its queue, so m cannot wait in a batch */
        return count_arrivals(vp, team, m, phase, counted);
    struct uth *from = vp_run(vp)->uth;
    struct uth_wait *wait = &from->wait;
    wait->thread = self; /* set before any thread can ready self */
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
    struct psthread *t = ps_work_thread(w);
    if (PS_LIKELY(t && vp_may_swap_to(t))) {
        vp_enter_thread(vp, t);
        vp_swap(vp, from, t->uth);
    } else {
        vp_switch_away(vp, self, w, false);
    }
    wait->thread = NULL;
    return ps_team_barrier_over(team, phase) ? PS_MET_RELEASED : PS_MET_CALLED;
}

static enum ps_met meet_in_batch(struct ps_team *team, struct ps_member *m, uint32_t phase, bool counted);

static PS_NOINLINE enum ps_met leave_and_wait(struct vp *vp, struct ps_team *team, struct ps_member *m, uint32_t phase,
                                              bool counted)
{
    ps_team_barrier_leave(vp);
    return meet_in_batch(team, m, phase, counted);
}

/* Lets m wait if members share vps: m joins its vp's waiters, and the teammate that the vp would run next runs. If this
 * is not possible, above all if vp has no such teammate, counts the arrivals of m and of the waiters instead. */
static PS_NOINLINE PS_CODE_ALIGNED enum ps_met meet_in_batch(struct ps_team *team, struct ps_member *m, uint32_t phase,
                                                             bool counted)
{
    struct vp *vp = ps_vp_now();
    if (PS_UNLIKELY(vp_has_waiters(vp) && vp->waiters.team != team))
        return leave_and_wait(vp, team, m, phase, counted);
    if (ps_queue_seems_empty(&vp->queue) && !ps_load_relaxed(&vp->pinned))
        return count_arrivals(vp, team, m, phase, counted);
    return wait_in_batch(vp, team, m, phase, counted);
}

/* --- the three ways to meet --- */

static PS_NOINLINE enum ps_met meet_alone(struct ps_team *team, unsigned id, uint32_t phase)
{
    if (arrive_central(team))
        return PS_MET_LAST;
    return await_opening(team, id, phase) ? PS_MET_RELEASED : PS_MET_CALLED;
}

static PS_ALWAYS_INLINE enum ps_met meet_by_word(struct ps_team *team, unsigned id, uint32_t phase, bool counted)
{
    if (ps_load_relaxed(&team->spread) || ps_places_on() || ps_load_seq(&team->notified))
        return meet_alone(team, id, phase);
    return meet_in_batch(team, ps_team_member(team, id), phase, counted);
}

static PS_NOINLINE enum ps_met meet_in_rounds(struct ps_team *team, unsigned id, uint32_t phase)
{
    return ps_team_rounds_meet(team, id) ? PS_MET_RELEASED : meet_by_word(team, id, phase, false);
}

enum ps_met ps_team_barrier_meet(struct ps_team *team, unsigned id, uint32_t phase, bool counted)
{
    if (ps_load_acquire(&team->by_word) != PS_BY_WORD && !counted)
        return meet_in_rounds(team, id, phase);
    return meet_by_word(team, id, phase, counted);
}
