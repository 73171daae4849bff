/* The watchdog's kernel thread: see watchdog.h. It touches of a vp only what is shared. */
#include "watchdog.h"

#include "bind.h"
#include "check.h"
#include "os.h"
#include "quota_park.h"
#include "root_fairness.h"
#include "runtime.h"
#include "sources.h"
#include "spares.h"
#include "standby.h"
#include "starter.h"
#include "uncover.h"
#include "vp.h"
#include "watchdog_sample.h"

#include <errno.h>

#define QUIET_TICKS 20 /* ticks with nothing pending before the watchdog sleeps */
#define WATCHDOG_TRIES 3
#define STACK_BYTES ((size_t)256 * 1024) /* paths, for the quota; an address sanitizer doubles them */

struct ps_watchdog ps_watchdog;

static os_thread thread;
/* The watchdog's kernel thread. `thread` is valid while RUNNING. STOPPED: nobody starts one, until no spare is left
 * that could ask for it. */
enum { NONE, STARTING, RUNNING, REFUSED, STOPPED };
static _Atomic uint32_t alive;
/* STOP: it is to end. NUDGE: somebody asks for a kernel thread; the watchdog takes it back before it looks who. */
enum { STOP = 1, NUDGE = 2 };
static _Atomic uint32_t stop_word;
static bool stops(void) { return ps_load_acquire(&stop_word) & STOP; }
/* Of ps_watchdog.armed. An insertion that finds it set does nothing: the watchdog looks what is ready after each. */
enum { WATCH = 1, GLANCE };

/* Kernel threads that others ask for. */
static void serve(void)
{
    standby_serve();
    starter_serve();
}

/* A tick is as long as it is, whoever asks for something meanwhile: a stall's length is counted in ticks. */
static void sleep_a_tick(int64_t ns)
{
    uint64_t now = os_now_ns(), end = now + (uint64_t)ns;
    if (PS_INTERRUPTS)
        watchdog_interrupt_all(now + (uint64_t)spares_period_ns());
    else
        os_park(&stop_word, 0, ns);
    while (ps_load_relaxed(&stop_word) == NUDGE) {
        ps_and_seq(&stop_word, ~(uint32_t)NUDGE);
        serve();
        now = os_now_ns();
        if (!PS_INTERRUPTS && now < end)
            os_park(&stop_word, 0, (int64_t)(end - now));
    }
}

static bool spares_at_work(void)
{
    return ps_load_relaxed(&ps_watchdog.spares) > ps_load_relaxed(&ps_watchdog.standing);
}

/* One tick: a sample, and what each policy makes of it. spares_due_ns: when held vps are looked for next. Roots that
 * take turns make ticks shorter; in between, held vps are not looked for: a stall's length is counted in looks. */
static void watch_tick(uint64_t *spares_due_ns, bool *turns, unsigned *quiet)
{
    struct watchdog_sample s;
    struct root_fairness_action fairness;
    struct spares_action spares;
    watchdog_sample_take(&s);
    quota_park_look(&s);
    uncover_look(&s);
    root_fairness_decide(&s, &fairness);
    root_fairness_act(&fairness);
    *turns = fairness.soon;
    if (*turns && s.now_ns < *spares_due_ns)
        return;
    spares_decide(&s, &spares);
    spares_act(&spares);
    *spares_due_ns = s.now_ns + (uint64_t)spares_period_ns();
    *quiet = s.pending || s.roots_ready || *turns || spares_at_work() || uncover_wanted() ? 0 : *quiet + 1;
}

/* Watches until nothing has been pending for a while. */
static void watch(void)
{
    uint64_t spares_due_ns = 0;
    bool turns = false;
    unsigned quiet = 0;
    spares_begin();
    while (quiet < QUIET_TICKS && !stops()) {
        sleep_a_tick(turns ? WATCHDOG_QUICK_TICK_NS : spares_period_ns());
        serve();
        watch_tick(&spares_due_ns, &turns, &quiet);
    }
    root_fairness_end();
    uncover_end();
}

/* One look at what the system allows. */
static void glance(void)
{
    struct watchdog_sample s;
    watchdog_sample_take(&s);
    quota_park_look(&s);
}

