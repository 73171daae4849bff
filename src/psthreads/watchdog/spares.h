/* The watchdog's policy for vps that are held: spare kernel threads, and the release of roots.
 *
 * A vp is *stuck* if three things hold. It has passed no scheduling point between two looks, nor for two
 * milliseconds more. Its kernel thread has used the processor meanwhile, or has given it away again and again, or
 * sleeps in the kernel. Something is ready behind it. (A kernel thread that merely waits for a processor does not
 * count.) A vp that no kernel thread carries, or that is offline, counts as stuck once something has been ready there
 * for that time: perhaps no other vp comes to steal it.
 *
 * Spares. If a vp is stuck and no vp is idle, spares are started: as many as members of teams are ready behind it,
 * since these may wait for one another. Each time this repeats before the stall ends, at least 1, 2, 4 ... are
 * started, and 64 at most. The same is done if some vp is idle, but has not taken the work in IDLE_COMES_NS. No
 * spares are started while some have not run yet: on a loaded machine they would pile up by the hundred.
 *
 * Roots. A root that is ready while its kernel thread is held is released (home.h). Then any vp goes on with it; if
 * no vp is idle, a spare is started for it.
 *
 * Pace. A program whose threads spin for one another stalls again and again. After three stalls the watchdog looks
 * every millisecond, until it has seen no stall for a second. The processor time that a kernel thread has used is the
 * kernel's own count. It is exact, so a vp that is merely late on a loaded machine does not look stuck. A stall ends
 * when several looks in a row find no vp that has stood still since the look before.
 *
 * Caller: the watchdog. States of the policy: calm -> stalls are counted -> quick -> calm. */
#ifndef PS_SPARES_H
#define PS_SPARES_H

#include "watchdog_sample.h"

struct spares_action {
    struct vp **root_holders; /* the vps whose roots are to be released */
    unsigned num_root_holders;
    bool open_places; /* every vp may take from the queues of places */
    /* the stalls are over for now: spares stand by, and only a place's homes take from its queue */
    bool calm;
    bool starving;   /* some work starves: spares may take it */
    bool idle;       /* some vp is idle, and may take a root that is released */
    unsigned spares; /* how many spares are started */
};

/* Returns the time until the watchdog's next look. */
int64_t spares_period_ns(void);
/* Called when the watchdog begins to watch. Forgets how long an earlier stall lasted. */
void spares_begin(void);
void spares_decide(struct watchdog_sample *s, struct spares_action *action);
void spares_act(const struct spares_action *action);

#endif
