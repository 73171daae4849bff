/* The word of a team's barrier, and the batches of members that are published in it: for team_barrier.c alone.
 *
 * The word: arrivals to come (left), the first published batch (head, its first member's number + 1), the number of the
 * phase. One word, so that no state has to be looked at twice. A batch is a ring of one vp's members that wait; its
 * first member has its size, and the number of the batch behind it. tests/models/team_barrier.md. */
#ifndef PS_TEAM_BATCHES_H
#define PS_TEAM_BATCHES_H

#include "current.h"
#include "scheduler.h"
#include "sources.h"
#include "team.h"
#include "vp.h"

#define COUNT_BITS 21 /* members: up to 2^20, their number + 1 */
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

/* m begins a batch, of which no member is looked at afterwards. turn: NULL, or the vp whose turn is the team's. */
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

/* Readies the batches from number `head` on, but for the one that has `keep` only; true: that was among them. */
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

/* The published batches are the caller's. */
static inline uint32_t take_published(struct ps_team *team)
{
    uint64_t word = ps_load_seq(&team->barrier);
    while (head_of(word) && !ps_cas_seq(&team->barrier, &word, with_head(word, 0)))
        continue;
    return head_of(word);
}

/* Publishes the batches from first to last, and counts `arrivals`. False: the phase is over, and the caller
 * behind it. */
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

#endif
