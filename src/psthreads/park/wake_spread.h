/* A vp that would be woken on its waker's processor is woken on another one.
 *
 * The system wakes a kernel thread where it ran last. A worker that has run on the processor of a root once, and
 * sleeps before each region, is woken there for each region to come. So the two take turns, and a region takes twice
 * the work. Nothing mends that, because the system balances with its clock ticks (every 4 ms), and a member of a
 * millisecond has ended by then. In a virtual machine Linux also pulls a worker from an idle processor to its waker's:
 * it takes a halted virtual processor for one that is not available (available_idle_cpu).
 *
 * Does: the worker notes its processor before it parks, and its waker's when it was woken there. A waker on that
 * processor takes it out of the mask of the worker's kernel thread, wakes the worker, and gives the mask back. So the
 * system chooses among the other processors. After a pull the next 256 wake-ups are made so. Does not: choose the
 * processor; touch a root's kernel thread, or any where places are on (bind.h); move what runs. ps_wake_tries says how
 * often it is tried.
 *
 * Callers: idle.c alone. _parks and _woken: the vp. _begin and _end: the waker that has taken the vp's bit, on any
 * kernel thread and stack. Which of the two has the fields when: tests/models/wake_spread.md.
 * Failures: the mask cannot be read or set: the vp is woken as ever. Limit: a mask that another process sets for the
 * worker between the waker's system calls (three microseconds) is lost.
 * Cost: a system call where a vp parks and one where it is woken (0.13 us each); 2.5 us more for a try.
 * Rejected: the worker moves itself, or gives its mask back (it does not run in time where its waker goes on, or where
 * another program has its processor). A processor of its own for each worker (two processes would take the same). A
 * yield of the waker's (any program gets the processor). sched_getcpu (the runtime interposes it). */
#ifndef PS_WAKE_SPREAD_H
#define PS_WAKE_SPREAD_H

#include "atomic.h"
#include "os.h"
#include "parts.h"

struct vp;

/* The other processors may be busy, and members that wait for each other are better off on one processor then. So a try
 * is judged when the worker parks next. The try was in vain if the worker came late, or had to leave its processor
 * since; or if the worker has no other processor. One such try may be an accident. After the second one in a row
 * wake-ups are left to the system for 50 ms, and for twice as long after each further one, up to 3.2 s. */
#define PS_WAKE_TRIES_LEAST_NS UINT64_C(50000000)
#define PS_WAKE_TRIES_MOST_NS UINT64_C(3200000000)

/* Whether a wake-up that is due on the waker's processor is to be elsewhere. */
static inline bool ps_wake_tries_now(const struct ps_wake_tries *t, uint64_t now_ns) { return now_ns >= t->until_ns; }

static inline void ps_wake_tries_in_vain(struct ps_wake_tries *t, uint64_t now_ns)
{
    uint64_t rest = t->in_a_row ? PS_WAKE_TRIES_LEAST_NS << (t->in_a_row - 1) : 0;
    if (rest < PS_WAKE_TRIES_MOST_NS)
        t->in_a_row++;
    t->until_ns = now_ns + rest;
}
static inline void ps_wake_tries_paid(struct ps_wake_tries *t) { t->in_a_row = 0; }

/* Called when vp is about to set its bit. */
void ps_wake_spread_parks(struct vp *vp);
/* Called when vp is about to be woken. True: vp is to run elsewhere, and ps_wake_spread_end gives it back its mask,
 * *own. */
bool ps_wake_spread_begin(struct vp *vp, struct os_cpuset *own);
void ps_wake_spread_end(struct vp *vp, const struct os_cpuset *own);
/* Called by vp when it has been woken. */
void ps_wake_spread_woken(struct vp *vp);
/* Called in a forked child, where vp sleeps nowhere. */
void ps_wake_spread_reset(struct vp *vp);

#endif
