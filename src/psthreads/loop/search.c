/* How a vp finds work: see search.h.
 *
 * Callers: the kernel thread that carries vp. */
#include "search.h"

#include "adaptive_spin.h"
#include "bind.h"
#include "blocking.h"
#include "dedicated.h"
#include "handoff.h"
#include "home.h"
#include "idle.h"
#include "layer.h"
#include "lone_root.h"
#include "lone_thread.h"
#include "needs.h"
#include "os.h"
#include "put_back.h"
#include "receiver.h"
#include "runtime.h"
#include "sources.h"
#include "standby.h"
#include "team.h"
#include "tls.h"
#include "victims.h"
#include "visit.h"
#include "watch.h"
#include "watchdog.h"

#define SEARCH_CLOCK_PERIOD 64 /* rounds between two readings of the clock */
/* Rounds between two peeks into closed queues (vp->closed): some ten microseconds. The first look of each search is
 * such a peek, even in a shorter search. This matters: a vp does not park while a closed queue has something (idle.h,
 * [L]), and takes that only after two peeks (peek_at in sources.c). */
#define SEARCH_PEEK_PERIOD 512
/* The longest sleep of a home that stands aside, if there are places: an insertion into a place's queue wakes a vp of
 * the idle set, and such a home is not in the idle set. */
#define ASIDE_LOOK_NS INT64_C(1000000)
#define STANDS_NS INT64_C(100000000)
#define MOST_AT_ONCE 64        /* the most spares that a spare calls at once */
#define SEARCH_POLITE_NS 20000 /* after this time a search yields the processor to other kernel threads */

/* Looks once at every source of work. vp's handoff slot is HANDOFF_IDLE, or has a member in it; if work is returned,
 * the slot is HANDOFF_BUSY. queues false: looks only at the handoff slot and the pinned slot. peek: looks into closed
 * queues as well. */
static struct ps_work search_once(struct vp *vp, bool queues, bool peek)
{
    struct ps_work w = vp_visit_handoff(vp, PS_TAKE);
    if (ps_work_some(w)) {
        struct ps_work first = vp_take_pinned(vp); /* only vp can run the pinned thread, any vp can run the member */
        if (PS_LIKELY(!ps_work_some(first)))
            return w;
        vp_put_back(vp, w);
        return first;
    }
    if (!ps_work_some(queues ? vp_visit(vp, PS_OWN | PS_ELSEWHERE, PS_PEEK, peek) : vp_visit_pinned(vp, PS_PEEK)))
        return w;
    uint64_t idle = HANDOFF_IDLE;
    if (!ps_cas_acquire(&vp->handoff, &idle, HANDOFF_BUSY))
        return vp_visit_handoff(vp, PS_TAKE);
    w = vp_take_own(vp);
    if (!ps_work_some(w))
        w = vp_steal_round(vp, peek);
    if (!ps_work_some(w))
        ps_store_seq(&vp->handoff, HANDOFF_IDLE);
    return w;
}

_Atomic(bool (*)(void)) ps_layer_poll;

static bool layer_polls(void)
{
    bool (*poll)(void) = ps_load_acquire(&ps_layer_poll);
    return poll && poll();
}

/* Returns true if dedicated kernel threads spin, and their number and that of the searching vps make at least num_vps
 * together. Then the caller's vp ends its search. */
static bool spins_for_others(void)
{
    uint32_t spins = ps_load_relaxed(&ps_dedicated_spins);
    return PS_UNLIKELY(spins != 0) && IDLE_SEARCHING(idle_word()) + spins >= ps_rt.num_vps;
}

/* Searches for work until vp has found none for vp->spin_ns. A peek that finds a newer region begins this time anew.
 * Returns no work if the time is over, if vp has to leave its processor to others (spins_for_others), or if the library
 * stops. */
static struct ps_work search(struct vp *vp)
{
    uint64_t start = 0;
    uint32_t region = vp->thief.peeked_region;
    unsigned peeks_at = ps_lone_first(&vp->lone_thread);
    for (unsigned round = 1;; round++) {
        bool queues = ps_lone_due(&vp->lone_thread, round);
        struct ps_work w = search_once(vp, queues, round % SEARCH_PEEK_PERIOD == peeks_at);
        if (ps_work_some(w) || ps_load_relaxed(&ps_rt.stopping))
            return w;
        if (PS_UNLIKELY(ps_load_relaxed(&ps_layer_poll) != NULL) && layer_polls())
            continue;
        cpu_pause();
        if (round % SEARCH_CLOCK_PERIOD)
            continue;
        vp_block_signals(vp);
        home_settle(vp);
        uint64_t now = os_now_ns();
        /* the last peek found a newer region that a parent runs alone: vp may be needed soon, so its search begins
         * anew */
        if (!start || region != vp->thief.peeked_region) {
            start = now;
            region = vp->thief.peeked_region;
        }
        if (now - start > vp->spin_ns || spins_for_others())
            return w;
        if (now - start > SEARCH_POLITE_NS)
            os_yield();
    }
}

