/* Vps go offline when the system allows fewer processors, and come back when it allows more.
 *
 * While the process runs, a control group's quota of processor time may change, another process may narrow the affinity
 * mask of all kernel threads, and processors may be switched off. Then more kernel threads run than the system allows.
 * It throttles them or lets them take turns, perhaps while one of them holds a lock. So workers whose number is `limit`
 * or more go offline: each sleeps in its kernel thread and takes no work, and the other vps take the work in its queue.
 * Roots never go offline (vp 0, guests), since their kernel threads belong to the program.
 *
 * Does: watches and decides (quota_park_look), and sends vps offline (quota_park_allow). Does not: use more vps than
 * the process began with; interrupt a thread in the middle of its body. A vp goes offline at its next scheduling point.
 * A process without a watchdog (PSTHREAD_NO_SPARES) does not look.
 *
 * The request to go offline is a kind of work (work.h). It is put into the worker's pinned slot, which each scheduling
 * point looks at first anyway, so nothing more is tested there. If the vp is parked, it is woken, as for any pinned
 * work. The vp's loop carries the request out: it sleeps (quota_park_run) until the limit is above the vp's number.
 * States, and why no work is left behind and no wake-up is lost: tests/models/quota_park.md.
 *
 * Cost: one load and a comparison, now and then, in a root that opens regions (region_checks.c). The watchdog reads the
 * control group's files every WATCHDOG_ALLOWED_NS, which takes some 60 us on its kernel thread. Rejected: a test of the
 * limit in each search and each switch. A signal (it would end the program's system calls early). Making and ending vps
 * as the quota changes (visiting orders, places and dealt threads all depend on their number). */
#ifndef PS_QUOTA_PARK_H
#define PS_QUOTA_PARK_H

#include <stdbool.h>
#include <stdint.h>

struct vp;
struct watchdog_sample;

/* Values of a vp's `offline` (vp_offline); the states are in tests/models/quota_park.md. */
enum ps_offline { PS_ONLINE, PS_OFFLINE_ASKED, PS_OFFLINE, PS_OFFLINE_UNSTARTED };

/* quota_park_init: called when the library starts; all vps are online. quota_park_restart: called when the workers are
 * to start anew, and in a forked child; the system's limit stays. */
void quota_park_init(void);
void quota_park_restart(void);
/* Brings all vps online and wakes them, because the library stops. The caller has set ps_rt.stopping. */
void quota_park_end(void);

/* Lets only the vps 0 .. limit-1 and the guests run work from now on. */
void quota_park_allow(unsigned limit);
/* The watchdog's policy. quota_park_decide returns how many vps may run work; 0: the sample has no new limits, so
 * nothing is to be done. quota_park_most keeps the most that was ever allowed; 0: nothing was seen yet. */
struct quota_park_most {
    unsigned quota, in_mask;
};
unsigned quota_park_decide(const struct watchdog_sample *s, struct quota_park_most *most);
/* Called by the watchdog in each tick, and when a root has woken it for one look: decides, and acts. */
void quota_park_look(const struct watchdog_sample *s);
/* Returns how many vps the system allows, as quota_park_look has last found; at most num_vps. Caller: the watchdog. */
unsigned quota_park_by_system(void);
/* Sets the second limit, the process's part of a machine that several processes share (share.h); UINT_MAX: none.
 * Caller: the watchdog. */
void quota_park_share(unsigned limit);
/* quota_park_remind: called at `now`, in cpu_cycles, by a root that opens a region of n members. If a look at what the
 * system allows is due, wakes the watchdog for it, and calls share_open. quota_park_remind_now: makes a look due at the
 * next region. */
void quota_park_remind(uint64_t now, unsigned n);
void quota_park_remind_now(void);
/* Called by vp's loop, which has taken the request to go offline: sleeps until the limit allows vp to run. */
void quota_park_run(struct vp *vp);
/* Called instead of quota_park_run when vp has taken the request and cannot go offline (no stack for its loop; a root's
 * vp): vp stays online. */
void quota_park_refused(struct vp *vp);
/* Returns how many vps sleep in quota_park_run; for deadlock.c. */
unsigned quota_park_count(void);

#endif
