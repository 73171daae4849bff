/* A parent below a member that stands still: see uncover.h. */
#include "uncover.h"

#include "answer.h"
#include "current.h"
#include "directed.h"
#include "promote.h"
#include "race.h"
#include "run.h"
#include "runtime.h"
#include "standby.h"
#include "team.h"
#include "watchdog.h"
#include "watchdog_sample.h"

#define ANSWER_NS INT64_C(500000)
#define TRIES 16 /* as of preempt.c */

static _Atomic uint32_t open;
enum { ASKED, REFUSED, WANTS, MOVES };
static struct ps_answer answer;
static _Atomic(struct vp *) carrier;
static struct vp *made_for; /* the watchdog's: what the carrier was started for */
/* The watchdog's: since when a vp has passed no scheduling point. */
static struct {
    uint64_t ticks, since_ns;
} still[PS_MAX_VPS];

void uncover_watch_more(void)
{
    ps_add_seq(&open, 1);
    watchdog_arm_for_root();
}

void uncover_watch_less(void)
{
    uint32_t n = ps_load_relaxed(&open);
    while (n != 0 && !ps_cas_relaxed(&open, &n, n - 1)) /* 0: it was opened in a parent process */
        continue;
}

bool uncover_wanted(void) { return PS_UNLIKELY(ps_load_seq(&open) != 0); }

void uncover_reset(void)
{
    ps_store_relaxed(&open, 0);
    ps_store_relaxed(&carrier, NULL);
}

/* --- in the handler --- */

static bool may_move(struct vp *vp, void *frame)
{
    struct psthread *self = vp ? vp_run(vp)->current : NULL;
    struct uth *stack = vp ? vp_run(vp)->uth : NULL;
    return self && vp_run(vp)->tls && !vp_run(vp)->held && self->uth == stack && !(self->flags & PS_T_NOSTACK) &&
           ps_load_acquire(&answer.word) == ASKED && ps_team_first_is_below(vp) &&
           os_interrupted_program(frame, stack->stack, stack->stack ? stack->stack_bytes : SIZE_MAX);
}

static bool uncover(void *frame)
{
    if (ps_answers_already(&answer))
        return false;
    struct vp *vp = vp_in_own_block() ? ps_vp() : NULL;
    bool wants = may_move(vp, frame);
    struct vp *to = wants ? ps_carrier_of(vp_run(vp)->tls, &carrier) : NULL;
    ps_answer(&answer, !wants ? REFUSED : to ? MOVES : WANTS, !to);
    if (!to)
        return false;
    bool moves = vp != to;
    if (moves) {
        directed_leaves(frame);
        ps_move_alone(vp, vp_run(vp)->current, to);
        directed_is_back(frame);
    }
    ps_team_lend_first(to);
    return moves;
}

/* --- the watchdog --- */

static uint32_t ask(struct vp *vp)
{
    ps_store_release(&answer.word, ASKED);
    if (os_interrupt(ps_load_relaxed(&vp_run(vp)->tid), uncover) != 0)
        return REFUSED;
    os_park(&answer.word, ASKED, ANSWER_NS);
    uint32_t word = ASKED;
    return ps_cas_acq_rel(&answer.word, &word, REFUSED) ? REFUSED : word;
}

void uncover_end(void)
{
    struct vp *left = ps_xchg_acq_rel(&carrier, NULL);
    if (left)
        ps_carrier_for_nobody(left);
}

/* A carrier for what runs on vp is at hand. */
static bool carrier_at_hand(struct vp *vp)
{
    if (ask(vp) != WANTS || !standby_keep_out())
        return false;
    struct vp *made = ps_carrier_for_somebody(vp);
    standby_direct_end();
    made_for = vp;
    ps_store_release(&carrier, made);
    return made != NULL;
}

static void see_to(struct vp *vp)
{
    int tries = 1;
    if (made_for != vp)
        uncover_end();
    if (!ps_load_relaxed(&carrier)) {
        if (!carrier_at_hand(vp))
            return;
        tries = TRIES;
    }
    while (tries-- > 0 && ask(vp) != MOVES)
        continue;
}

void uncover_look(const struct watchdog_sample *s)
{
    if (!uncover_wanted() || !s->may_hold || san_valgrind()) {
        uncover_end();
        return;
    }
    for (unsigned id = 0; id < s->slots; id++) {
        const struct watchdog_seen *at = &s->seen[id];
        if (!at->vp || !at->attached || at->ticks != still[id].ticks) {
            still[id].ticks = at->ticks;
            still[id].since_ns = s->now_ns;
        } else if (s->now_ns - still[id].since_ns >= (uint64_t)WATCHDOG_STALL_NS) {
            struct psthread *volatile *runs = &vp_run(at->vp)->current; /* the handler looks again */
            still[id].since_ns = s->now_ns;
            if (*runs)
                see_to(at->vp);
        }
    }
}