void vp_offer(struct vp *vp)
{
    if (!vp_is(vp, VP_SPARE | VP_LONE | VP_ASIDE) &&
        !ps_work_some(vp_visit(vp, PS_IN_PINNED | PS_IN_QUEUE, PS_PEEK, false)))
        ps_store_release(&vp->handoff, HANDOFF_IDLE);
}

static void sleep_and_learn(struct vp *vp)
{
    uint64_t before = os_now_ns();
    idle_park(vp);
    if (ps_rt.search_learns)
        vp->spin_ns = ps_adaptive_spin_after(vp->spin_ns, os_now_ns() - before, ps_rt.search_ns);
}

/* Lets vp, a spare, stand in for a lone root, whose kernel thread runs nothing else (lone_root.h). As a worker would,
 * the spare waits for members of the root's next region. Returns the work that vp has found. Returns none if each lone
 * root has a stand-in already, if no work came for STANDS_NS, or if the library stops. */
static struct ps_work stand_in(struct vp *vp)
{
    struct ps_work w = PS_NO_WORK;
    uint32_t standing = ps_load_relaxed(&ps_watchdog.standing);
    do
        if (standing >= lone_root_count())
            return w;
    while (!ps_cas_relaxed(&ps_watchdog.standing, &standing, standing + 1));
    bool stays = true;
    vp_block_signals(vp);
    idle_search_begin(vp);
    ps_store_seq(&vp->handoff, HANDOFF_IDLE);
    while (!ps_work_some(w = search_once(vp, true, true)) && stays && !ps_load_acquire(&ps_rt.stopping))
        stays = idle_park_for(vp, STANDS_NS);
    ps_sub_relaxed(&ps_watchdog.standing, 1);
    if (ps_work_some(w))
        idle_search_end(vp);
    else
        vp_stand_aside(vp);
    return w;
}

/* Lets vp, a spare that has nothing to do, stand by, unless there is a grant for it or it has to end. Returns what the
 * spare is to do next. */
static enum standby_word spare_rests(struct vp *vp)
{
    if (!vp_is(vp, VP_SIGNALS_BLOCKED)) /* while it stands by, it carries no thread that may take signals */
        vp_block_signals_slowly(vp);
    vp_stand_aside(vp);
    bind_lift();
    vp_run(vp)->place = 0;
    ps_add_seq(&ps_idle.parks, 1); /* counted as a vp that parks, for deadlock.c */
    ps_store_seq(&vp->dedicated.sleeps, 1);
    PS_WATCHED(spare__end, PS_WATCH_SPARE_END, vp_run(vp)->id, 0);
    enum standby_word word = standby_rest();
    if (word != STANDBY_ENDS)
        PS_WATCHED(spare__begin, PS_WATCH_SPARE_BEGIN, vp_run(vp)->id, 0);
    ps_store_seq(&vp->dedicated.sleeps, 0);
    return word;
}

/* Called when a spare has taken a member of team, because work starves or by a grant. Calls spares, since members may
 * wait for one another: one for each member that no vp has claimed, MOST_AT_ONCE at most, less those that are coming
 * already. */
static void call_for_others(struct ps_team *team)
{
    unsigned left = ps_team_left(team), coming = ps_load_relaxed(&ps_watchdog.coming);
    if (left > MOST_AT_ONCE)
        left = MOST_AT_ONCE;
    if (left > coming)
        watchdog_want_spares(left - coming);
}

static struct ps_work take_for_spare(struct vp *vp, bool noted)
{
    struct ps_work w = vp_take_own(vp);
    if (!ps_work_some(w))
        w = vp_steal_round(vp, false);
    struct ps_team *team = noted ? ps_work_team(w) : NULL;
    if (team) {
        needs_note(team, vp);
        call_for_others(team);
    }
    return w;
}

/* Finds work for vp, a spare. It takes work in three cases: some work starves; not too many spares are at work
 * (watchdog_spare_may_work); a thread has granted it a piece of work (standby.h). If it takes none, it stands in for a
 * lone root, or stands by.
 *
 * The spare counts itself off, then reads how many vps are blocked. A vp counts itself among the blocked, then reads
 * how many spares are at work (blocking.h). So one of the two sees the other (seq_cst). */
static struct ps_work find_work_spare(struct vp *vp)
{
    struct ps_work w = PS_NO_WORK;
    for (bool granted = false, counted = false;;) {
        bool starving = granted || ps_load_relaxed(&ps_watchdog.starving);
        if (starving || counted || watchdog_spare_may_work(0))
            w = take_for_spare(vp, starving);
        if (!ps_work_some(w))
            w = stand_in(vp);
        if (ps_work_some(w))
            return w;
        ps_sub_seq(&ps_watchdog.spares, 1);
        granted = false;
        counted = vp_work_waits() && watchdog_spare_counts_in();
        if (counted)
            continue;
        enum standby_word word = spare_rests(vp);
        if (word == STANDBY_ENDS)
            return w;
        granted = word == STANDBY_GRANTED;
    }
}

#define LONE_A_PERIOD 4 /* per_region_cycles is 4 us; divided by this it is a microsecond */

