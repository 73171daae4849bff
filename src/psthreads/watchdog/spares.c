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

/* A vp that has passed no scheduling point for this time stands still. Until then the watchdog looks every
 * millisecond. */
#define CONFIRM_NS UINT64_C(2000000)
#define CALM_TICKS 2
/* If stalls repeat, the watchdog's ticks are shorter, so that it sees the next one sooner. They are short until it
 * has seen no stall for QUICK_FOR_NS. */
#define QUICK_AFTER 3 /* so many stalls; a single one may come from other load on the machine */
#define QUICK_CALM_TICKS 10
#define QUICK_FOR_NS UINT64_C(1000000000)
/* How long idle vps may take to come for work that starves. After that, spares are started although vps are idle. */
#define IDLE_COMES_NS UINT64_C(200000000)
/* A kernel thread that has run for at least GIVEN_AWAY slices of the processor, each shorter than GIVEN_AWAY_NS on
 * average, has given the processor away itself: a slice that the kernel ends is longer. */
#define GIVEN_AWAY 8
#define GIVEN_AWAY_NS UINT64_C(50000)
#define BURST_MAX 64

/* What the policy has seen of each vp, for each vp's number. Only the watchdog uses it. */
static struct held {
    uint64_t ticks, cpu_ns, slices;
    /* The time of the first look at which the vp had something ready behind it, and had passed no scheduling point
     * since the look before. 0: at the last look this was not so, or the policy has just called for spares. ticks,
     * cpu_ns and slices are those of that time. */
    uint64_t since_ns;
    bool root_stuck; /* since since_ns a look has found the vp's root stuck */
} held[PS_MAX_VPS];
static struct vp *root_holders[PS_MAX_VPS];

/* How often the watchdog looks, and until when it looks often. */
static struct {
    bool quick, looks_again;
    uint64_t quick_until_ns;
    unsigned stalls; /* how many stalls were seen, without a pause of QUICK_FOR_NS */
} pace;
static unsigned burst, calm_looks;
static uint64_t idle_since_ns; /* since when the watchdog waits for an idle vp to take what starves */

int64_t spares_period_ns(void) { return pace.quick || pace.looks_again ? WATCHDOG_QUICK_TICK_NS : WATCHDOG_TICK_NS; }
static unsigned calm_ticks(void) { return pace.quick ? QUICK_CALM_TICKS : CALM_TICKS; }

void spares_begin(void)
{
    burst = 1;
    calm_looks = 0;
    idle_since_ns = 0;
}

/* --- the decision --- */

/* What one look at all vps has found. */
struct stalls {
    unsigned stuck;   /* how many vps hold up ready work behind them */
    unsigned members; /* how many members of teams are ready behind the stuck vps */
    unsigned bound;   /* how many stuck vps have entries in the queues of their places */
    /* roots_stuck: how many vps hold up their own root. new_roots_stuck: how many of these this look has found for the
     * first time. */
    unsigned roots_stuck, new_roots_stuck;
    bool others; /* some vp with something ready behind it has passed no scheduling point since the last look */
};

/* Returns true if the vp, which has passed no scheduling point for a while, really holds up others: its kernel thread
 * has used the processor, sleeps in the kernel, or has given the processor away again and again. (A loop over the
 * kernel's sched_yield, beside other programs, uses next to no processor time.) */
static bool really_stuck(struct watchdog_seen *at, const struct held *before)
{
    const struct os_usage *u = watchdog_usage(at);
    if (!u)
        return false;
    uint64_t used_ns = u->cpu_ns - before->cpu_ns, slices = u->slices - before->slices;
    /* How much time has passed meanwhile does not matter: other kernel threads may compute on its processor too. */
    bool used = used_ns > CONFIRM_NS * 3 / 4;
    bool given_away = slices >= GIVEN_AWAY && used_ns < slices * GIVEN_AWAY_NS;
    return used || u->sleeping || given_away;
}

/* Returns true if the vp has passed no scheduling point for CONFIRM_NS, with something ready behind it. */
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
    /* At each look, not only at the first: home_release may have failed at an earlier one. */
    if (root && before->root_stuck)
        a->root_holders[a->num_root_holders++] = at->vp;
}

static void count_stall(uint64_t now_ns)
{
    pace.quick = ++pace.stalls >= QUICK_AFTER;
    pace.quick_until_ns = now_ns + QUICK_FOR_NS;
}

/* Called when no stall was seen for a while. Makes the looks rare again once the time for frequent looks is over. */
static void calm_down(uint64_t now_ns)
{
    if (now_ns > pace.quick_until_ns) {
        pace.quick = false;
        pace.stalls = 0;
    }
}

/* Returns true if some vp is idle, and may still come for what starves. Returns false if no vp is idle. Also returns
 * false if the work still starves after vps have been idle for IDLE_COMES_NS: the kernel thread of an idle vp may get
 * no processor, or its start may wait for a lock of the dynamic linker. */
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
    if (calm_looks > calm_ticks()) { /* a next stall would have been seen by now */
        burst = 1;
        a->calm = pace.stalls != 0;
        if (a->calm)
            calm_down(s->now_ns);
    }
    a->open_places = found.bound != 0;
    if (found.new_roots_stuck)
        count_stall(s->now_ns);
    /* If the spares that were started last have not run yet, the system is late. More spares would only be late too. */
    a->idle = s->idle;
    bool helped = idle_comes(s, found.stuck) || s->coming;
    if (found.stuck && !helped) {
        count_stall(s->now_ns);
        a->starving = true;
        a->spares = next_burst(s, found.members); /* a spare too many finds nothing, and stands by at once */
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

/* Releases the roots that are held up. Returns how many were released. */
static unsigned release_roots(const struct spares_action *a)
{
    unsigned released = 0;
    for (unsigned i = 0; i < a->num_root_holders; i++)
        if (home_release(a->root_holders[i])) {
            /* avoids the next such stall: from now on the threads that this vp runs let its root go first */
            ps_store_relaxed(vp_root_first(a->root_holders[i]), 1);
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
