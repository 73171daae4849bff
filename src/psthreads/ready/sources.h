/* The sources of work: where ready work can be, and how it gets there.
 *
 * Does: lists the sources once (enum ps_source), and inserts work. Does not: go through that list to peek, to look or
 * to take (vp_visit in visit.h); decide how long a vp searches (search.h); decide when a vp parks, and which vp is
 * woken (idle.h).
 *
 * A new source has to be added to the list, to vp_visit and vp_look_for_all, to what the watchdog looks at, to dump.c
 * and to the gdb script. A function that inserts work into a source, or moves it, must notify after the insertion: it
 * calls idle_notify, or idle_wake_this if only one vp may run the work. The proof that no wake-up is lost depends on
 * that. */
#ifndef PS_SOURCES_H
#define PS_SOURCES_H

#include "parts.h"
#include "scheduler.h"
#include "work.h"

struct ps_item;
struct ps_list;
struct ps_queue;
struct vp;

/* Takes work from `item`, the entry at one end of q: a thread, or the next member of a team. The lock is held. A team
 * stays in the queue until its last member is claimed. Returns no work if the team's members are all claimed. */
struct ps_work vp_take_item_locked(struct ps_queue *q, struct ps_item *item);
/* Takes work from the front of q. Returns no work if q is empty. */
struct ps_work vp_take_front(struct ps_queue *q);
/* Counts the unclaimed members of the teams among the first entries of q, and returns how many there are. */
unsigned vp_count_members(struct ps_queue *q);

/* Steals for vp from q, another vp's queue: takes from the back, and gives up if the lock is held. */
struct ps_work vp_steal_from(struct vp *vp, struct ps_queue *q);

/* All sources of work for a vp, in the order in which vp_visit goes through them. After a vp has run a thread it looks
 * at PS_OWN (vp_take_next), then at PS_ELSEWHERE once. In a search it looks at all sources (search.c). */
enum ps_source {
    PS_IN_PINNED = 1,  /* its pinned slot: what only this vp may run */
    PS_IN_HANDOFF = 2, /* its handoff slot */
    PS_IN_QUEUE = 4,   /* its queue, from the front */
    PS_IN_PLACES = 8,  /* the queues of its places (bind.h), from the front */
    /* The other vps' queues, from the back: those of vps that are no guests, in the hierarchical order (psthreads-2009
     * figure 2), then those of guests. */
    PS_IN_OTHERS = 16,
    PS_IN_GLOBAL = 32, /* the global queue */
};
#define PS_OWN (PS_IN_PINNED | PS_IN_QUEUE | PS_IN_PLACES) /* the vp's own */
#define PS_ELSEWHERE (PS_IN_OTHERS | PS_IN_GLOBAL)
#define PS_EVERYWHERE (PS_OWN | PS_IN_HANDOFF | PS_ELSEWHERE)

/* vp_visit_others: visits PS_IN_OTHERS. vp_steal_round: takes from PS_ELSEWHERE. closed_too: also visits closed
 * queues, those of parents that run short regions alone (serial_predictor.h); before vp takes from one of them, it has
 * to peek there twice. A spare need not. */
struct ps_work vp_visit_others(struct vp *vp, enum ps_visit visit, bool closed_too);
struct ps_work vp_steal_round(struct vp *vp, bool closed_too);

/* Returns true if some source has work for vp. Looks into queues under their locks. */
bool vp_look(struct vp *vp);
/* Returns true if vp's own queue or pinned slot has something, or if the library stops. Looks into the queue under its
 * lock. */
bool vp_look_at_own(struct vp *vp);
/* Returns true if one of the sources that `which` names has something: the pinned slot, the handoff slot or the queue
 * of any vp, a place's queue, the global queue. Looks into queues under their locks. */
bool vp_look_for_all(unsigned which);

/* Returns true if some queue seems to have something. Looks without locks. */
bool vp_work_waits(void);

/* Inserts the item into target's queue, or into its place's queue if it is bound. Wakes a vp for it if needed. */
void vp_enqueue(struct vp *target, struct ps_item *item, enum ps_end end);
/* Inserts n threads into target's queue at once; none of them is bound. Their links form a ring that begins with
 * `first`. */
void vp_enqueue_ring(struct vp *target, struct ps_list *first, unsigned n, enum ps_end end);
/* Inserts the item into the global queue. */
void vp_enqueue_global(struct ps_item *item, enum ps_end end);

#endif
