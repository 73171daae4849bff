/* A worker that would be woken on its waker's processor is woken on another one.
 *
 * The system wakes a kernel thread on the processor where it ran last. If a worker has run on a root's processor once,
 * and sleeps before each region, each region wakes it there. Then the root and the worker take turns on one processor,
 * and a region takes twice as long. The system does not mend that in time: it balances with its clock ticks (every 4
 * ms), and a member of a millisecond has ended by then. In a virtual machine Linux also pulls a worker from an idle
 * processor to its waker's: it takes a halted virtual processor for one that is not available (available_idle_cpu).
 *
 * Does: the worker notes its processor before it parks. If it was woken on its waker's processor, it notes that it is
 * *pulled*. A waker that is on the worker's processor, or has a pulled worker, takes its own processor out of the mask
 * of the worker's kernel thread, wakes the worker, and gives the mask back. So the system chooses among the other
 * processors. After a pull the next 256 wake-ups are made so. Does not: choose the processor; touch a root's kernel
 * thread, or any while places are on (bind.h); move a thread that runs. ps_wake_tries decides how often this is tried.
 *
 * Callers: idle.c; fork.c calls _reset. _parks and _woken are called by the vp. _begin and _end are called by the waker
 * that has taken the vp's bit, on any kernel thread and stack. Which of the two owns the fields when:
 * tests/models/wake_spread.md.
 * Failures: if the mask cannot be read or set, the system chooses. Limit: a mask that another process sets for the
 * worker between the waker's system calls (three microseconds) is lost. Cost: a system call when a vp parks and one
 * when it is woken (0.13 us each); 2.5 us more for a try. Rejected: the worker moves itself, or gives its mask back: it
 * does not run in time if its waker goes on, or another program has its processor. A fixed processor for each worker:
 * two processes would take the same. A yield by the waker: any program gets the processor. sched_getcpu: the runtime
 * interposes it. */
#ifndef PS_WAKE_SPREAD_H
#define PS_WAKE_SPREAD_H

#include "atomic.h"
#include "os.h"
#include "parts.h"

struct vp;

/* The other processors may be busy. Then members that wait for each other are better off on one processor. So a try is
 * judged when the worker parks next. It was in vain if the worker ran late, if the worker had to leave its processor
 * since, or if the worker may use no other processor. One such try may be an accident. After the second one in a row
 * wake-ups are left to the system for 50 ms, and for twice as long after each further one, up to 3.2 s. */
#define PS_WAKE_TRIES_LEAST_NS UINT64_C(50000000)
#define PS_WAKE_TRIES_MOST_NS UINT64_C(3200000000)

/* Returns true if a try may be made at now_ns: no pause lasts any more. */
static inline bool ps_wake_tries_now(const struct ps_wake_tries *t, uint64_t now_ns) { return now_ns >= t->until_ns; }

/* Notes at now_ns that the last try was in vain. The second such try in a row, and each further one, begins a pause. */
static inline void ps_wake_tries_in_vain(struct ps_wake_tries *t, uint64_t now_ns)
{
    uint64_t rest = t->in_a_row ? PS_WAKE_TRIES_LEAST_NS << (t->in_a_row - 1) : 0;
    if (rest < PS_WAKE_TRIES_MOST_NS)
        t->in_a_row++;
    t->until_ns = now_ns + rest;
}
/* Notes that the last try was not in vain. */
static inline void ps_wake_tries_paid(struct ps_wake_tries *t) { t->in_a_row = 0; }

/* Called by vp when it is about to set its bit in the idle set: judges the last try, and notes vp's processor. */
void ps_wake_spread_parks(struct vp *vp);
/* ps_wake_spread_begin: called by the waker when it is about to wake vp. True: vp's mask was narrowed, and *own is the
 * mask that vp had before. Then the waker has to call ps_wake_spread_end after the wake-up, which gives this mask
 * back. */
bool ps_wake_spread_begin(struct vp *vp, struct os_cpuset *own);
void ps_wake_spread_end(struct vp *vp, const struct os_cpuset *own);
/* Called by vp when it has been woken. Waits until vp has its own mask again. */
void ps_wake_spread_woken(struct vp *vp);
/* Called in a forked child, in which vp does not sleep. */
void ps_wake_spread_reset(struct vp *vp);

#endif
