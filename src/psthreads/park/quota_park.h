/* Vps above what the system allows go offline, and come back when it allows more.
 *
 * While the process runs, a control group's quota of processor time may change, another process may narrow the affinity
 * mask of all kernel threads, and processors may go offline. Then more kernel threads run than are allowed. The system
 * throttles them, or lets them take turns, while they may hold a lock. So workers with a number from `limit` on go
 * offline. Such a worker sleeps in its kernel thread and takes nothing; the other vps take what stands in its queue.
 * Roots never go offline (vp 0, guests): their kernel threads are the program's.
 *
 * Does: watch and decide (quota_park_look), and send offline (quota_park_allow). Does not: grow beyond the number of
 * vps that the process began with. Does not interrupt a thread in the middle of its body: the vp goes offline at its
 * next scheduling point. Without a watchdog (PSTHREAD_NO_SPARES) there is no look.
 *
 * The request is a kind of work of its own (work.h), pinned to the vp where a root that may go on would be pinned. Each
 * scheduling point of the vp takes it first, without a test of its own. A vp that is parked is woken by the rule for
 * what is pinned. The loop carries the request out by sleeping (quota_park_run), until the limit is above the vp.
 * States, and why nothing is left behind and no wake-up is lost: tests/models/quota_park.md.
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

enum ps_offline { PS_ONLINE, PS_OFFLINE_ASKED, PS_OFFLINE, PS_OFFLINE_UNSTARTED }; /* vp_offline */

/* quota_park_init sets up what the library starts with: no vp is offline (in the idle set, too). quota_park_restart
 * does so when workers are to start anew, and in a forked child; the system's limit stays. */
void quota_park_init(void);
void quota_park_restart(void);
/* Wakes all vps that are offline, as the library stops. Caller: has set stopping. */
void quota_park_end(void);

/* Lets regular vps 0 .. limit-1 carry work from now on, and no others. */
void quota_park_allow(unsigned limit);
/* The watchdog's policy. quota_park_decide returns how many vps may carry work; 0: nothing is to be done.
 * quota_park_most: the most that was ever allowed; 0: not seen yet. */
struct quota_park_most {
    unsigned quota, in_mask;
};
unsigned quota_park_decide(const struct watchdog_sample *s, struct quota_park_most *most);
/* Decides and acts, once a tick. Caller: the watchdog. */
void quota_park_look(const struct watchdog_sample *s);
/* A second limit, that of the processes which share the machine (share.h); UINT_MAX: none. Caller: the watchdog. */
void quota_park_share(unsigned limit);
/* Lets the watchdog look, if a look is due. Caller: a root that opens a region of n, at `now` in cpu_cycles. After
 * quota_park_remind_now the next region's look is due. */
void quota_park_remind(uint64_t now, unsigned n);
void quota_park_remind_now(void);
/* Carries out the request to go offline, which vp has taken. Caller: its loop. */
void quota_park_run(struct vp *vp);
/* Lets vp be online again where quota_park_run is not possible: there is no stack for it. */
void quota_park_refused(struct vp *vp);
/* Returns how many kernel threads are of vps that are offline; for deadlock.c. */
unsigned quota_park_count(void);

#endif
