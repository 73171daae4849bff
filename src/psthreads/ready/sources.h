/* Where work can be, and putting it there.
 *
 * Does: lists the sources of work once (enum ps_source). Does not: go through that list to peek, to look or to take
 * (vp_visit in visit.h), decide how long a vp searches (search.h), or when it parks and which vp is woken (idle.h).
 *
 * A new source has to be added to the list, to vp_visit and vp_look_for_all, to what the watchdog looks at, to dump.c
 * and to the gdb script. An operation that puts work there, or moves it, must notify behind its insertion (idle_notify,
 * or idle_wake_this for what only one vp may run). Then the parking proof holds for it. */
#ifndef PS_SOURCES_H
#define PS_SOURCES_H

#include "parts.h"
#include "scheduler.h"
#include "work.h"

struct ps_item;
struct ps_list;
struct ps_queue;
struct vp;

/* Takes what `item`, an entry at one end of q, gives; the lock is held. A team stays in the queue until its last member
 * is claimed. */
struct ps_work vp_take_item_locked(struct ps_queue *q, struct ps_item *item);
struct ps_work vp_take_front(struct ps_queue *q);
/* Returns how many members no vp has claimed, in the first entries of q. */
unsigned vp_count_members(struct ps_queue *q);

/* Visits another vp's queue as a thief: takes from the back, and only tries the lock. */
struct ps_work vp_steal_from(struct vp *vp, struct ps_queue *q);

/* All sources of work for a vp, in the order in which vp_visit looks there. After a thread has run, a vp looks at
 * PS_OWN alone; in a search it looks as search_once says. */
enum ps_source {
    PS_IN_PINNED = 1,  /* what is pinned to it: only it may run that */
    PS_IN_HANDOFF = 2, /* its handoff slot */
    PS_IN_QUEUE = 4,   /* its queue, from the front */
    PS_IN_PLACES = 8,  /* the queues of the places that it looks into (bind.h), from the front */
    PS_IN_OTHERS = 16, /* the other vps' queues, from the back: the regular ones in the hierarchical order
                        * (psthreads-2009 figure 2), then the guests' */
    PS_IN_GLOBAL = 32, /* the global queue */
};
#define PS_OWN (PS_IN_PINNED | PS_IN_QUEUE | PS_IN_PLACES) /* in its own reach */
#define PS_ELSEWHERE (PS_IN_OTHERS | PS_IN_GLOBAL)
#define PS_EVERYWHERE (PS_OWN | PS_IN_HANDOFF | PS_ELSEWHERE)

/* Visits PS_IN_OTHERS. closed_too: also queues that are closed (serial_predictor.h), with a peek before the taking. */
struct ps_work vp_visit_others(struct vp *vp, enum ps_visit visit, bool closed_too);
struct ps_work vp_steal_round(struct vp *vp, bool closed_too);

/* Under the locks: whether there is something for vp. */
bool vp_look(struct vp *vp);
/* Under the locks: whether there is something in vp's own queue or its pinned slot. */
bool vp_look_at_own(struct vp *vp);
/* Under the locks: whether there is something for any vp, in the sources `which` of each: its own, the places', the
 * global queue. */
bool vp_look_for_all(unsigned which);

/* Without locks: whether some queue does not seem empty. */
bool vp_work_waits(void);

/* Inserts the item into target's queue, and wakes a vp if that helps. */
void vp_enqueue(struct vp *target, struct ps_item *item, enum ps_end end);
/* Enqueues n threads at once, none of them bound: a ring of their links that begins with `first`. */
void vp_enqueue_ring(struct vp *target, struct ps_list *first, unsigned n, enum ps_end end);
void vp_enqueue_global(struct ps_item *item, enum ps_end end);

#endif
