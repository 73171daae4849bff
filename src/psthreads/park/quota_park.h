/* Vps above what the system allows go to rest, and come back when it allows more.
 *
 * While the process runs, a control group's quota of processor time may change, another process may narrow the affinity
 * mask of all kernel threads, and processors may go offline. Then more kernel threads run than are allowed. The system
 * throttles them, or lets them take turns, while they may hold a lock. So workers with a number from `limit` on rest. A
 * worker at rest sleeps in its kernel thread and takes nothing; the other vps take what stands in its queue. Roots
 * never rest (vp 0, guests): their kernel threads are the program's. Does: watch and decide (quota_park_look), and send
 * to rest (quota_park_allow). Does not: grow beyond the number of vps that the process began with. Does not interrupt a
 * thread in the middle of its body: the vp rests from its next scheduling point on.
 *
 * What is allowed. The quota counts where it is smaller than the largest seen so far. So does the mask of the watchdog,
 * which no place binds. A number of vps that the user chose to be larger than the machine stays.
 * The watchdog looks every WATCHDOG_ALLOWED_NS while it watches. Where nothing makes it watch, a root that opens an
 * outermost region that long after the last reminder wakes it for one look. A process at rest is not looked at. Without
 * a watchdog (PSTHREAD_NO_SPARES) there is no look.
 *
 * How a vp goes to rest. The request is a kind of work of its own (work.h). The request is pinned to the vp
 * (PS_PINNED_REST in vp.pinned), where a root that may go on would be pinned. Each scheduling point of the vp takes it
 * first, without a test of its own. A vp that is parked is woken by the rule for what is pinned. The loop carries the
 * request out by sleeping (quota_park_run), until the limit is above the vp.
 * States of vp.rest:
 *   NO -> ASKED       quota_park_allow, before it pins
 *   ASKED -> RESTS -> NO   the vp, in quota_park_run
 *   ASKED -> NO       the vp: the limit has grown meanwhile, or there is no stack on which to rest (the next look asks
 *                     again)
 *   NO -> UNSTARTED -> NO   quota_park_allow: it has taken the idle bit of a worker without a kernel thread, so the
 *                     worker cannot be started
 * quota_park_allow runs under a lock; NO is left only there.
 *
 * Nothing is left behind. A vp that rests has no handoff: it takes its request to rest while its handoff slot is busy,
 * and the slot stays busy. Of a vp without a kernel thread the slot is shut by an exchange, and a message that the
 * exchange finds is queued. A vp that rests has no batch of waiters, since each path to a switch gives those up first.
 * Before it rested the vp was about to run something, so it has left the searchers with the last searcher's duty done
 * (idle.h): a wake-up that it was given goes on to another vp. Threads in its queue move to vps that are awake; a team
 * stays where its parent put it, stealable as ever. The vp counts as not attached. So what last ran there is readied
 * elsewhere. What still came too late is an orphan to the watchdog, which starts a spare for it if no vp takes it. If
 * all homes of a place might rest, every vp looks into the place's queue (PS_BIND_RESTING).
 * No wake-up is lost. The vp reads `changes`, then limit and stopping, and sleeps on changes. quota_park_allow stores
 * limit, and the end of the library stores stopping; then each adds to changes and wakes, all seq_cst. The request
 * itself: pinned is stored before the idle bit is read, and the vp sets its bit before it reads pinned (idle.h, handoff
 * slot and pinned slot). quota_park_allow opens the handoff slot of a vp without a kernel thread again, then sets the
 * vp's bit, then looks into the slot. tests/models/quota_park.pml checks this, and that each step is needed.
 *
 * Cost: none on any path; the watchdog reads the control group's files every WATCHDOG_ALLOWED_NS, some 60 us on its
 * kernel thread.
 * Rejected: a test of the limit in each search and each switch. A signal (it would end the program's system calls
 * early). Vps that are made and ended with the quota (the visiting orders, places and dealt threads all depend on their
 * number). */
#ifndef PS_QUOTA_PARK_H
#define PS_QUOTA_PARK_H

#include <stdbool.h>
#include <stdint.h>

struct vp;
struct watchdog_sample;

enum ps_rest { PS_REST_NO, PS_REST_ASKED, PS_RESTS, PS_REST_UNSTARTED }; /* vp_rest */

/* quota_park_init sets up what the library starts with, no vp resting (the idle set too). quota_park_init is called at
 * the start, when workers are to start anew, and in a forked child, where the limit stays. */
void quota_park_init(void);
void quota_park_restart(void);
/* The library stops: all get up. Caller: has set stopping. */
void quota_park_end(void);

/* Regular vps 0 .. limit-1 may carry work from now on. */
void quota_park_allow(unsigned limit);
/* The watchdog's policy. quota_park_most: the most that was ever allowed; 0: not seen yet. The decision is how many
 * vps may carry work; 0: nothing is to be done. */
struct quota_park_most {
    unsigned quota, in_mask;
};
unsigned quota_park_decide(const struct watchdog_sample *s, struct quota_park_most *most);
/* One tick: decides and acts. Caller: the watchdog. */
void quota_park_look(const struct watchdog_sample *s);
/* A root that opens a region, at `now` in cpu_cycles: is a look due? */
void quota_park_remind(uint64_t now);
/* vp has taken its request to rest, and its loop carries it out. */
void quota_park_run(struct vp *vp);
/* quota_park_run is not possible: there is no stack for it. */
void quota_park_refused(struct vp *vp);
/* Kernel threads that rest; for deadlock.c. */
unsigned quota_park_count(void);

#endif
