/* The watchdog: progress where a thread holds its vp and others wait behind it (a spin on a flag, a blocking system
 * call).
 *
 * User-level threads are not preempted. A thread that passes no scheduling point keeps its vp. If no vp is free to
 * steal, the threads in its queue wait for ever. The watchdog is a kernel thread that sees such threads and starts a
 * *spare*: a guest vp with a kernel thread of its own. The spare steals like any other vp. It stands by as soon as
 * no thread starves or no work is left.
 *
 * States: disarmed -> armed, above all by an insertion that finds no idle vp -> disarmed, once nothing has been pending
 * for a while. While armed the watchdog looks every tick. While disarmed it sleeps without time-out, so a process that
 * does nothing is not woken. (With a time-out if the process shares processors with others: share.h.)
 *
 * No starvation is overlooked: the watchdog disarms (seq_cst), then looks at every queue under its lock, and arms
 * itself again if something is in one. An insertion after that look takes the lock that the look released. So it
 * reads `armed` after the watchdog's store (the same argument as in idle.h). The same holds after a single look at
 * what the system allows (quota_park.h), during which insertions find the watchdog armed. A root that becomes ready
 * is published in its vp's `pinned` (seq_cst), and then `armed` is read (seq_cst). The watchdog disarms, then looks
 * at every `pinned` (both seq_cst). So one of the two sees the other.
 *
 * Each tick takes one sample (watchdog_sample.h). A policy is a function from the sample to an action: spares.h for
 * vps that are held, quota_park.h for what the system allows. (team/recall.h has a table of its own instead.)
 *
 * Cost while it is disarmed: one store per thread or member that runs (vp.ticks); one load per insertion while all vps
 * are busy. */
#ifndef PS_WATCHDOG_H
#define PS_WATCHDOG_H

#include "atomic.h"
#include "compiler.h"

struct vp;

#define WATCHDOG_TICK_NS INT64_C(5000000)
#define WATCHDOG_QUICK_TICK_NS INT64_C(1000000)
#define WATCHDOG_STALL_NS INT64_C(5000000)

/* Values of `armed`. If either is set, an insertion does nothing more: the watchdog will look for ready work later. */
enum { WATCHDOG_WATCH = 1, WATCHDOG_GLANCE };
/* Bits of `asked`: start workers; start spares; end. */
enum { WATCHDOG_WORKERS = 1, WATCHDOG_SPARE = 2, WATCHDOG_STOP = 4 };

struct ps_watchdog {
    /* Any thread sets WATCH, or GLANCE for one look (quota_park.h). The watchdog sets 0. If the user wants no spares,
     * always 1. */
    PS_LINE_ALIGNED _Atomic uint32_t armed;
    _Atomic uint32_t starving; /* 1: work starves, so spares may take it. The watchdog writes, spares read. */
    _Atomic uint32_t spares;   /* how many spares are at work */
    /* How many of the spares at work were started or called, and have not run since. Each counts itself off when it
     * runs. */
    _Atomic uint32_t coming;
    /* How many of the spares at work stand in for a lone root, and have found nothing to do (search.c). */
    _Atomic uint32_t standing;
    /* how many vps have a thread that blocks in the kernel, and work behind it (blocking.h) */
    _Atomic uint32_t blocked;
    /* How many spares the watchdog is to start, since too few stood by. A thread that needs more raises this number;
     * the watchdog takes it. */
    _Atomic uint32_t lacking;
    /* WATCHDOG_...: what the watchdog is to do soon. Any thread sets bits; the watchdog takes them, and sleeps on
     * this word between ticks. */
    _Atomic uint32_t asked;
    /* for reports and tests: how often vp_get_spare called or started a spare, and the most that were at work after
     * such a call */
    _Atomic uint32_t spares_ever, spares_most;
    _Atomic uint32_t released; /* for reports and tests: how often the watchdog has released a root (home.h) */
};
extern struct ps_watchdog ps_watchdog;

