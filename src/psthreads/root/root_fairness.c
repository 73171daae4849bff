/* Roots take turns: see root_fairness.h.
 *
 * Rejected (bench/notes/regions.md has the numbers). Holding roots where they spin: that takes a signal of the
 * runtime's own. Affinity, with all roots but one on one processor: the root that OpenBLAS lets in is often one of
 * those that share it. A lower priority: a thread cannot raise it again without a privilege. Shorter slices: they end
 * with the clock's ticks. A wake-up at each region's end: the woken thread takes the processor from the thread that
 * holds OpenBLAS's lock. Turns of a fixed length: processors idle while the owner does other work. */
#include "root_fairness.h"

#include "check.h"
#include "cpu.h"
#include "current.h"
#include "os.h"
#include "race.h"
#include "run.h"
#include "runtime.h"
#include "team.h"

#include <errno.h>

/* Times, in units of ps_rt.per_region_cycles (4 us). */
/* a root is late if it opens its region so long after it has asked, or later; OpenBLAS takes a tenth of this time */
#define LATE 25
#define TURN 5000   /* a root that has had the turn again and again for so long lets another root go first */
#define TRIAL 50000 /* one root goes on out of turn at most once in this time */
#define REST 250000 /* how long there are no turns, after they were in vain for the first time */
/* All waiting roots together look about once in LOOK_NS: each sleeps for LOOK_NS times the number of waiting roots. */
#define LOOK_NS INT64_C(1000000)
/* A root that is late while others open regions (ROOT_SPUN) adds WEIGHT to the count `spun`; any other opening
 * subtracts 1. From CROWD on, roots take turns. */
#define WEIGHT 16
#define CROWD 20
/* Turns are in vain after this many openings of a kind in a row (in_vain). */
#define VAIN_DAWDLED 64
#define VAIN_BESIDE 3

#define OPEN (UINT32_C(1) << 30)

/* Accesses to `known` are relaxed: a race loses one observation. turn.word orders no other data. */
static struct root_fairness known;
static struct {
    PS_LINE_ALIGNED _Atomic uint32_t word;
    _Atomic uint32_t waiting; /* how many roots wait: they sleep, or are about to */
    _Atomic uint32_t last;    /* the vp's number + 1 of the root that took the turn last */
    _Atomic uint64_t since;   /* since when the root `last` has taken the turn, with no other root between */
    _Atomic uint32_t opener;  /* the vp's number + 1 of the root that last opened a region, or took the turn */
    _Atomic uint64_t trial;   /* when a root last went on out of turn */
} turn;

/* --- the decision --- */

static bool count(_Atomic uint32_t *n, bool more, uint32_t enough)
{
    uint32_t now = more ? ps_load_relaxed(n) + 1 : 0;
    ps_store_relaxed(n, now);
    return now >= enough;
}

static bool is_crowd(struct root_fairness *f, bool spun, uint64_t now)
{
    uint32_t n = ps_load_relaxed(&f->spun);
    n = spun ? n + WEIGHT : n - (n != 0);
    ps_store_relaxed(&f->spun, n);
    return n >= CROWD && (int64_t)(now - ps_load_relaxed(&f->rest_until)) >= 0;
}

/* Returns true if turns are in vain. They are if VAIN_BESIDE roots in a row opened their region while the owner's was
 * open, or if VAIN_DAWDLED owners in a row were late although no other root opened a region. (An opening at once does
 * not interrupt the first row.) Then there are no turns for a second, and for twice as long each further time. */
static bool in_vain(struct root_fairness *f, enum root_opening how)
{
    bool beside = how != ROOT_AT_ONCE && count(&f->beside, how == ROOT_BESIDE, VAIN_BESIDE);
    return count(&f->dawdled, how == ROOT_DAWDLED, VAIN_DAWDLED) || beside;
}

void root_fairness_judge(struct root_fairness *f, enum root_opening how, uint64_t now)
{
    bool on = ps_load_relaxed(&f->on);
    if (on ? !in_vain(f, how) : !is_crowd(f, how == ROOT_SPUN, now))
        return;
    if (on) {
        uint64_t rest = ps_load_relaxed(&f->rest);
        rest = rest ? 2 * rest : REST * ps_rt.per_region_cycles;
        ps_store_relaxed(&f->rest, rest);
        ps_store_relaxed(&f->rest_until, now + rest);
    }
    ps_store_relaxed(&f->spun, 0);
    ps_store_relaxed(&f->beside, 0);
    ps_store_relaxed(&f->dawdled, 0);
    ps_store_relaxed(&f->on, !on);
}

/* --- the turn --- */

static uint32_t turn_of(struct vp *vp) { return vp_run(vp)->id + 1; }
static uint32_t owner_of(uint32_t word) { return word & ~OPEN; }

