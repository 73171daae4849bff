/* What the watchdog sees in one tick.
 *
 * The watchdog takes one sample in each tick. A policy (spares.h, quota_park.h) is a function that maps the sample, and
 * what the policy remembers, to an action. The action is carried out afterwards. So all policies of a tick decide on
 * the same state, and a test can give them any state (tests/psthreads/policies_test.c). recall.h and standby.h take no
 * sample.
 *
 * The sample is read without locks while vps run, so each of its numbers may be out of date by some instructions. An
 * action that must not go wrong is therefore done by a compare-and-swap. Loads are relaxed or acquire; that of `pinned`
 * alone is seq_cst: the watchdog reads it after it has cleared `armed` (watchdog.h).
 *
 * Cost: some loads for each vp. What takes a system call is read when a policy first asks for it in the tick
 * (watchdog_usage). What the system allows is read every WATCHDOG_ALLOWED_NS.
 *
 * Caller of all functions but watchdog_sample_reset: the watchdog. */
#ifndef PS_WATCHDOG_SAMPLE_H
#define PS_WATCHDOG_SAMPLE_H

#include "os.h"

struct vp;

#define WATCHDOG_ALLOWED_NS UINT64_C(100000000)

/* Returns true if a value was read in this tick; it is read when a policy first asks for it. UNREADABLE: the read has
 * failed. */
enum watchdog_read { WATCHDOG_NOT_READ, WATCHDOG_READ, WATCHDOG_UNREADABLE };

/* What the watchdog sees of one vp. */
struct watchdog_seen {
    struct vp *vp; /* NULL: the slot is free */
    /* The number of scheduling points that the vp has passed. */
    uint64_t ticks;
    /* The number of entries in its own queue and in its places' queues; if a kernel thread carries the vp, plus those
     * in the global queue. */
    unsigned ready;
    unsigned bound; /* how many of the entries that `ready` counts are in queues of places */
    /* The system's number of the vp's kernel thread. */
    int tid;
    /* Whether a kernel thread carries the vp. */
    bool attached;
    bool roots;      /* whether the vp is a root's home (vp_is_roots) */
    bool root_ready; /* whether the vp's root is ready and waits for the vp */
    enum watchdog_read usage;
    struct os_usage usage_at; /* valid if `usage` is WATCHDOG_READ */
    /* Whether `members` is valid: it is counted when a policy first asks. members: how many members in the vp's queue
     * have not begun. */
    bool counted;
    unsigned members;
};

struct watchdog_sample {
    uint64_t now_ns;
    unsigned num_vps, vps; /* the number of vps without the guests; the number of slots in the vp table */
    /* The sums of `ready` and `root_ready` of all vps. */
    unsigned pending, roots_ready;
    /* How many spares are at work; how many are allowed; how many were started or called and have not run yet. */
    unsigned spares, most_spares, coming;
    bool idle; /* some vp searches or is parked */
    /* Whether the limits that the system sets were read in this tick. */
    bool new_limits;
    /* The number of processors in the watchdog's affinity mask, and the quota in processors (UINT_MAX: none). */
    unsigned in_mask, by_quota;
    struct watchdog_seen *seen; /* an array of `vps` elements */
};

/* Takes the sample. */
void watchdog_sample_take(struct watchdog_sample *s);
/* Called when the library starts, and in a forked child: forgets the limits. The watchdog reads them
 * WATCHDOG_ALLOWED_NS from now, or later. */
void watchdog_sample_reset(void);

/* Returns true if some root is ready and waits for its vp (seq_cst). */
bool watchdog_root_ready(void);
/* Returns what /proc says of the vp's kernel thread: its processor time, time slices and state. NULL: that cannot be
 * read, mostly because the kernel thread has ended. */
const struct os_usage *watchdog_usage(struct watchdog_seen *seen);

/* Returns how many members in the vp's queue have not begun. */
unsigned watchdog_members(struct watchdog_seen *seen);

#endif
