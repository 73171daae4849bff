/* Roots take turns: see root_fairness.h. Everything but hold_here runs on the watchdog's kernel thread. */
#include "root_fairness.h"

#include "current.h"
#include "os.h"
#include "quota_park.h"
#include "race.h"
#include "runtime.h"
#include "vp.h"
#include "watchdog.h"

#define TURN_NS UINT64_C(20000000) /* that a root runs before it is held, and is held at least where another can be */
#define HELD_NS UINT64_C(64000000) /* and is held at most */
#define LOOK_NS UINT64_C(4000000)
#define LOOK_QUICK_NS UINT64_C(1000000)
#define WANTS_PART 10 /* who used this part of the time wants a processor: one of many spinners gets little of it */
#define VAIN_LOOKS 2  /* one may fall between two regions */
#define ROOTS_MAX 64  /* more of them are not held: nobody would see each often enough */

/* Of vp.turn: see root_fairness.h. */
enum { FREE, ASKED, HELD, INSIDE };

/* Of each vp, at the last look. */
static struct {
    uint64_t ticks, cpu_ns;
    uint64_t since_ns; /* HELD: since when; else: when it was let go */
    int tid;           /* that cpu_ns is of */
} seen[PS_MAX_VPS];
static uint64_t looked_ns;
static bool quick;                    /* somebody is held, or should be */
static unsigned first;                /* who is asked first, in turns */
static unsigned num_held, vain_looks; /* looks, one after the other, that found no use in it */

struct crowd {
    unsigned wanting; /* kernel threads that want a processor and are not held */
    unsigned roots;   /* of these */
    unsigned held;
    bool teams; /* members run, or could */
    unsigned n; /* candidates: roots whose turn is over */
    struct vp *candidate[ROOTS_MAX];
    unsigned waiting; /* held roots whose turn it is */
};

/* In the handler, on the root's kernel thread. */
static bool hold_here(void *frame)
{
    struct vp *vp = ps_vp();
    uint32_t asked = ASKED;
    if (!watchdog_in_own_block() || ps_load_acquire(&vp->turn) != ASKED)
        return false;
    if (vp->current != &vp->root) {
        ps_cas_acq_rel(&vp->turn, &asked, INSIDE);
        return false;
    }
    if (vp->held || !os_interrupted_own_code(frame) || !ps_cas_acq_rel(&vp->turn, &asked, HELD))
        return false;
    uint64_t end = os_now_ns() + HELD_NS, now;
    while (ps_load_acquire(&vp->turn) == HELD && (now = os_now_ns()) < end)
        os_park(&vp->turn, HELD, (int64_t)(end - now));
    uint32_t held = HELD;
    ps_cas_acq_rel(&vp->turn, &held, FREE);
    return false;
}

static void let_go(struct vp *vp, uint64_t now)
{
    uint32_t held = HELD;
    seen[vp->id].since_ns = now;
    if (ps_cas_acq_rel(&vp->turn, &held, FREE))
        os_wake(&vp->turn, 1);
}

/* One of many spinners gets little of a processor, or none in one window: then it is asked whether it sleeps. */
static bool wants_processor(int tid, uint64_t used_ns, uint64_t window)
{
    struct os_usage u;
    return used_ns * WANTS_PART > window || (os_thread_usage(tid, &u) == 0 && !u.sleeping);
}

/* Counts vp, whose kernel thread is not held. */
static void count(struct vp *vp, uint64_t window, uint64_t now, struct crowd *c)
{
    unsigned id = vp->id;
    uint64_t cpu_ns = 0, ticks = ps_load_relaxed(&vp->ticks);
    int tid = ps_load_relaxed(&vp->tid);
    if (os_thread_cpu_ns(tid, &cpu_ns) != 0)
        return;
    bool known = seen[id].tid == tid, moved = ticks != seen[id].ticks;
    bool wants = known && wants_processor(tid, cpu_ns - seen[id].cpu_ns, window);
    seen[id].tid = tid;
    seen[id].cpu_ns = cpu_ns;
    seen[id].ticks = ticks;
    uint32_t inside = INSIDE;
    if (moved && ps_cas_acq_rel(&vp->turn, &inside, FREE))
        seen[id].since_ns = 0;
    if (!wants)
        return;
    c->wanting++;
    c->roots += vp_is_roots(vp);
    c->teams |= moved || !vp_is_roots(vp) || ps_load_relaxed(&vp->turn) == INSIDE;
    if (vp_is_roots(vp) && ps_load_relaxed(&vp->turn) == FREE && now - seen[id].since_ns >= TURN_NS && c->n < ROOTS_MAX)
        c->candidate[c->n++] = vp;
}

