/* Spare kernel threads: see spares.h. */
#include "spares.h"

#include "bind.h"
#include "check.h"
#include "home.h"
#include "runtime.h"
#include "scheduler.h"
#include "watch.h"
#include "watchdog.h"

#include <errno.h>

/* A vp stands still when it has passed no scheduling point for so long; the watchdog looks again soon meanwhile. */
#define CONFIRM_NS UINT64_C(2000000)
#define CALM_TICKS 2
/* Where stalls repeat, the next one is noticed sooner: the watchdog's ticks are shorter until there has been none for
 * QUICK_FOR_NS. */
#define QUICK_AFTER 3 /* stalls; a single one may be a machine's that is busy with something else */
#define QUICK_CALM_TICKS 10
#define QUICK_FOR_NS UINT64_C(1000000000)
/* An idle vp has had so long to take what starves. */
#define IDLE_COMES_NS UINT64_C(200000000)
/* A kernel thread that had GIVEN_AWAY slices of the processor, each that short, has given the processor away itself:
 * the kernel leaves a slice for longer. */
#define GIVEN_AWAY 8
#define GIVEN_AWAY_NS UINT64_C(50000)
#define BURST_MAX 64

/* What was seen of each vp at the last change. */
static struct held {
    uint64_t ticks, cpu_ns, slices;
    uint64_t since_ns; /* the first look that found no tick of the vp's; 0: the last one found some */
    bool root_stuck;   /* its root has been found waiting since */
} held[PS_MAX_VPS];
static struct vp *root_holders[PS_MAX_VPS];

/* The policy's pace, and until when it stays quick. */
static struct {
    bool quick, looks_again;
    uint64_t quick_until_ns;
    unsigned stalls; /* one soon after the other */
} pace;
static unsigned burst, calm_looks;
static uint64_t idle_since_ns; /* when an idle vp was first waited for; 0: never */

int64_t spares_period_ns(void) { return pace.quick || pace.looks_again ? WATCHDOG_QUICK_TICK_NS : WATCHDOG_TICK_NS; }
static unsigned calm_ticks(void) { return pace.quick ? QUICK_CALM_TICKS : CALM_TICKS; }

void spares_begin(void)
{
    burst = 1;
    calm_looks = 0;
    idle_since_ns = 0;
}

/* --- the decision --- */

/* What the looks at all vps have found. */
struct stalls {
    unsigned stuck;                        /* vps that hold up what is ready behind them */
    unsigned members;                      /* of teams, behind those */
    unsigned bound;                        /* such vps with entries in their places' queues */
    unsigned roots_stuck, new_roots_stuck; /* vps that hold their root up; the second: since this look */
    bool others;                           /* some vp has passed no scheduling point since the last look */
};

/* Whether the vp, which has passed no scheduling point for a while, really holds up others: its kernel thread has used
 * the processor, has gone to sleep in the kernel, or has given the processor away again and again. (A loop over the
 * kernel's sched_yield, beside other programs, uses next to nothing.) */
static bool really_stuck(struct watchdog_seen *at, const struct held *before)
{
    const struct os_usage *u = watchdog_usage(at);
    if (!u)
        return false;
    uint64_t used_ns = u->cpu_ns - before->cpu_ns, slices = u->slices - before->slices;
    bool used = used_ns > CONFIRM_NS * 3 / 4; /* however long that took: others compute on its processor too */
    bool given_away = slices >= GIVEN_AWAY && used_ns < slices * GIVEN_AWAY_NS;
    return used || u->sleeping || given_away;
}

/* Whether the vp has passed no scheduling point for the time of a stall, with something ready behind it. */
static bool stands_still(struct watchdog_seen *at, struct held *before, uint64_t now_ns)
{
    if (at->ticks != before->ticks || !(at->ready || at->root_ready)) {
        before->ticks = at->ticks;
        before->since_ns = 0;
        before->root_stuck = false;
        return false;
    }
    if (before->since_ns == 0) {
        before->since_ns = now_ns;
        const struct os_usage *u = watchdog_usage(at);
        before->cpu_ns = u ? u->cpu_ns : 0;
        before->slices = u ? u->slices : 0;
    }
    return now_ns - before->since_ns >= CONFIRM_NS;
}

