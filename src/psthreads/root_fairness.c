/* Roots take turns: see root_fairness.h. Everything but hold_here runs on the watchdog's kernel thread. */
#include "root_fairness.h"

#include "check.h"
#include "current.h"
#include "run.h"
#include "runtime.h"
#include "watchdog.h"

#define TURN_NS UINT64_C(20000000) /* a root runs so long before it is held; held so long, it may swap with another */
#define HELD_NS UINT64_C(64000000) /* a root is held so long at most */
#define LOOK_NS UINT64_C(4000000)
#define LOOK_QUICK_NS UINT64_C(1000000)
#define WANTS_PART 10 /* a thread that used a tenth of the time wants a processor: one of many spinners gets little */
#define VAIN_LOOKS 2  /* a single look may fall between two regions */
#define ROOTS_MAX 64  /* more of them are not held: the watchdog would not see each often enough */

/* Of vp.turn: see root_fairness.h. */
enum { FREE = ROOT_TURN_FREE, ASKED = ROOT_TURN_ASKED, HELD = ROOT_TURN_HELD, INSIDE = ROOT_TURN_INSIDE };

/* Of each vp, at the last look. */
static struct before {
    uint64_t ticks, cpu_ns;
    uint64_t since_ns; /* HELD: since when; else: when it was let go */
    int tid;           /* that cpu_ns is of */
    bool held;
} before[PS_MAX_VPS];
static uint64_t looked_ns;
static bool soon;                     /* a root is held, or should be */
static unsigned first;                /* which candidate is asked first, in turns */
static unsigned num_held, vain_looks; /* vain: in a row, with a processor to spare or no team */
static struct root_fairness_step steps[3 * PS_MAX_VPS];

/* What a look finds. */
struct crowd {
    struct root_fairness_action *action;
    uint64_t now, window; /* window: since the last look */
    unsigned wanting;     /* kernel threads that want a processor and are not held */
    unsigned roots;       /* of these */
    unsigned held;
    bool teams; /* members run, or could */
    unsigned n; /* candidates: roots whose turn is over; their slots */
    unsigned candidate[ROOTS_MAX];
    unsigned waiting; /* held roots whose turn it is */
};

/* --- the decision --- */

static void add_root_step(struct crowd *c, enum root_fairness_what what, struct vp *vp, struct vp *in_place_of)
{
    c->action->steps[c->action->num_steps++] = (struct root_fairness_step){what, vp, in_place_of};
}

/* One of many spinning threads gets little processor time, or none in a window. Then the kernel is asked whether the
 * thread sleeps. */
static bool wants_processor(struct watchdog_seen *at, uint64_t used_ns, uint64_t window)
{
    if (used_ns * WANTS_PART > window)
        return true;
    const struct os_usage *u = watchdog_usage(at);
    return u && !u->sleeping;
}

/* Counts a vp whose kernel thread is not held. */
static void count_vp(struct watchdog_seen *at, unsigned id, uint32_t turn, struct crowd *c)
{
    struct before *b = &before[id];
    uint64_t cpu_ns = 0;
    if (!watchdog_clock(at, &cpu_ns))
        return;
    bool known = b->tid == at->tid, moved = at->ticks != b->ticks;
    bool wants = known && wants_processor(at, cpu_ns - b->cpu_ns, c->window);
    b->tid = at->tid;
    b->cpu_ns = cpu_ns;
    b->ticks = at->ticks;
    if (moved && turn == INSIDE) {
        add_root_step(c, ROOT_OUTSIDE, at->vp, NULL);
        turn = FREE;
        b->since_ns = 0;
    }
    if (!wants)
        return;
    c->wanting++;
    c->roots += at->roots;
    c->teams |= moved || !at->roots || turn == INSIDE;
    if (at->roots && turn == FREE && c->now - b->since_ns >= TURN_NS && c->n < ROOTS_MAX)
        c->candidate[c->n++] = id;
}

static void look_at_vp(struct watchdog_seen *at, unsigned id, struct crowd *c)
{
    struct before *b = &before[id];
    uint32_t turn = at->turn;
    b->held = turn == HELD;
    if (b->held) {
        c->held++;
        c->waiting += c->now - b->since_ns >= TURN_NS;
        return;
    }
    if (turn == ASKED) {
        add_root_step(c, ROOT_LATE, at->vp, NULL);
        turn = FREE;
        b->since_ns = 0;
    }
    count_vp(at, id, turn, c);
}

/* The root that has been held for longest, which is to be let go; NULL: none. */
static struct vp *longest_held(const struct watchdog_sample *s)
{
    struct before *longest = NULL;
    for (unsigned id = 0; id < s->slots; id++)
        if (s->seen[id].attached && before[id].held && (!longest || before[id].since_ns < longest->since_ns))
            longest = &before[id];
    if (!longest)
        return NULL;
    longest->held = false;
    longest->since_ns = s->now_ns;
    return s->seen[longest - before].vp;
}

/* Holds as many candidates as are too many, and one for each whose turn it is. */
static void give_turns(struct watchdog_sample *s, struct crowd *c, unsigned processors)
{
    first++;
    for (unsigned i = 0; i < c->n && (c->wanting > processors || c->waiting); i++) {
        unsigned id = c->candidate[(first + i) % c->n];
        struct vp *lets_go = NULL;
        c->held++;
        if (c->wanting > processors) {
            c->wanting--;
        } else {
            c->waiting--;
            lets_go = longest_held(s);
        }
        before[id].since_ns = c->now;
        add_root_step(c, ROOT_HOLD, s->seen[id].vp, lets_go);
    }
}