static bool try_to_take(uint32_t word, uint32_t me)
{
    if (!ps_cas_acq_rel(&turn.word, &word, me))
        return false;
    if (ps_load_relaxed(&turn.last) != me)
        ps_store_relaxed(&turn.since, cpu_cycles());
    ps_store_relaxed(&turn.last, me);
    ps_store_relaxed(&turn.opener, me);
    return true;
}

/* Lets other roots go first, if this root has had the turn for TURN and others sleep: wakes one of them. True: the
 * caller waits, so that the woken root takes the turn first. */
static bool steps_back(uint32_t me)
{
    uint64_t now = cpu_cycles();
    if (ps_load_relaxed(&turn.last) != me || ps_load_relaxed(&turn.waiting) <= 1 ||
        now - ps_load_relaxed(&turn.since) < TURN * ps_rt.per_region_cycles)
        return false;
    ps_store_relaxed(&turn.since, now);
    os_wake(&turn.word, 1);
    return true;
}

/* Returns true if the caller, a root that waits, is to go on out of turn. One root may do so in each TRIAL, for two
 * reasons. The program may need what that root is to compute. And if the root can open its region while the owner's is
 * open, no library shuts it out, so the turns are in vain. */
static bool goes_on_out_of_turn(void)
{
    uint64_t now = cpu_cycles(), last = ps_load_relaxed(&turn.trial);
    return now - last >= TRIAL * ps_rt.per_region_cycles && ps_cas_relaxed(&turn.trial, &last, now);
}

/* Waits for the turn. A root that had the last turn and comes back before another root has looked takes it at once. No
 * root is woken at the region's end, since the caller of the region still holds OpenBLAS's lock then. */
static void await_turn(uint32_t me)
{
    /* met: the word at the last look, if the owner had no region open then and no thread has woken this root since.
     * Otherwise OPEN, which no word is equal to. */
    uint32_t word, met = OPEN;
    while (ps_load_relaxed(&known.on) && owner_of(word = ps_load_relaxed(&turn.word)) != me) {
        bool free = word ? word == met : !steps_back(me);
        if (free ? try_to_take(word, me) : (word & OPEN) && goes_on_out_of_turn())
            return;
        bool late = os_park(&turn.word, word, LOOK_NS * ps_load_relaxed(&turn.waiting)) == ETIMEDOUT;
        met = late && !(word & OPEN) ? word : OPEN;
    }
}

void root_fairness_take(void)
{
    struct vp *vp = ps_vp();
    if (PS_LIKELY(ps_load_relaxed(&ps_rt.table_size) <= ps_rt.num_vps) || !vp ||
        vp_run(vp)->current != &vp_run(vp)->root || PS_TSAN || ps_race_enabled())
        return;
    if (PS_UNLIKELY(ps_load_relaxed(&known.on))) {
        ps_add_relaxed(&turn.waiting, 1);
        await_turn(turn_of(vp));
        ps_sub_relaxed(&turn.waiting, 1);
        vp_run(vp)->per_region_at = 0; /* so that its next region calls root_fairness_open */
    }
    *vp_asked_at(vp) = cpu_cycles();
}

static enum root_opening how_it_opens(uint32_t me, uint32_t word, bool late)
{
    if (ps_load_relaxed(&known.on) && owner_of(word) != me && (word & OPEN))
        return ROOT_BESIDE;
    if (!late)
        return ROOT_AT_ONCE;
    return ps_load_relaxed(&turn.opener) != me ? ROOT_SPUN : ROOT_DAWDLED;
}

static void begin_turns(uint64_t now)
{
    ps_store_relaxed(&turn.trial, now);
    if (ps_rt.verbose)
        ps_warn("several threads open regions by a library that lets one of them in at a time: they take turns. "
                "Nothing need be done");
}

void root_fairness_open(struct vp *vp, struct ps_team *team, uint64_t now)
{
    uint32_t me = turn_of(vp), word = ps_load_relaxed(&turn.word);
    uint64_t asked = *vp_asked_at(vp);
    if (asked) {
        bool on = ps_load_relaxed(&known.on);
        *vp_asked_at(vp) = 0;
        root_fairness_judge(&known, how_it_opens(me, word, now - asked >= LATE * ps_rt.per_region_cycles), now);
        if (!on && ps_load_relaxed(&known.on))
            begin_turns(now);
    }
    if (ps_load_relaxed(&turn.opener) != me)
        ps_store_relaxed(&turn.opener, me);
    while (owner_of(word) == me && !team->at_end.turn)
        team->at_end.turn = ps_cas_acq_rel(&turn.word, &word, word | OPEN);
}

void root_fairness_give(void) { ps_store_release(&turn.word, 0); }

void root_fairness_reset(void)
{
    ps_store_relaxed(&turn.word, 0);
    ps_store_relaxed(&known.on, 0);
}
