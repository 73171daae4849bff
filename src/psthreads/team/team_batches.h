/* The word of a team's barrier, the batches of members that are published in it, and a vp's list of waiters. Only
 * team_barrier.c includes this.
 *
 * The word has three fields: how many arrivals are still to come (left), the first published batch (head: the number
 * of its first member + 1), and the number of the phase. It is one word, so one access sees or changes them
 * together. A batch is a ring of members that wait on one vp. Its first member has the batch's size, and the number
 * of the next batch. tests/models/team_barrier.md. */
#ifndef PS_TEAM_BATCHES_H
#define PS_TEAM_BATCHES_H

#include "check.h"
#include "cpu.h"
#include "current.h"
#include "idle.h"
#include "runtime.h"
#include "scheduler.h"
#include "sources.h"
#include "team.h"
#include "vp.h"
#include "watchdog.h"

#define COUNT_BITS 21 /* enough for 2^20 members: the head is a member's number + 1 */
#define HEAD_SHIFT COUNT_BITS
#define PHASE_SHIFT (2 * COUNT_BITS)
#define COUNT_MASK ((UINT64_C(1) << COUNT_BITS) - 1)
#define PHASE_MASK (UINT64_MAX >> PHASE_SHIFT)

_Static_assert(PHASE_SHIFT == PS_BARRIER_PHASE_SHIFT, "reports read it");

static inline uint32_t left_of(uint64_t word) { return (uint32_t)(word & COUNT_MASK); }
static inline uint32_t head_of(uint64_t word) { return (uint32_t)(word >> HEAD_SHIFT & COUNT_MASK); }
static inline uint32_t phase_of(uint64_t word) { return (uint32_t)(word >> PHASE_SHIFT); }
static inline uint64_t with_head(uint64_t word, uint64_t head)
{
    return (word & ~(COUNT_MASK << HEAD_SHIFT)) | head << HEAD_SHIFT;
}

/* --- batches --- */

static inline struct ps_member *member_of(struct ps_list *link)
{
    return PS_CONTAINER_OF(link, struct ps_member, thread.item.link);
}

static inline uint64_t number_of(const struct ps_team *team, const struct ps_member *m)
{
    return (uint64_t)((const char *)m - team->members) / team->stride + 1;
}

/* Readies the batch whose first member is m, and reads none of its members afterwards. turn: the vp on which the
 * team has a turn, so that its members go to the front; or NULL. */
static inline void ready_batch(struct ps_member *m, const struct vp *turn)
{
    struct vp *target = m->thread.vp, *here;
    enum ps_end end = target == turn ? PS_FRONT : PS_BACK;
    if (m->batch == 1) {
        ps_ready(&m->thread, end);
        return;
    }
    if (PS_UNLIKELY(!ps_load_relaxed(&target->attached)) && (here = ps_vp()) != NULL)
        target = here;
    vp_enqueue_ring(target, &m->thread.item.link, m->batch, end);
}

/* Readies the batches of the list whose first member has number `head` (0: the list is empty), except the batch whose
 * first member is `keep`. Returns true if that batch was in the list. */
static inline bool ready_batches(struct ps_team *team, uint32_t head, const struct ps_member *keep,
                                 const struct vp *turn)
{
    bool found = false;
    while (head) {
        struct ps_member *m = ps_team_member(team, head - 1);
        head = m->next_batch;
        if (m == keep)
            found = true;
        else
            ready_batch(m, turn);
    }
    return found;
}

/* Takes all published batches out of the word. Returns the number of the first; 0: none. */
static inline uint32_t take_published(struct ps_team *team)
{
    uint64_t word = ps_load_seq(&team->barrier);
    while (head_of(word) && !ps_cas_seq(&team->barrier, &word, with_head(word, 0)))
        continue;
    return head_of(word);
}

