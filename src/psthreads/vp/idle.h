/* Idle vps: which search, which are parked, and which to wake.
 *
 * One word counts both: searching (low half) and parked (high half); one bit per vp says parked. A worker without a
 * kernel thread yet counts as parked; waking it starts it. Where the waker may not start one (priority.h) the watchdog
 * does, and the worker counts as searching until then. If the watchdog is refused, it notifies others.
 *
 * Protocol (vp = a vp that found nothing; ins = the thread that makes something ready):
 *   vp  1. searches for a while (it is counted in searching)
 *       2. word: searching - 1, parked + 1 in one read-modify-write; sets its bit                    [P]
 *       3. looks at every source of work (the list in sources.h: PS_LOOK): queues under their locks, its
 *          handoff slot and its pinned slot with sequentially consistent loads                       [L]
 *       4. nothing: sleeps on wake_word. Something: takes its bit back (or finds it taken: then a wake is due, to the
 *         same effect)
 *   ins 1. inserts under the queue's lock                                                            [I]
 *       2. reads the word: if no vp searches and some vp is parked, takes a parked vp's bit, counts it as
 *          searching and wakes it                                                                    [W]
 *   A vp that found something leaves searching. If it was the last searcher while others are parked, it does [L] once,
 *   and wakes one vp if there is more work. So one vp is woken at a time, and woken vps wake others.
 *
 * Invariant: no wake-up is lost (tests/models/park.md; the model park.pml checks that each step is needed). Cost of an
 * insertion: one load of a line that changes only when vps go idle or are woken. */
#ifndef PS_IDLE_H
#define PS_IDLE_H

#include "atomic.h"
#include "compiler.h"
#include "watchdog.h"

struct vp;

/* The most vps, guests included. If each had a region of two threads, libgomp would use up all of the system's process
 * numbers (pid_max, 32768). */
#define IDLE_MAX 16384

struct ps_idle {
    PS_LINE_ALIGNED _Atomic uint64_t word; /* searching | parked << 32 */
    PS_LINE_ALIGNED _Atomic uint64_t bits[IDLE_MAX / 64];
    _Atomic uint64_t parks; /* times that a vp was about to set its bit; for deadlock.c */
};
extern struct ps_idle ps_idle __attribute__((visibility("hidden")));

#define IDLE_SEARCHING(w) ((uint32_t)(w))
#define IDLE_PARKED(w) ((uint32_t)((w) >> 32))
#define IDLE_ONE_PARKED (UINT64_C(1) << 32)

/* Returns vp's wake_word, in place. */
_Atomic uint32_t *vp_wake_word(const struct vp *vp);

static inline uint64_t idle_word(void) { return ps_load_relaxed(&ps_idle.word); }
/* Whether some vp would take work now, or could be woken for it. */
static inline bool idle_any(void) { return idle_word() != 0; }

void idle_init(unsigned num_workers_first, unsigned num_vps);

/* Marks worker vp, which idle_init counts as parked, as carried by the caller: no kernel thread is started for it. */
void idle_never_start(struct vp *vp);

/* idle_take_unstarted: worker vp, which has no kernel thread, no longer counts as parked and cannot be started; false:
 * it has one, or is about to get one. idle_give_unstarted undoes that. */
bool idle_take_unstarted(struct vp *vp);
void idle_give_unstarted(struct vp *vp);

/* Starts the workers that others want. Caller: the watchdog. */
void idle_start_wanted(void);

/* vp begins and ends a search; search_end does the last searcher's duty. */
void idle_search_begin(struct vp *vp);
void idle_search_end(struct vp *vp);
/* Notes that vp does not search: it has no kernel thread any more. The counts of idle vps begin anew. */
void idle_forget_search(struct vp *vp);
/* Parks the searching vp. Returns when vp is woken or has seen something; vp is searching again then. */
void idle_park(struct vp *vp);
/* As idle_park, for ns at most; false: vp was not woken. */
bool idle_park_for(struct vp *vp, int64_t ns);

/* After an insertion: wakes one vp if none searches. near: preferred, if parked. */
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
/* Whether idle_notify has nothing to do. */
static inline bool idle_knows(void)
{
    uint64_t w = idle_word();
    return PS_LIKELY(IDLE_SEARCHING(w) != 0 || (IDLE_PARKED(w) == 0 && ps_load_relaxed(&ps_watchdog.armed)));
}
/* Wakes this vp if it is parked: its handoff slot or pinned slot was filled, or the library stops. False: it was not
 * parked, or cannot run. */
bool idle_wake_this(struct vp *vp);
/* Whether all vps that kernel threads carry sleep, here or as vps that are dedicated to a thread. *carried: how many
 * there are. */
bool idle_all_parked(unsigned *carried);
/* Wakes each worker that sleeps, to look for work once more. */
void idle_wake_all(void);
#endif
