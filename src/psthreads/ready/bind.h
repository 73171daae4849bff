/* Places: members that are bound run on processors of their place only.
 *
 * Does: keeps a ready queue for each place, says which vps look there, moves a vp's kernel thread (sched_setaffinity)
 * to the place of what it is about to run. Does not: decide which member has which place (the OpenMP core does).
 * Threads that are not bound stand in the vps' queues, and nothing here is looked at before ps_bind_places has been
 * called.
 *
 * Two rules. A vp that runs a bound member first moves its kernel thread to the member's place (vp_migrate): the
 * promise does not depend on which vp takes the member. A bound thread or team that is ready stands in its place's
 * queue, and only that place's *home* vps look into this queue, since moving a vp costs something. A place without a
 * home (fewer vps than places) has no queue: its threads stand in ordinary queues. Guests (foreign roots while they
 * wait, spares) look into every place's queue. Every vp does so while `open` is set. The watchdog sets it where a
 * place's queue starves behind a home vp that a thread holds (spares.c): the processor is shared for a while then, as
 * among kernel threads.
 *
 * A root's kernel thread is bound while the root is a member, from fork to join. Its own mask is read before that, and
 * given back when it runs something unbound. A kernel thread that it starts gets that mask (bind_lift).
 *
 * Shared fields: the table is written once, before any team is bound, and published with release. A place's queue:
 * under its lock. vp->place, own_mask: the vp's own. A member's place: the parent, while no region is open; ordered by
 * the fork. Cost: not bound, a comparison where a thread is put into a queue, and where one begins to run. Bound, the
 * queue, and two or three system calls in each outermost region for the root's kernel thread. OpenMP 5.2 section
 * 10.1.3. The protocol, and why no wake-up is lost: tests/models/bind.md; model: bind.pml. */
#ifndef PS_BIND_H
#define PS_BIND_H

#include "os.h"
#include "queue.h"
#include "scheduler.h"
#include "work.h"

struct ps_member;
struct vp;

struct ps_place {
    PS_LINE_ALIGNED struct ps_queue queue;
    unsigned num_homes;
    uint16_t *homes; /* regular vps, ascending */
    struct os_cpuset mask;
};

struct ps_places {
    unsigned n, num_vps;
    struct ps_place *place; /* [n] */
    unsigned *first;        /* [num_vps + 1]: vp v is at home in the places at[first[v]] .. at[first[v + 1] - 1] */
    unsigned *at;
    /* Not 0: every vp looks into every place's queue. The bits tell why. STARVING: set by the watchdog. FOR_GOOD: the
     * kernel thread of a home vp was refused. OFFLINE: some vps are offline, perhaps all homes of a place
     * (quota_park.h). */
    PS_LINE_ALIGNED _Atomic uint32_t open;
};
enum { PS_BIND_STARVING = 1, PS_BIND_FOR_GOOD = 2, PS_BIND_OFFLINE = 4 };
/* Makes the table: place p has processors cpu[first[p]] .. cpu[first[p + 1] - 1]. NULL: no memory. */
struct ps_places *ps_places_make(unsigned num_vps, unsigned n, const unsigned *first, const unsigned *cpu);
void ps_places_free(struct ps_places *all); /* NULL: nothing */

/* Lets members be bound from now on. Called once, before any is bound; false: no memory. */
bool ps_bind_places(unsigned n, const unsigned *first, const unsigned *cpu);

/* Puts an item that is bound, and has become ready, into its place's queue. */
void ps_bind_enqueue(struct ps_item *item, enum ps_end end);
/* Returns the queue that the entry belongs to; NULL: its place has no home vp, so any vp's queue will do. */
struct ps_queue *ps_bind_queue(const struct ps_item *item);
/* Visits the queues of places that vp looks into (NULL: all), as a source of work (sources.h). Only vp itself takes. */
struct ps_work ps_bind_visit(struct vp *vp, enum ps_visit visit);
/* How many entries stand in the queues of the places in which vp is at home; for the watchdog. */
unsigned ps_bind_pending(struct vp *vp);
/* Called by the watchdog: something starves in a place's queue, or nothing does any more. */
void ps_bind_starving(bool starving);
/* Called when a worker cannot run: from then on every vp that looks for work looks into its places' queues as well. */
void ps_bind_home_lost(void);
/* Called when the limit below which vps are online has changed. */
void ps_bind_offline(void);
/* Hands the member to a home vp of its place that has nothing to do. False: there is none. */
bool ps_bind_hand_off(struct vp *self, struct ps_member *m, unsigned id);
void ps_bind_after_fork_in_child(void);

/* Moves vp's kernel thread to where t, which it is about to run, belongs. Cheap where both are unbound. */
void vp_migrate_slow(struct vp *vp, const struct psthread *t);
/* Called around the start of a kernel thread: meanwhile the caller has the mask that it had before it was bound. */
void bind_lift(void);
void bind_lower(void);
/* Whether the calling kernel thread has the mask of the place that its thread is bound to. */
bool bind_is_narrow(void);

#endif
