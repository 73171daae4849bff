/* The main function of the watchdog's kernel thread: see watchdog.h. It touches only those fields of a vp that are
 * shared. */
#include "dedicated.h"
#include "idle.h"
#include "lone_root.h"
#include "os.h"
#include "quota_park.h"
#include "recall.h"
#include "receiver.h"
#include "root_fairness.h"
#include "runtime.h"
#include "share.h"
#include "sources.h"
#include "spares.h"
#include "standby.h"
#include "watchdog.h"
#include "watchdog_sample.h"

#define QUIET_TICKS 20 /* the watchdog sleeps after so many ticks in a row with nothing pending */

static bool spares_at_work(void)
{
    return ps_load_relaxed(&ps_watchdog.spares) > ps_load_relaxed(&ps_watchdog.standing);
}

/* Starts the workers and spares that other threads want but must not start themselves (priority.h), or did not find
 * standing by. */
static void start_asked(void)
{
    uint32_t asked = ps_load_relaxed(&ps_watchdog.asked) ? ps_xchg_seq(&ps_watchdog.asked, 0) : 0;
    if (asked & WATCHDOG_WORKERS)
        idle_start_wanted();
    uint32_t lacking = asked & WATCHDOG_SPARE ? ps_xchg_acq_rel(&ps_watchdog.lacking, 0) : 0;
    /* If a spare is asked for and `lacking` is 0, one is started: the watchdog has taken that number with an earlier
     * request, or the caller sets none. */
    lacking += asked & WATCHDOG_SPARE && lacking == 0;
    while ((lacking > 0 || (asked & WATCHDOG_SPARE && watchdog_spare_may_work(1) && vp_work_waits())) &&
           ps_load_relaxed(&ps_watchdog.spares) < ps_rt.max_spares && vp_get_spare() == 0)
        lacking -= lacking > 0;
}

/* Starts the standbys that are lacking. If the system refuses one, the next tick tries again. Standbys for roots are
 * counted only if threads have blocks: without blocks no root is released. */
static void keep_standbys(uint64_t now_ns)
{
    unsigned roots = ps_load_relaxed(&ps_rt.tls) ? ps_load_relaxed(&ps_rt.num_roots) : 0;
    unsigned lacking = ps_rt.max_spares ? standby_keep(roots, now_ns) : 0;
    while (lacking-- > 0 && vp_start_standby() == 0)
        ;
}

/* One tick: takes a sample, and calls each policy. */
static void watch_tick(unsigned *quiet)
{
    struct watchdog_sample s;
    struct spares_action spares;
    watchdog_sample_take(&s);
    keep_standbys(s.now_ns);
    quota_park_look(&s);
    recall_look(s.now_ns);
    spares_decide(&s, &spares);
    spares_act(&spares);
    *quiet = s.pending || s.roots_ready || spares_at_work() || recall_wanted() ? 0 : *quiet + 1;
}

/* Takes samples until nothing has been pending for a while. */
static void watch(void)
{
    unsigned quiet = 0;
    spares_begin();
    while (quiet < QUIET_TICKS && !watchdog_stops()) {
        int64_t left = spares_period_ns();
        uint64_t until = os_now_ns() + (uint64_t)left;
        while (left > 0 && !watchdog_stops()) { /* a thread that sets `asked` ends the nap early */
            int64_t share_ns = share_look();
            watchdog_nap(share_ns >= 0 && share_ns < left ? share_ns : left);
            start_asked();
            left = (int64_t)(until - os_now_ns());
        }
        watch_tick(&quiet);
    }
}

/* Looks once at how many processors the system allows. */
static void glance(void)
{
    struct watchdog_sample s;
    watchdog_sample_take(&s);
    quota_park_look(&s);
}

void *watchdog_main(void *arg)
{
    (void)arg;
    os_thread_name("psthreads-watch");
    while (!watchdog_stops()) {
        if (!ps_load_acquire(&ps_watchdog.armed)) {
            share_park(&ps_watchdog.armed, share_look());
            continue;
        }
        if (ps_load_acquire(&ps_watchdog.armed) == WATCHDOG_WATCH)
            watch();
        else
            glance();
        ps_store_seq(&ps_watchdog.armed, 0);
        if (!watchdog_stops() && (vp_look_for_all(PS_IN_QUEUE | PS_IN_PLACES | PS_IN_GLOBAL) || watchdog_root_ready() ||
                                  ps_load_seq(&ps_watchdog.asked) || recall_wanted()))
            ps_store_seq(&ps_watchdog.armed, WATCHDOG_WATCH);
    }
    share_leave();
    return NULL;
}

void watchdog_may_start(void)
{
    watchdog_forget();
    recall_reset();
}

void watchdog_reset(void)
{
    watchdog_may_start();
    root_fairness_reset();
    watchdog_sample_reset();
    ps_store_relaxed(&ps_watchdog.spares, 0);
    ps_store_relaxed(&ps_watchdog.blocked, 0);
    ps_store_relaxed(&ps_watchdog.coming, 0);
    ps_store_relaxed(&ps_watchdog.standing, 0);
}
