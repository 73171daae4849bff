/* How other threads start, arm, wake and stop the watchdog's kernel thread. What this kernel thread does is in
 * watchdog_tick.c. See watchdog.h. */
#include "watchdog.h"

#include "bind.h"
#include "check.h"
#include "os.h"
#include "run.h"
#include "runtime.h"
#include "share.h"
#include "standby.h"
#include "upcalls.h"

#include <errno.h>

/* How often the start of the kernel thread is tried, at most. */
#define WATCHDOG_TRIES 3
/* Large enough for the paths of the control group's files. An address sanitizer doubles what a frame needs. */
#define STACK_BYTES ((size_t)256 * 1024)

struct ps_watchdog ps_watchdog;

static os_thread thread;
/* States of the watchdog's kernel thread, in `alive`. `thread` is valid in RUNNING. In STOPPED no thread starts it
 * again before watchdog_may_start is called, when no spare is left that could ask for it. */
enum { NONE, STARTING, RUNNING, REFUSED, STOPPED };
static _Atomic uint32_t alive;
static _Atomic uint32_t stop_word; /* 1: the watchdog's kernel thread is to end */

bool watchdog_stops(void) { return ps_load_acquire(&stop_word); }

void watchdog_nap(int64_t ns) { share_park(&ps_watchdog.asked, ns); }

/* Starts the watchdog's kernel thread. The caller has set `alive` to STARTING. No handler of the program runs on that
 * kernel thread (process_signal.h). If the system refuses the kernel thread WATCHDOG_TRIES times, there is no watchdog,
 * and a thread that waits behind one that spins or blocks may wait for ever. */
static void start_watchdog(void)
{
    int err = EAGAIN;
    bind_lift();
    for (int i = 0; err && i < WATCHDOG_TRIES; i++) {
        if (i)
            os_park(&alive, STARTING, WATCHDOG_TICK_NS);
        /* Keeps the caller's signal mask for spares: they run the program's code, but inherit the watchdog's mask, in
         * which all signals are blocked. */
        os_signals_keep(vp_mask_to_start_with());
        err = os_thread_start(&thread, ps_upcalls.watch, NULL, STACK_BYTES, true);
    }
    bind_lower();
    if (err)
        ps_warn("the system refuses the watchdog a kernel thread: threads that spin or block for one another may "
                "wait for ever");
    ps_store_release(&alive, err ? REFUSED : RUNNING);
}

/* Called after `armed` was set: wakes the watchdog's kernel thread, or starts it if no thread has tried to. */
static void wake_watchdog(void)
{
    uint32_t none = NONE;
    if (PS_UNLIKELY(ps_cas_acq_rel(&alive, &none, STARTING)))
        start_watchdog();
    else
        os_wake(&ps_watchdog.armed, 1);
}

void watchdog_be_there(void)
{
    uint32_t state = NONE;
    if (ps_rt.max_spares == 0 || PS_LIKELY(ps_load_acquire(&alive) == RUNNING))
        return;
    if (ps_cas_acq_rel(&alive, &state, STARTING))
        start_watchdog();
    while (ps_load_acquire(&alive) == STARTING)
        os_yield();
}

void watchdog_arm_slow(void)
{
    if (!ps_xchg_seq(&ps_watchdog.armed, WATCHDOG_WATCH))
        wake_watchdog();
}

void watchdog_glance(void)
{
    uint32_t no = 0;
    if (ps_cas_seq(&ps_watchdog.armed, &no, WATCHDOG_GLANCE))
        wake_watchdog();
}

bool watchdog_starts_for(const struct vp *here)
{
    return here && PS_UNLIKELY(vp_differs(here)) && ps_load_acquire(&alive) == RUNNING;
}

void watchdog_ask(uint32_t what)
{
    ps_or_seq(&ps_watchdog.asked, what);
    os_wake(&ps_watchdog.asked, 1);
    watchdog_arm_for_root();
}

void watchdog_want_spare(void) { watchdog_want_spares(1); }

void watchdog_want_spares(unsigned n)
{
    while (n && standby_call())
        n--;
    if (!n)
        return;
    uint32_t seen = ps_load_relaxed(&ps_watchdog.lacking);
    while (seen < n && !ps_cas_acq_rel(&ps_watchdog.lacking, &seen, n))
        ;
    watchdog_ask(WATCHDOG_SPARE);
}

void watchdog_want_spare_for_blocked(void)
{
    if (watchdog_spare_may_work(1))
        watchdog_want_spare();
}

unsigned watchdog_runs(void) { return ps_load_acquire(&alive) == RUNNING; }

void watchdog_forget(void)
{
    ps_store_relaxed(&alive, 0);
    ps_store_relaxed(&stop_word, 0);
    /* If the program wants no spares, the watchdog counts as armed for ever, so that no thread starts it. */
    ps_store_relaxed(&ps_watchdog.armed, ps_rt.max_spares == 0);
    ps_store_relaxed(&ps_watchdog.starving, 0);
    ps_store_relaxed(&ps_watchdog.asked, 0);
    ps_store_relaxed(&ps_watchdog.lacking, 0);
    share_forget();
}

void watchdog_stop(void)
{
    uint32_t state = NONE;
    while (!ps_cas_acq_rel(&alive, &state, STOPPED) && state == STARTING) {
        os_yield();
        state = NONE;
    }
    if (state == RUNNING) {
        ps_store_seq(&stop_word, 1);
        ps_store_seq(&ps_watchdog.armed, 1);
        ps_or_seq(&ps_watchdog.asked, WATCHDOG_STOP);
        os_wake(&ps_watchdog.asked, 1);
        os_wake(&ps_watchdog.armed, 1);
        os_thread_join(thread);
    }
    ps_store_release(&alive, STOPPED);
    ps_store_relaxed(&ps_watchdog.starving, 0); /* so that spares take no more work */
}