void watchdog_arm_slow(void);
static inline void watchdog_arm(void)
{
    if (PS_UNLIKELY(!ps_load_relaxed(&ps_watchdog.armed)))
        watchdog_arm_slow();
}

/* Makes the watchdog look once at how many processors the system allows. */
void watchdog_glance(void);

/* Arms the watchdog if it is not armed. Called after a root was made ready, and by recall_watch. */
static inline void watchdog_arm_for_root(void)
{
    if (PS_UNLIKELY(!ps_load_seq(&ps_watchdog.armed)))
        watchdog_arm_slow();
}

/* Set in a build for tests (-DPS_RELEASE_ALWAYS=ON): each root that waits is released as soon as it may be (home.h). */
#ifndef PS_RELEASE_ALWAYS
#define PS_RELEASE_ALWAYS 0
#endif

/* Returns true if the watchdog exists, and has to start workers and spares in the caller's place. Kernel threads that
 * the caller started would begin with a priority or processors that one thread of the program's has set (priority.h).
 * here: the caller's vp, or NULL. */
bool watchdog_starts_for(const struct vp *here);
/* Makes the watchdog start workers in state WANTED, or spares, in its next tick or sooner. */
void watchdog_ask(uint32_t what);
/* watchdog_want_spare asks for one spare at once, watchdog_want_spares for n. They call spares that stand by; the
 * watchdog starts the others. watchdog_want_spare_for_blocked asks for one only if one more may work
 * (watchdog_spare_may_work). Any kernel thread may call. */
void watchdog_want_spare(void);
void watchdog_want_spares(unsigned n);
void watchdog_want_spare_for_blocked(void);
/* Returns true if `more` spares may work besides those that do. Allowed are one for each vp that is blocked, and those
 * that stand in for lone roots. */
static inline bool watchdog_spare_may_work(uint32_t more)
{
    return ps_load_seq(&ps_watchdog.spares) + more <=
           ps_load_seq(&ps_watchdog.blocked) + ps_load_relaxed(&ps_watchdog.standing);
}
/* Counts the caller, a spare, as at work, if it may work. False: it may not. */
static inline bool watchdog_spare_counts_in(void)
{
    uint32_t spares = ps_load_seq(&ps_watchdog.spares);
    do
        if (spares >= ps_load_seq(&ps_watchdog.blocked) + ps_load_relaxed(&ps_watchdog.standing))
            return false;
    while (!ps_cas_seq(&ps_watchdog.spares, &spares, spares + 1));
    return true;
}
/* Starts the watchdog's kernel thread if there is none, and waits until it is started or refused. The kernel thread
 * sleeps at first. Any thread that may arm the watchdog may call. */
void watchdog_be_there(void);

/* Returns how many kernel threads the watchdog has: 0 or 1. */
unsigned watchdog_runs(void);
/* The main function of the watchdog's kernel thread (watchdog_tick.c), and functions that it calls. watchdog_stops
 * returns true if the kernel thread is to end. watchdog_nap: sleeps for ns at most; any bit of `asked` ends the
 * sleep. */
void *watchdog_main(void *arg);
bool watchdog_stops(void);
void watchdog_nap(int64_t ns);

/* Ends the watchdog's kernel thread, if there is one; none is started again until watchdog_may_start. Called when the
 * workers are gone. Spares may still be there, started by the watchdog's last look or by a root. They count themselves
 * off. */
void watchdog_stop(void);
/* Notes that the watchdog has no kernel thread, and that one may be started. Caller: watchdog_tick.c. */
void watchdog_forget(void);
/* From now on a thread that arms the watchdog starts the watchdog's kernel thread again. Called when the spares are
 * gone. */
void watchdog_may_start(void);
/* Makes the watchdog as it is before it is armed for the first time: no kernel thread, no spares, nothing asked. What
 * its policies have learnt (spares.c), and the counts for reports, stay. Called when the library starts, and in a
 * forked child. */
void watchdog_reset(void);

#endif
