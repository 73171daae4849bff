/* The watchdog's policy for vps that are held: spare kernel threads, and the release of roots.
 *
 * A vp is *stuck* if three things hold: it has passed no scheduling point between two looks, nor for two milliseconds
 * more; its kernel thread has used the processor meanwhile, or sleeps in the kernel; something is ready behind it. (A
 * kernel thread that merely waits for a processor does not count.) A vp that has no kernel thread any more counts as
 * stuck as soon as something is ready there: others may never come to steal that.
 *
 * Spares. If a vp is stuck and no vp is idle, spares are started: as many as members of teams wait behind it to begin,
 * since these may wait for one another. Each further time before the stall ends at least 1, 2, 4 ... are started, and
 * 64 at most. The same is done if some vp is idle and has not come for the work in IDLE_COMES_NS. No spares are started
 * while some have not run yet: on a loaded machine they would pile up by the hundred.
 *
 * Roots. A root that is ready while its kernel thread is held is released (home.h): then any vp goes on with it, or a
 * spare, which is started where no vp is idle.
 *
 * Pace. A program with threads that spin for one another stalls again and again. After three stalls the watchdog looks
 * every millisecond, until it has seen none for a second. The used time is the kernel's own count: it is exact, so a vp
 * that is merely late on a loaded machine does not look stuck. A stall goes on while any vp is on its way to the next
 * one.
 *
 * Caller: the watchdog. States of the policy: calm -> stalls are counted -> quick -> calm. */
#ifndef PS_SPARES_H
#define PS_SPARES_H

#include "watchdog_sample.h"

struct spares_action {
    struct vp **root_holders; /* their roots are released */
    unsigned num_root_holders;
    bool open_places; /* every vp may look into the queues of places */
    bool calm;        /* nothing has starved for a while: spares stand by, places are their homes' again */
    bool starving;    /* something starves: spares may stay */
    bool idle;        /* some vp may take a root that is released */
    unsigned spares;  /* so many are started */
};

/* The time until the next look. */
int64_t spares_period_ns(void);
/* Called when the watchdog begins to watch: what it knows of an earlier stall's length no longer counts. */
void spares_begin(void);
void spares_decide(struct watchdog_sample *s, struct spares_action *action);
void spares_act(const struct spares_action *action);

#endif
