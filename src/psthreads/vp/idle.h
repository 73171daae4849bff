/* Idle vps: which search, which are parked, and which to wake.
 *
 * One word has two counts: how many vps search (low half) and how many are parked (high half). A bit for each vp says
 * whether it is parked. A worker without a kernel thread yet counts as parked; waking it starts its kernel thread. If
 * the waker may not start one (priority.h), the watchdog does, and the worker counts as searching until then. If the
 * system refuses this kernel thread, the watchdog wakes another vp (idle_notify).
 *
 * Protocol (vp: a vp that found nothing; ins: the thread that makes something ready):
 *   vp  1. searches for a while, and is counted in searching
 *       2. word: searching - 1, parked + 1 in one read-modify-write; sets its bit                    [P]
 *       3. looks at every source of work (the list in sources.h: PS_LOOK): queues under their locks, its
 *          handoff slot and its pinned slot with sequentially consistent loads                       [L]
 *       4. if it found nothing, sleeps on wake_word; else takes its bit back. If another thread has taken the bit,
 *          a wake-up is due, which the vp takes instead
 *   ins 1. inserts under the queue's lock                                                            [I]
 *       2. reads the word: if no vp searches and some vp is parked, takes a parked vp's bit, counts it as
 *          searching and wakes it                                                                    [W]
 * A vp that found something stops searching. If it was the last searcher and others are parked, it does [L] once
 * more, and wakes one vp if there is more work. So one vp is woken at a time, and each woken vp wakes the next.
 *
 * Invariant: no wake-up is lost (tests/models/park.md; the model park.pml checks that each step is needed). Cost of
 * an insertion: one load of a line that changes only when vps go idle or are woken. */
#ifndef PS_IDLE_H
#define PS_IDLE_H

#include "atomic.h"
#include "compiler.h"
#include "watchdog.h"

struct vp;

/* The most vps, guests included. Under libgomp so many roots with regions of two threads would need as many kernel
 * threads as the system has process numbers (pid_max, 32768). */
#define IDLE_MAX 16384

struct ps_idle {
    PS_LINE_ALIGNED _Atomic uint64_t word; /* searching | parked << 32 */
    PS_LINE_ALIGNED _Atomic uint64_t bits[IDLE_MAX / 64];
    /* counts how often a vp was about to sleep, and how often a handler of the program's has ended on a dedicated vp;
     * deadlock.c reads this */
    _Atomic uint64_t parks;
};
extern struct ps_idle ps_idle __attribute__((visibility("hidden")));

#define IDLE_SEARCHING(w) ((uint32_t)(w))
#define IDLE_PARKED(w) ((uint32_t)((w) >> 32))
#define IDLE_ONE_PARKED (UINT64_C(1) << 32)

/* Returns a pointer to vp's wake_word. */
_Atomic uint32_t *vp_wake_word(const struct vp *vp);

static inline uint64_t idle_word(void) { return ps_load_relaxed(&ps_idle.word); }
/* Returns true if some vp searches, or is parked and could be woken for work. */
static inline bool idle_any(void) { return idle_word() != 0; }

/* Counts vps num_workers_first .. num_vps - 1 as parked, and none as searching. No worker runs. */
void idle_init(unsigned num_workers_first, unsigned num_vps);

/* Called in a child that a worker's thread has forked: the child's first kernel thread carries the worker's vp, which
 * idle_init has counted as parked. From now on no kernel thread is started for vp. */
void idle_never_start(struct vp *vp);

/* idle_take_unstarted: if worker vp has no kernel thread, takes its bit, so that it counts as parked no longer and is
 * not started. False: it has a kernel thread, is about to get one, or was refused one. idle_give_unstarted sets the bit
 * again. */
bool idle_take_unstarted(struct vp *vp);
void idle_give_unstarted(struct vp *vp);

/* Starts the workers in state WANTED (parts.h). Caller: the watchdog. */
void idle_start_wanted(void);

/* vp begins, or ends, a search. If vp was the last searcher, idle_search_end looks for more work, and wakes one parked
 * vp for it; if no vp is parked, it arms the watchdog. */
void idle_search_begin(struct vp *vp);
void idle_search_end(struct vp *vp);
/* Notes that vp, whose kernel thread has ended, does not search. Called before idle_init counts the vps anew. */
void idle_forget_search(struct vp *vp);
/* Parks vp, which searches. Returns when vp was woken or has seen some work; vp searches again then. */
void idle_park(struct vp *vp);
/* As idle_park, for ns at most. False: the time is over, and no thread has woken vp. In both cases vp searches
 * again. */
bool idle_park_for(struct vp *vp, int64_t ns);

/* idle_notify: called after an insertion. Does nothing if a vp searches, else calls idle_wake_one. idle_wake_one wakes
 * `near` if that vp is parked, else another parked vp (near NULL: any). If no vp could be woken, and none searches, it
 * arms the watchdog. */
void idle_wake_one(struct vp *near);
static inline void idle_notify(struct vp *near)
{
    uint64_t w = idle_word();
    if (PS_LIKELY(IDLE_SEARCHING(w) != 0))
        return;
    if (IDLE_PARKED(w) != 0)
        idle_wake_one(near);
    else
        watchdog_arm();
}
/* Returns true if idle_notify has nothing to do: some vp searches, or none is parked and the watchdog is armed. */
static inline bool idle_knows(void)
{
    uint64_t w = idle_word();
    return PS_LIKELY(IDLE_SEARCHING(w) != 0 || (IDLE_PARKED(w) == 0 && ps_load_relaxed(&ps_watchdog.armed)));
}
/* Wakes vp if it is parked. Called, for example, when vp's handoff slot was filled. Returns false if vp was not parked,
 * or if the system refuses it a kernel thread. */
bool idle_wake_this(struct vp *vp);
/* Returns true if no vp searches, and each vp that has a kernel thread sleeps: it is parked, or dedicated.sleeps is set
 * (parts.h) and no handler of the program's runs there. *carried: how many vps have kernel threads; valid if true is
 * returned. */
bool idle_all_parked(unsigned *carried);
/* Wakes each worker that has a kernel thread and is parked. The worker then looks for work once more. */
void idle_wake_all(void);
#endif
