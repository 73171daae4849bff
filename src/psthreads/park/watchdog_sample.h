/* What the watchdog sees in one tick.
 *
 * The watchdog takes one sample a tick. Each of its policies (spares.h, quota_park.h; not recall.h and standby.h,
 * which take no sample) is a function from the sample, and from what the policy remembers, to an action; the action is
 * carried out afterwards. So all policies of a tick decide on the same state, and a test can hand them any state
 * (tests/psthreads/policies_test.c).
 *
 * A sample is read without locks while vps run: its numbers may be some instructions old, and each of another age. An
 * action therefore makes sure of what must not be wrong, by a compare-and-swap.
 * Loads are relaxed, or acquire where what a number leads to is looked at. `pinned` alone is seq_cst: it is read after
 * `armed` was cleared (watchdog.h).
 *
 * Cost: some loads for each vp. What takes a system call is read at a policy's first question, once a tick
 * (watchdog_usage); what the system allows is read every WATCHDOG_ALLOWED_NS.
 *
 * Caller of everything: the watchdog. */
#ifndef PS_WATCHDOG_SAMPLE_H
#define PS_WATCHDOG_SAMPLE_H

#include "os.h"

struct vp;

#define WATCHDOG_ALLOWED_NS UINT64_C(100000000)

/* A number that is read at the first question. */
enum watchdog_read { WATCHDOG_NOT_READ, WATCHDOG_READ, WATCHDOG_UNREADABLE };

struct watchdog_seen {
    struct vp *vp; /* NULL: the slot is free */
    uint64_t ticks;
    unsigned ready; /* entries in the queues that the vp alone, or with others, takes from */
    unsigned bound; /* of these in queues of places */
    int tid;
    bool attached;
    bool roots;      /* it has a root (vp_is_roots) */
    bool root_ready; /* and the root waits for the vp */
    enum watchdog_read usage;
    struct os_usage usage_at; /* with `usage` */
    bool counted;
    unsigned members; /* that wait in its queue to begin, where `counted` */
};

struct watchdog_sample {
    uint64_t now_ns;
    unsigned num_vps, vps; /* regular vps; all entries of the vp table */
    unsigned pending, roots_ready;
    unsigned spares, most_spares, coming; /* spares: alive, allowed, started but not run yet */
    bool idle;                            /* some vp is */
    /* Limits that the system sets. new_limits: they were read in this tick. by_quota: UINT_MAX without a limit. */
    bool new_limits;
    unsigned in_mask, by_quota;
    struct watchdog_seen *seen; /* [vps] */
};

void watchdog_sample_take(struct watchdog_sample *s);
/* Called when the library starts: nothing has been read yet, and limits are next read WATCHDOG_ALLOWED_NS from now. */
void watchdog_sample_reset(void);

/* Whether some root is ready, and runs when its vp gets to it. */
bool watchdog_root_ready(void);
/* Time, slices and state from /proc; NULL: it is gone. */
const struct os_usage *watchdog_usage(struct watchdog_seen *seen);

/* Members that wait in its queue to begin. */
unsigned watchdog_members(struct watchdog_seen *seen);

#endif
