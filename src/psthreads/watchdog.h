/* The watchdog: progress where a thread holds its vp and others wait behind it (a spin on a flag, a blocking system
 * call).
 *
 * User-level threads are not preempted. A thread that passes no scheduling point keeps its vp, and if no vp is free to
 * steal, the threads in its queue wait for ever. The watchdog, a kernel thread of its own, sees that and starts a
 * *spare*: a guest vp with a kernel thread of its own that steals like any other and retires as soon as nothing starves
 * or nothing is left.
 *
 * States: disarmed (it sleeps, without time-out: a process at rest is not woken) -> armed by an insertion that finds no
 * idle vp -> looks every WATCHDOG_TICK_NS until nothing has been pending for a while -> disarmed.
 * No starvation is overlooked: it disarms (exchange, seq_cst), then looks at every queue under its lock, and arms
 * itself again if something is there; an insertion that comes after that look reads `armed` after the lock that the
 * look released (the same argument as in idle.h). The same after a single look at what the system allows
 * (quota_park.h), during which insertions find it armed.
 *
 * Starving: some vp has passed no scheduling point for WATCHDOG_STALL_NS although its kernel thread has used the
 * processor or sleeps in the kernel (one that merely waits for a processor does not count), something is ready behind
 * it, and no vp is idle. Then 1, 2, 4 ... spares are started with each further stall, up to 64 at once, until the stall
 * ends; none while some have not run yet: on a loaded machine they would pile up by the hundred.
 *
 * A program whose threads spin for one another does so again and again: after three stalls the watchdog looks every
 * millisecond and takes five for a stall, until it has seen none for a second. Sooner would not do: the used time that
 * the system tells lags by a tick of its clock, and on a loaded machine vps that were merely late would look stuck.
 *
 * A root is bound to its kernel thread, and no spare can run it: where it is ready while its kernel thread is held so,
 * that kernel thread is interrupted, and what runs there goes back to a queue (preempt.c). That a root became ready is
 * published as its vp's `pinned` (seq_cst) before `armed` is read (seq_cst); the watchdog disarms, then looks at every
 * `pinned` (seq_cst both): one sees the other.
 *
 * Cost for the rest: one store per thread or member that is run (vp.ticks); one load per insertion while all vps are
 * busy. */
#ifndef PS_WATCHDOG_H
#define PS_WATCHDOG_H

#include "atomic.h"
#include "compiler.h"

struct vp;

struct ps_watchdog {
    PS_LINE_ALIGNED _Atomic uint32_t
        armed;                 /* anyone sets 1 (watch) or 2 (one look: quota_park.h), the watchdog sets 0 */
    _Atomic uint32_t starving; /* the watchdog writes; spares read */
    _Atomic uint32_t spares;   /* alive */
    _Atomic uint32_t coming;   /* of these: started, and not run yet; the watchdog adds, each takes itself off */
    _Atomic uint32_t spares_ever, spares_most; /* for reports and tests */
    _Atomic uint32_t preempted, turns;         /* the same */
};
extern struct ps_watchdog ps_watchdog;

void watchdog_arm_slow(void);
static inline void watchdog_arm(void)
{
    if (PS_UNLIKELY(!ps_load_relaxed(&ps_watchdog.armed)))
        watchdog_arm_slow();
}

/* The watchdog looks once at what the system allows. */
void watchdog_glance(void);

/* After a root was made ready. */
static inline void watchdog_arm_for_root(void)
{
    if (PS_UNLIKELY(!ps_load_seq(&ps_watchdog.armed)))
        watchdog_arm_slow();
}

/* Makes what holds vp's kernel thread give way to vp's own root, which is ready; may fail to. Caller: the watchdog. */
void watchdog_preempt(struct vp *vp);

/* A build in which each vp's thread is made to give way again and again (-DPS_INTERRUPTS=ON; `make interrupts` runs the
 * tests on it), and not only where a root is held up: some ten thousand times a second, wherever it is. What may not be
 * left there is found by that. The watchdog works as long as there is work, and does this in the place of a sleep. In
 * other builds it is nothing. */
#ifndef PS_INTERRUPTS
#define PS_INTERRUPTS 0
#endif
/* Until then. Caller: the watchdog. */
void watchdog_interrupt_all(uint64_t until_ns);

/* In a handler: whether the current vp can be told. */
bool watchdog_in_own_block(void);

/* Kernel threads of the watchdog: 0 or 1. */
unsigned watchdog_runs(void);
/* Writes which code of the program's vp's kernel thread runs, "object+0xoffset (function)", into buf; false: that
 * cannot be told. Caller: the watchdog. */
bool watchdog_where(struct vp *vp, char *buf, size_t bytes);

/* Stops the watchdog's kernel thread, if there is one. Caller: workers are gone, so nobody arms it meanwhile. */
void watchdog_stop(void);
/* As before the first arming: at the start, and in a forked child. */
void watchdog_reset(void);

#endif