static void look_at_root(struct vp *vp, uint64_t window, uint64_t now, struct crowd *c)
{
    uint32_t turn = ps_load_relaxed(&vp->turn);
    if (turn == HELD) {
        c->held++;
        c->waiting += now - seen[vp->id].since_ns >= TURN_NS;
        return;
    }
    if (turn == ASKED && ps_cas_acq_rel(&vp->turn, &turn, FREE)) /* the signal is late, or met what must not be held */
        seen[vp->id].since_ns = 0;
    count(vp, window, now, c);
}

static void let_one_go(uint64_t now, unsigned slots)
{
    struct vp *longest = NULL;
    for (unsigned id = 0; id < slots; id++) {
        struct vp *vp = ps_vp_at(id);
        if (vp && ps_load_relaxed(&vp->turn) == HELD && (!longest || seen[id].since_ns < seen[longest->id].since_ns))
            longest = vp;
    }
    if (longest)
        let_go(longest, now);
}

static bool ask(struct vp *vp, uint64_t now)
{
    seen[vp->id].since_ns = now;
    ps_store_release(&vp->turn, ASKED);
    if (os_interrupt(ps_load_relaxed(&vp->tid), hold_here) != 0)
        return false;
    if (ps_add_relaxed(&ps_watchdog.turns, 1) == 0 && ps_rt.verbose)
        ps_warn(
            "more threads want a processor than there are, and some run regions: those outside of regions take "
            "turns (said once). Nothing need be done; where a library has threads of its own that spin, fewer of them "
            "(OPENBLAS_NUM_THREADS and the like) may be faster");
    return true;
}

/* Holds as many candidates as are too many, and one for each whose turn it is. */
static void give_turns(struct crowd *c, unsigned procs, uint64_t now, unsigned slots)
{
    first++;
    for (unsigned i = 0; i < c->n && (c->wanting > procs || c->waiting); i++) {
        if (!ask(c->candidate[(first + i) % c->n], now))
            return;
        c->held++;
        if (c->wanting > procs) {
            c->wanting--;
            continue;
        }
        c->waiting--;
        let_one_go(now, slots);
    }
}

bool root_fairness_look(bool pending)
{
    uint64_t now = os_now_ns(), window = now - looked_ns;
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    if (slots <= ps_rt.num_vps || PS_TSAN || ps_race_enabled())
        return false;
    if (window < (quick ? LOOK_QUICK_NS : LOOK_NS) / 2)
        return quick;
    looked_ns = now;
    struct crowd c = {.teams = pending};
    for (unsigned id = 0; id < slots; id++) {
        struct vp *vp = ps_vp_at(id);
        if (vp && ps_load_relaxed(&vp->attached))
            look_at_root(vp, window, now, &c);
    }
    unsigned procs = quota_park_processors(), wanting = c.wanting;
    if (c.teams && c.roots > 1 && c.wanting < c.roots - 1 + procs)
        c.wanting = c.roots - 1 + procs; /* the team of one could use them all */
    bool crowded = c.teams && c.n && c.wanting + c.waiting > procs;
    if (crowded)
        give_turns(&c, procs, now, slots);
    vain_looks = wanting < procs || !c.teams ? vain_looks + 1 : 0;
    if (c.held && vain_looks >= VAIN_LOOKS)
        let_one_go(now, slots);
    num_held = c.held;
    return quick = c.held || crowded;
}

void root_fairness_end(void)
{
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned id = 0; num_held && id < slots; id++) {
        struct vp *vp = ps_vp_at(id);
        uint32_t asked = ASKED;
        if (vp && !ps_cas_acq_rel(&vp->turn, &asked, FREE))
            let_go(vp, 0);
    }
    num_held = 0;
}

void root_fairness_reset(void)
{
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned id = 0; id < slots; id++) {
        struct vp *vp = ps_vp_at(id);
        if (vp)
            ps_store_relaxed(&vp->turn, FREE);
    }
    num_held = 0;
}