static void look_for_stall(struct watchdog_seen *at, struct held *before, uint64_t now_ns, struct stalls *found,
                           struct spares_action *a)
{
    bool root = at->root_ready && at->attached;
    if (stands_still(at, before, now_ns) && (!at->attached || really_stuck(at, before))) {
        PS_WATCHED(stall, PS_WATCH_STALL, vp_run(at->vp)->id, now_ns - before->since_ns);
        found->stuck += at->ready != 0;
        found->members += at->ready ? watchdog_members(at) : 0;
        found->bound += at->bound != 0;
        found->roots_stuck += root;
        found->new_roots_stuck += root && !before->root_stuck;
        before->root_stuck |= root;
    }
    found->others |= before->since_ns != 0;
    pace.looks_again |= before->since_ns && now_ns - before->since_ns < CONFIRM_NS;
    if (root && before->root_stuck)
        a->root_holders[a->num_root_holders++] = at->vp; /* at each look: it may not be ready to leave */
}

static void count_stall(uint64_t now_ns)
{
    pace.quick = ++pace.stalls >= QUICK_AFTER;
    pace.quick_until_ns = now_ns + QUICK_FOR_NS;
}

/* A stall ended, or none was seen for a while. */
static void calm_down(uint64_t now_ns)
{
    if (now_ns > pace.quick_until_ns) {
        pace.quick = false;
        pace.stalls = 0;
    }
}

/* Whether an idle vp will take what starves. The idle vp may be held up itself: its kernel thread gets no processor, or
 * cannot be started because a lock of the system's loader is held. */
static bool idle_comes(const struct watchdog_sample *s, bool starves)
{
    if (!starves || !s->idle || !idle_since_ns)
        idle_since_ns = s->now_ns;
    return s->idle && s->now_ns - idle_since_ns < IDLE_COMES_NS;
}

static unsigned next_burst(const struct watchdog_sample *s, unsigned members)
{
    unsigned n = burst > members ? burst : members, room = s->most_spares > s->spares ? s->most_spares - s->spares : 0;
    burst = burst < BURST_MAX ? burst * 2 : BURST_MAX;
    for (unsigned id = 0; id < s->vps; id++)
        held[id].since_ns = 0;
    n = n < BURST_MAX ? n : BURST_MAX;
    return n < room ? n : room;
}

void spares_decide(struct watchdog_sample *s, struct spares_action *a)
{
    struct stalls found = {0};
    *a = (struct spares_action){.root_holders = root_holders};
    pace.looks_again = false;
    for (unsigned id = 0; id < s->vps; id++)
        if (s->seen[id].vp)
            look_for_stall(&s->seen[id], &held[id], s->now_ns, &found, a);
    calm_looks = found.stuck || found.roots_stuck || found.others ? 0 : calm_looks + 1;
    if (calm_looks > calm_ticks()) { /* longer than it takes to see the next stall */
        burst = 1;
        a->calm = pace.stalls != 0;
        if (a->calm)
            calm_down(s->now_ns);
    }
    a->open_places = found.bound != 0;
    if (found.new_roots_stuck)
        count_stall(s->now_ns);
    /* If the spares that were started last have not run yet, the system is late, and more of them would only be late
     * too. */
    a->idle = s->idle;
    bool helped = idle_comes(s, found.stuck) || s->coming;
    if (found.stuck && !helped) {
        count_stall(s->now_ns);
        a->starving = true;
        a->spares = next_burst(s, found.members); /* a spare that finds nothing stands by at once */
    }
}

/* --- the action --- */

static void report_holder(void)
{
    static _Atomic uint32_t said;
    if (ps_rt.verbose && !ps_xchg_acq_rel(&said, 1))
        ps_warn("a thread has held its processor for %d ms while others were ready: spare kernel threads carry those "
                "(said once)",
                (int)(WATCHDOG_STALL_NS / 1000000));
}

static bool start_spares(unsigned n)
{
    static _Atomic uint32_t refusal_said;
    while (n-- > 0)
        if (vp_get_spare() != 0) {
            if (!ps_xchg_acq_rel(&refusal_said, 1))
                ps_warn("a thread holds its processor while others are ready, and the system refuses them another "
                        "kernel thread: they wait (said once)");
            return false;
        }
    return true;
}

/* How many. */
static unsigned release_roots(const struct spares_action *a)
{
    unsigned released = 0;
    for (unsigned i = 0; i < a->num_root_holders; i++)
        if (home_release(a->root_holders[i])) {
            ps_store_relaxed(vp_root_first(a->root_holders[i]), 1); /* the next such stall is avoided */
            released++;
        }
    ps_add_relaxed(&ps_watchdog.released, released);
    return released;
}

void spares_act(const struct spares_action *a)
{
    unsigned released = release_roots(a);
    if (a->calm)
        ps_store_relaxed(&ps_watchdog.starving, 0);
    if (ps_places_on() && (a->calm || a->open_places))
        ps_bind_starving(a->open_places);
    if (a->starving || released)
        ps_store_relaxed(&ps_watchdog.starving, 1);
    if (start_spares(a->spares + (a->idle ? 0 : released)) && a->starving)
        report_holder();
}
