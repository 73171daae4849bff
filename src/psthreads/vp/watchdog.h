/* The watchdog: progress where a thread holds its vp and others wait behind it (a spin on a flag, a blocking system
 * call).
 *
 * User-level threads are not preempted. A thread that passes no scheduling point keeps its vp, and if no vp is free to
 * steal, the threads in its queue wait for ever. The watchdog is a kernel thread of its own. The watchdog sees such
 * threads and starts a *spare*: a guest vp with a kernel thread of its own. The spare steals like any other vp, and
 * stands by as soon as nothing starves or nothing is left.
 *
 * States: disarmed -> armed by an insertion that finds no idle vp -> looks every tick until nothing has been pending
 * for a while -> disarmed. Disarmed it sleeps without time-out: a process that does nothing is not woken.
 * No starvation is overlooked. The watchdog disarms (seq_cst), then looks at every queue under its lock, and arms
 * itself again if something is there. An insertion that comes after that look reads `armed` after the lock that the
 * look released (the same argument as in idle.h). The same holds after a single look at what the system allows
 * (quota_park.h), during which insertions find it armed.
 *
 * Each tick takes one sample (watchdog_sample.h). A policy is a function from the sample to an action: spares.h for vps
 * that are held, quota_park.h for what the system allows. (team/recall.h has a table of its own.)
 *
 * That a root became ready is published as its vp's `pinned` (seq_cst) before `armed` is read (seq_cst). The watchdog
 * disarms, then looks at every `pinned` (seq_cst both): one of them sees the other.
 *
 * Cost otherwise: one store per thread or member that is run (vp.ticks); one load per insertion while all vps are
 * busy. */
#ifndef PS_WATCHDOG_H
#define PS_WATCHDOG_H

#include "atomic.h"
#include "compiler.h"

struct vp;

#define WATCHDOG_TICK_NS INT64_C(5000000)
#define WATCHDOG_QUICK_TICK_NS INT64_C(1000000)
#define WATCHDOG_STALL_NS INT64_C(5000000)

/* Values of `armed`. An insertion that finds one of them set does nothing: the watchdog looks afterwards whether
 * something is ready. */
enum { WATCHDOG_WATCH = 1, WATCHDOG_GLANCE };
/* Bits of `asked`. */
enum { WATCHDOG_WORKERS = 1, WATCHDOG_SPARE = 2, WATCHDOG_STOP = 4 };

struct ps_watchdog {
    PS_LINE_ALIGNED _Atomic uint32_t
        armed;                 /* anyone sets WATCH or GLANCE (one look: quota_park.h), the watchdog sets 0 */
    _Atomic uint32_t starving; /* the watchdog writes; spares read */
    _Atomic uint32_t spares;   /* at work */
    _Atomic uint32_t coming;   /* of these: started or called, and not run since; each takes itself off */
    _Atomic uint32_t standing; /* of these: stand in for a lone root, and have found nothing to do (search.c) */
    _Atomic uint32_t blocked;  /* vps whose threads block in the kernel, with work behind them: blocking.h */
    _Atomic uint32_t lacking;  /* spares that are wanted where none stands by; anyone sets, the watchdog takes */
    _Atomic uint32_t asked; /* WATCHDOG_...: what it is to do soon; anyone sets, the watchdog takes, and naps on it */
    _Atomic uint32_t spares_ever, spares_most; /* for reports and tests */
    _Atomic uint32_t released;                 /* the same; roots that were released (home.h) */
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

/* A build for tests (-DPS_RELEASE_ALWAYS=ON): each root that waits is released whenever it may be (home.h). */
#ifndef PS_RELEASE_ALWAYS
#define PS_RELEASE_ALWAYS 0
#endif

/* Whether the watchdog has to start kernel threads of the pool in the caller's place: those that the caller starts
 * would begin with what one thread of the program's has set (priority.h). The watchdog is there then. here: the
 * caller's vp, or NULL. */
bool watchdog_starts_for(const struct vp *here);
/* Makes the watchdog start workers that are WANTED, or spares, in its next tick or sooner. */
void watchdog_ask(uint32_t what);
/* watchdog_want_spare, watchdog_want_spares: spares are wanted at once. Those that stand by are called, and the
 * watchdog starts the others. watchdog_want_spare_for_blocked: the same where fewer spares are at work than vps are
 * blocked (blocking.h). Any kernel thread may call. */
void watchdog_want_spare(void);
void watchdog_want_spares(unsigned n);
void watchdog_want_spare_for_blocked(void);
/* Whether `more` spares may work besides those that do: one for each vp that is blocked, and those that stand in. */
static inline bool watchdog_spare_may_work(uint32_t more)
{
    return ps_load_seq(&ps_watchdog.spares) + more <=
           ps_load_seq(&ps_watchdog.blocked) + ps_load_relaxed(&ps_watchdog.standing);
}
/* Counts a spare, the caller, if it may work; false: it may not. */
static inline bool watchdog_spare_counts_in(void)
{
    uint32_t spares = ps_load_seq(&ps_watchdog.spares);
    do
        if (spares >= ps_load_seq(&ps_watchdog.blocked) + ps_load_relaxed(&ps_watchdog.standing))
            return false;
    while (!ps_cas_seq(&ps_watchdog.spares, &spares, spares + 1));
    return true;
}
/* Starts the watchdog's kernel thread, which then sleeps, if the system allows one. Callers: those of watchdog_arm. */
void watchdog_be_there(void);

/* Kernel threads of the watchdog: 0 or 1. */
unsigned watchdog_runs(void);
/* The watchdog's kernel thread (watchdog_tick.c), and functions that it calls. watchdog_stops: whether it is to end.
 * watchdog_nap: sleeps for ns at most, and no longer once the watchdog is asked for something, such as its end. */
void *watchdog_main(void *arg);
bool watchdog_stops(void);
void watchdog_nap(int64_t ns);

/* Stops the watchdog's kernel thread, if there is one; none is started again. Caller: the workers are gone. Spares may
 * be there, started by the watchdog's last look or by a root. They count themselves off. */
void watchdog_stop(void);
/* Notes that the watchdog has no kernel thread, and that one may be started. Caller: watchdog_tick.c. */
void watchdog_forget(void);
/* Lets what arms the watchdog start it again. Called when the spares are gone. */
void watchdog_may_start(void);
/* Sets all to what it was before the first arming. Called at the start, and in a forked child. */
void watchdog_reset(void);

#endif