static bool root_ready(struct vp *vp) { return ps_load_seq(&vp->pinned) && vp_is_roots(vp); }

static bool some_root_ready(void)
{
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned id = 0; id < slots; id++) {
        struct vp *vp = ps_vp_at(id);
        if (vp && root_ready(vp))
            return true;
    }
    return false;
}

static void *watchdog_main(void *arg)
{
    (void)arg;
    os_thread_name("psthreads-watch");
    while (!stops()) {
        if (!ps_load_acquire(&ps_watchdog.armed)) {
            os_park(&ps_watchdog.armed, 0, OS_FOREVER);
            continue;
        }
        if (ps_load_acquire(&ps_watchdog.armed) == WATCH)
            watch();
        else
            glance();
        ps_store_seq(&ps_watchdog.armed, 0);
        if (!stops() && (vp_look_for_all(PS_IN_QUEUE | PS_IN_PLACES | PS_IN_GLOBAL) || some_root_ready() ||
                         standby_wanted() || starter_wanted() || uncover_wanted()))
            ps_store_seq(&ps_watchdog.armed, WATCH);
    }
    return NULL;
}

/* The caller has made `alive` STARTING. No signal is ever handled on it. Refused, some times: no watchdog; what never
 * starves runs all the same. */
static void start_watchdog(void)
{
    int err = EAGAIN;
    bind_lift();
    for (int i = 0; err && i < WATCHDOG_TRIES; i++) {
        if (i)
            os_park(&alive, STARTING, WATCHDOG_TICK_NS);
        /* for spares, which run the program's code and begin with the watchdog's mask, all blocked */
        os_signals_keep();
        err = os_thread_start(&thread, watchdog_main, NULL, STACK_BYTES, true);
    }
    bind_lower();
    if (err)
        ps_warn("the system refuses the watchdog a kernel thread: threads that spin or block for one another may "
                "wait for ever");
    ps_store_release(&alive, err ? REFUSED : RUNNING);
}

/* `armed` has been set: its kernel thread sees that. */
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
    if (!ps_xchg_seq(&ps_watchdog.armed, WATCH))
        wake_watchdog();
}

void watchdog_glance(void)
{
    uint32_t no = 0;
    if (ps_cas_seq(&ps_watchdog.armed, &no, GLANCE))
        wake_watchdog();
}

void watchdog_serve_soon(void)
{
    ps_or_seq(&stop_word, (uint32_t)NUDGE);
    watchdog_arm_for_root();
    os_wake(&stop_word, 1); /* it need not wait for its next look */
}

bool watchdog_refused(void) { return ps_load_acquire(&alive) == REFUSED; }

unsigned watchdog_runs(void) { return ps_load_acquire(&alive) == RUNNING; }

/* There is no watchdog. */
static void forget_watchdog(void)
{
    ps_store_relaxed(&alive, 0);
    ps_store_relaxed(&stop_word, 0);
    ps_store_relaxed(&ps_watchdog.armed, ps_rt.max_spares == 0); /* armed for good: nobody starts it */
    ps_store_relaxed(&ps_watchdog.starving, 0);
    root_fairness_reset();
    uncover_reset();
}

void watchdog_stop(void)
{
    uint32_t state = NONE;
    while (!ps_cas_acq_rel(&alive, &state, STOPPED) && state == STARTING) {
        os_yield();
        state = NONE;
    }
    if (state == RUNNING) {
        ps_or_seq(&stop_word, (uint32_t)STOP);
        ps_store_seq(&ps_watchdog.armed, 1);
        os_wake(&stop_word, 1);
        os_wake(&ps_watchdog.armed, 1);
        os_thread_join(thread);
    }
    ps_store_release(&alive, STOPPED);
    ps_store_relaxed(&ps_watchdog.starving, 0); /* spares take nothing any more */
}

void watchdog_may_start(void) { forget_watchdog(); }

void watchdog_reset(void)
{
    forget_watchdog();
    watchdog_sample_reset();
    ps_store_relaxed(&ps_watchdog.spares, 0);
    ps_store_relaxed(&ps_watchdog.coming, 0);
    ps_store_relaxed(&ps_watchdog.standing, 0);
}