/* Notes for lone_thread.h that vp has found w, which vp runs next. Returns w. */
static inline struct ps_work found(struct vp *vp, struct ps_work w)
{
    const struct psthread *t = ps_work_thread(w);
    bool fresh_alone = t && !t->uth && !(t->flags & PS_T_MEMBER) && ps_queue_seems_empty(&vp->queue);
    ps_lone_took(&vp->lone_thread, fresh_alone, fresh_alone ? cpu_cycles() : 0);
    return w;
}

/* Looks once into the other vps' queues and the global queue, before vp counts as searching. Does nothing if vp's
 * handoff slot is open already. Leaves the queues alone if vp is to look less often (lone_thread.h). */
static inline struct ps_work look_first(struct vp *vp)
{
    struct ps_work w = PS_NO_WORK;
    if (ps_load_relaxed(&vp->handoff) != HANDOFF_BUSY)
        return w;
    if (vp_is(vp, VP_SIGNALS_BLOCKED)) /* vp_take_next did not look at vp's own sources, since vp blocks signals */
        w = vp_take_own(vp);
    if (!ps_work_some(w) && ps_lone_due(&vp->lone_thread, 1))
        w = vp_steal_round(vp, false);
    return w;
}

/* Computes the orders of stealing, if vp has found nothing and they are not computed yet. A root's vp leaves that to
 * others, so that the root's state in the C library stays as it is. ps_prepare_victims calls functions of the C
 * library, which may wait for a lock that a ready thread holds. So vp does not count as searching meanwhile. Returns
 * true if vp has called ps_prepare_victims: then vp searches once more. */
static inline bool prepares_victims(struct vp *vp)
{
    if (PS_LIKELY(ps_victims_prepared()) || vp_is_roots(vp))
        return false;
    idle_search_end(vp);
    ps_prepare_victims();
    idle_search_begin(vp);
    return true;
}

/* Finds work for vp, a home that stands aside (home.h). Ends vp's search, if it is in one. vp looks only at its own
 * sources, for as long as it would search, and then sleeps as a dedicated vp does (dedicated.h). Returns no work if vp
 * does not stand aside any more. */
static PS_NOINLINE struct ps_work find_work_aside(struct vp *vp)
{
    struct ps_work w;
    vp_stand_aside(vp);
    uint64_t start = os_now_ns();
    for (unsigned round = 1; !ps_work_some(w = vp_take_own(vp)) && home_stays_aside(vp); round++) {
        cpu_pause();
        if (round % SEARCH_CLOCK_PERIOD)
            continue;
        home_settle(vp);
        uint64_t waited = os_now_ns() - start;
        if (waited > SEARCH_POLITE_NS)
            os_yield();
        if (waited <= vp->spin_ns)
            continue;
        ps_add_seq(&ps_idle.parks, 1); /* counted as a vp that parks, for deadlock.c */
        ps_store_seq(&vp->dedicated.sleeps, 1);
        if (!vp_look_at_own(vp))
            os_park(&vp->dedicated.wake, 0, ps_places_on() ? ASIDE_LOOK_NS : OS_FOREVER);
        ps_store_seq(&vp->dedicated.sleeps, 0);
        ps_xchg_seq(&vp->dedicated.wake, 0);
    }
    return w;
}

struct ps_work vp_find_work(struct vp *vp)
{
    struct ps_work w;
    if (vp_is(vp, VP_SPARE | VP_BLOCKED)) {
        blocking_forget(vp);
        if (vp_is(vp, VP_SPARE))
            return find_work_spare(vp);
    }
    if (home_is_aside(vp) && ps_work_some(w = find_work_aside(vp)))
        return w;
    if (vp->lone_thread.since)
        ps_lone_idle(&vp->lone_thread, cpu_cycles(), ps_rt.per_region_cycles / LONE_A_PERIOD);
    if (!vp->searching && !vp_is(vp, VP_LONE)) {
        w = look_first(vp);
        if (ps_work_some(w))
            return found(vp, w);
        idle_search_begin(vp);
    }
    /* opens the handoff slot; if it is not BUSY, it is open already, or has a member in it */
    if (PS_LIKELY(vp->searching) && ps_load_relaxed(&vp->handoff) == HANDOFF_BUSY)
        ps_store_seq(&vp->handoff, HANDOFF_IDLE);
    for (;;) {
        if (vp_is(vp, VP_LONE)) {
            vp_stand_aside(vp);
            return lone_root_await(vp);
        }
        if (home_is_aside(vp)) /* a second root has attached meanwhile */
            return vp_find_work(vp);
        vp_block_signals(vp);
        w = search(vp);
        if (ps_work_some(w) || ps_load_acquire(&ps_rt.stopping))
            break;
        if (!prepares_victims(vp))
            sleep_and_learn(vp);
    }
    if (ps_work_some(w))
        w = found(vp, w);
    idle_search_end(vp);
    return w;
}

void vp_stand_aside(struct vp *vp)
{
    if (vp->searching)
        idle_search_end(vp);
    ps_handoff_close(vp, vp);
    if (!ps_queue_seems_empty(&vp->queue))
        idle_notify(NULL);
}