/* Publishes the batches from first to last, and counts `arrivals` at the same time. False: the phase has ended
 * meanwhile, so nothing was published. Sets *opens to true if no arrival is missing now: then the caller has to open
 * the barrier. */
static inline bool publish_waiters(struct ps_team *team, struct ps_member *first, struct ps_member *last,
                                   uint32_t phase, uint32_t arrivals, bool *opens)
{
    uint64_t number = number_of(team, first), word = ps_load_acquire(&team->barrier);
    do {
        if (phase_of(word) != phase)
            return false;
        last->next_batch = head_of(word);
    } while (!ps_cas_seq(&team->barrier, &word, with_head(word - arrivals, number)));
    *opens = arrivals && left_of(word) == arrivals;
    return true;
}

/* --- a vp's waiters --- */

/* A copy of what a vp's list of waiters had. first: the list's members as a ring; NULL: the list was empty. */
struct taken {
    struct ps_waiters w;
    struct ps_list *first;
};

static struct taken take_waiters_locked(struct ps_waiters *w)
{
    struct taken t = {.w = *w, .first = ps_list_empty(&w->list) ? NULL : ps_list_take_ring(&w->list)};
    w->root = NULL;
    w->uncounted = 0;
    ps_store_release(&w->count, 0);
    return t;
}

/* Limits of a turn (see "Turns" in tests/models/team_barrier.md): how many openings of barriers, and how long. The
 * clock is read at the first two openings, then at each fourth, since a reading takes 10 ns. */
#define TURN_OPENINGS 32
#define TURN_NS 1000000
#define TURN_LOOK 4

/* Called when a barrier opens. Returns true if the team has a turn on vp, the caller's: its members go in front of the
 * other threads in vp's queue. Counts the opening. At the end of a turn returns false, and the next turn begins. */
static PS_NOINLINE bool has_turn(struct vp *vp)
{
    struct ps_waiters *w = &vp->waiters;
    if (w->turn_left > 0) {
        uint32_t left = w->turn_left--;
        if (left == TURN_OPENINGS)
            w->turn_began = cpu_cycles();
        else if ((left == TURN_OPENINGS - 1 || left % TURN_LOOK == 0) &&
                 cpu_cycles() - w->turn_began > ps_rt.per_region_cycles * (TURN_NS / PS_PER_REGION_NS))
            w->turn_left = 0;
        if (w->turn_left > 0)
            return true;
    }
    w->turn_left = TURN_OPENINGS;
    return false;
}

/* Puts vp's waiters, which have been counted, into its queue. The caller holds the queue's lock; it is free on
 * return. own: the caller runs on vp, so vp need not be woken for its root. */
static inline void ready_and_unlock(struct vp *vp, bool own, enum ps_end end)
{
    struct ps_waiters *w = &vp->waiters;
    struct psthread *root = w->root;
    uint32_t n = ps_load_relaxed(&w->count) - (root != NULL);
    if (n) {
        /* inserts the ring before the front item, or before the list's head, which is the back of the queue */
        struct ps_list *items = &vp->queue.items;
        ps_list_push_ring_back(end == PS_FRONT ? items->next : items, ps_list_take_ring(&w->list));
        ps_queue_count_locked(&vp->queue, (int)n);
    }
    w->root = NULL;
    ps_store_release(&w->count, 0);
    ps_spin_unlock(&vp->queue.lock);
    if (n)
        idle_notify(vp);
    if (!root)
        return;
    if (!own) {
        ps_ready(root, PS_BACK);
        return;
    }
    ps_store_seq(&vp->pinned, root);
    watchdog_arm_for_root();
}

/* Takes the lock, then does what ready_and_unlock does. The caller runs on vp, and vp's waiters have been counted. */
static inline void ready_waiters(struct vp *vp, enum ps_end end)
{
    ps_spin_lock(&vp->queue.lock);
    PS_ASSERT(vp->waiters.uncounted == 0);
    ready_and_unlock(vp, true, end);
}

#endif