static void look_at_crowd(struct watchdog_sample *s, struct crowd *c)
{
    for (unsigned id = 0; id < s->slots; id++)
        if (s->seen[id].vp && s->seen[id].attached)
            look_at_vp(&s->seen[id], id, c);
    unsigned processors = watchdog_processors(s), wanting = c->wanting;
    if (c->teams && c->roots > 1 && c->wanting < c->roots - 1 + processors)
        c->wanting = c->roots - 1 + processors; /* the team of one could use them all */
    bool crowded = c->teams && c->n && c->wanting + c->waiting > processors;
    if (crowded)
        give_turns(s, c, processors);
    vain_looks = wanting < processors || !c->teams ? vain_looks + 1 : 0;
    struct vp *in_vain = c->held && vain_looks >= VAIN_LOOKS ? longest_held(s) : NULL;
    if (in_vain)
        add_root_step(c, ROOT_LET_GO, in_vain, NULL);
    num_held = c->held;
    soon = c->held || crowded;
}

void root_fairness_decide(struct watchdog_sample *s, struct root_fairness_action *action)
{
    struct crowd c = {.action = action, .now = s->now_ns, .window = s->now_ns - looked_ns, .teams = s->pending != 0};
    *action = (struct root_fairness_action){.steps = steps};
    if (s->slots <= s->num_vps || !s->may_hold)
        return;
    if (c.window >= (soon ? LOOK_QUICK_NS : LOOK_NS) / 2) {
        looked_ns = s->now_ns;
        look_at_crowd(s, &c);
    }
    action->soon = soon;
}

/* --- the action --- */

/* In the handler, on the root's kernel thread. */
static bool hold_here(void *frame)
{
    struct vp *vp = ps_vp();
    uint32_t asked = ASKED;
    if (!vp_in_own_block() || ps_load_acquire(vp_turn(vp)) != ASKED)
        return false;
    if (vp_run(vp)->current != &vp_run(vp)->root) {
        ps_cas_acq_rel(vp_turn(vp), &asked, INSIDE);
        return false;
    }
    if (vp_run(vp)->held || !os_interrupted_own_code(frame) || !ps_cas_acq_rel(vp_turn(vp), &asked, HELD))
        return false;
    os_interrupt_leaves(frame);
    uint64_t end = os_now_ns() + HELD_NS, now;
    while (ps_load_acquire(vp_turn(vp)) == HELD && (now = os_now_ns()) < end)
        os_park(vp_turn(vp), HELD, (int64_t)(end - now));
    uint32_t held = HELD;
    ps_cas_acq_rel(vp_turn(vp), &held, FREE);
    return false;
}

static void let_root_go(struct vp *vp)
{
    uint32_t turn = HELD;
    if (ps_cas_acq_rel(vp_turn(vp), &turn, FREE))
        os_wake(vp_turn(vp), 1);
}

/* False: the root cannot be interrupted. */
static bool ask_to_hold(struct vp *vp)
{
    uint32_t turn = FREE;
    if (!ps_cas_acq_rel(vp_turn(vp), &turn, ASKED))
        return true; /* the late signal has come after all */
    if (os_interrupt(ps_load_relaxed(&vp_run(vp)->tid), hold_here) != 0)
        return false;
    if (ps_add_relaxed(&ps_watchdog.turns, 1) == 0 && ps_rt.verbose)
        ps_warn(
            "more threads want a processor than there are, and some run regions: those outside of regions take "
            "turns (said once). Nothing need be done; where a library has threads of its own that spin, fewer of them "
            "(OPENBLAS_NUM_THREADS and the like) may be faster");
    return true;
}

void root_fairness_act(const struct root_fairness_action *action)
{
    bool refused = false; /* one root cannot be interrupted: the others are asked at the next look */
    for (unsigned i = 0; i < action->num_steps; i++) {
        const struct root_fairness_step *to_do = &action->steps[i];
        uint32_t turn = to_do->what == ROOT_LATE ? ASKED : INSIDE;
        if (to_do->what == ROOT_LET_GO)
            let_root_go(to_do->vp);
        else if (to_do->what != ROOT_HOLD)
            ps_cas_acq_rel(vp_turn(to_do->vp), &turn, FREE);
        else if (!refused && !(refused = !ask_to_hold(to_do->vp)) && to_do->in_place_of)
            let_root_go(to_do->in_place_of);
    }
}

void root_fairness_end(void)
{
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned id = 0; num_held && id < slots; id++) {
        struct vp *vp = ps_vp_at(id);
        uint32_t asked = ASKED;
        if (vp && !ps_cas_acq_rel(vp_turn(vp), &asked, FREE)) {
            before[id].since_ns = 0;
            let_root_go(vp);
        }
    }
    num_held = 0;
}

void root_fairness_reset(void)
{
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned id = 0; id < slots; id++) {
        struct vp *vp = ps_vp_at(id);
        if (vp)
            ps_store_relaxed(vp_turn(vp), FREE);
    }
    num_held = 0;
}
