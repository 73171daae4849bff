/* Places: a member that is bound to a place runs on processors of that place only.
 *
 * Does: keeps a ready queue for each place, says which vps look there, and moves a vp's kernel thread
 * (sched_setaffinity) to the place of the member that it is about to run. Does not: decide which member has which place
 * (the OpenMP core does). Threads that are not bound are in the vps' queues. Before ps_bind_places is called, no vp
 * looks at anything here.
 *
 * Two rules. A vp that runs a bound member first moves its kernel thread to the member's place (vp_migrate). So any vp
 * may take the member. And a bound thread or team that is ready is put into its place's queue, where only the *homes*
 * of that place look, since moving a vp costs something. A place without a home (there are fewer vps than places) uses
 * no queue: its threads are in ordinary queues. Guests (spares, the vps of further roots) look into every place's
 * queue. While `open` is set, every vp does. The watchdog sets it if a place's queue starves because a thread holds the
 * home vp (spares.c): then the processor is shared for a while, as kernel threads would share it.
 *
 * A root's kernel thread is bound while the root is a member, from fork to join. The vp reads the kernel thread's own
 * mask before that, and sets it again when it runs something unbound. A kernel thread that a bound kernel thread starts
 * begins with this own mask (bind_lift).
 *
 * Fields: the table is written once, before any team is bound, and published with release. A place's queue is used
 * under its lock. run.place and run.own_mask are used by the vp alone. A member's place is written by the parent while
 * no region is open, and ordered by the fork. Cost: unbound, a comparison where a thread enters a queue and where one
 * begins to run; bound, the queue, and two or three system calls in each outermost region for the root's kernel thread.
 * OpenMP 5.2 section 10.1.3. Why no wake-up is lost: tests/models/bind.md; model: bind.pml. */
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
    uint16_t *homes; /* the numbers of the vps at home here, ascending; guests have no home */
    struct os_cpuset mask;
};

struct ps_places {
    /* The number of places, and the number of vps without the guests. */
    unsigned n, num_vps;
    struct ps_place *place; /* n elements */
    /* num_vps + 1 elements. Vp v is at home in the places at[first[v]] .. at[first[v + 1] - 1]. */
    unsigned *first;
    unsigned *at;
    /* If this is not 0, every vp looks into every place's queue. The bits tell why. STARVING: the watchdog has set it.
     * FOR_GOOD: a home of some place gets no kernel thread of its own (ps_bind_home_lost). OFFLINE: some vps are
     * offline, perhaps all homes of a place (quota_park.h). */
    PS_LINE_ALIGNED _Atomic uint32_t open;
};
enum { PS_BIND_STARVING = 1, PS_BIND_FOR_GOOD = 2, PS_BIND_OFFLINE = 4 };
/* Makes the table for n places. Place p has the processors cpu[first[p]] .. cpu[first[p + 1] - 1]. NULL: no memory. */
struct ps_places *ps_places_make(unsigned num_vps, unsigned n, const unsigned *first, const unsigned *cpu);
void ps_places_free(struct ps_places *all); /* all may be NULL */

/* Makes and publishes the table, so that members can be bound. Later calls change nothing. False: no memory. */
bool ps_bind_places(unsigned n, const unsigned *first, const unsigned *cpu);

/* Puts a bound item, which has become ready, into its place's queue, and wakes a vp for it. */
void ps_bind_enqueue(struct ps_item *item, enum ps_end end);
/* Returns the place's queue to which the bound item belongs. NULL: its place has no home, so it goes into a vp's
 * queue. */
struct ps_queue *ps_bind_queue(const struct ps_item *item);
/* Visits the queues of places that vp looks into; vp NULL: the queues of all places. Caller of a visit that takes: vp's
 * own kernel thread. */
struct ps_work ps_bind_visit(struct vp *vp, enum ps_visit visit);
/* Returns how many entries are in the queues of the places in which vp is at home. */
unsigned ps_bind_pending(struct vp *vp);
/* Called by the watchdog. starving: true if something starves in a place's queue, so that every vp has to look
 * there. */
void ps_bind_starving(bool starving);
/* Called when the system has refused a worker its kernel thread, and in a forked child whose only kernel thread carries
 * a worker's vp: from then on every vp looks into every place's queue. */
void ps_bind_home_lost(void);
/* Called when the limit below which vps are online has changed (quota_park.h), and when the table was published. */
void ps_bind_offline(void);
/* Hands member id, which is m, to an idle home of its place, other than self. False: no home is idle, or id is too
 * large for a handoff. */
bool ps_bind_hand_off(struct vp *self, struct ps_member *m, unsigned id);
/* Called in a forked child: empties the queues of all places. */
void ps_bind_after_fork_in_child(void);

/* Moves vp's kernel thread to the place of t, which vp is about to run; if t is not bound, gives it its own mask again.
 * Costs little if vp and t are unbound. */
void vp_migrate_slow(struct vp *vp, const struct psthread *t);
/* bind_lift is called before the start of a kernel thread, bind_lower after it. Between the two the calling kernel
 * thread has its own mask, as before it was bound. So the new kernel thread inherits that mask. A spare that is about
 * to stand by calls bind_lift alone. */
void bind_lift(void);
void bind_lower(void);
/* Returns true if the calling kernel thread is bound to a place now. */
bool bind_is_narrow(void);

#endif
