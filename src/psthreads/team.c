/* Teams: fork, claims, join, lending of members. The barrier: team_barrier.c. See team.h for states and lifetime.
 *
 * Lending. A member whose body has returned may run explicit tasks. Which of them does is the core's decision (src/ort/
 * task_queue.c); here it is told of each such member (ops->idle) and gives it back (ps_team_lend). A member that was
 * lent is a thread, made anew, which runs ops->assist: an *assistant*. Where threads have thread-local blocks, that of
 * member 0 is its parent's; then the parent itself is called back from its wait in the join (PS_TEAM_WANTED).
 *
 * Telling the core. In a region without tasks nobody tells. Each member that returns leaves the region's number in
 * done_in, and the one that makes the first task tells for all (ps_team_interrupt). From then on each member tells for
 * itself, when its identity is free: nothing looks at its thread any more, and its thread-local block is left. The
 * thread that takes the number out of done_in by compare-and-swap tells the core; so the core is told once.
 *   A member that ends as a thread, and a parent that waits, store done_in and then read `interrupted`. The thread that
 *   interrupts stores `interrupted` and then reads done_in. All four are seq_cst: one of the two sees the other.
 *   All others store done_in and end by what they do anyway, as follows.
 *
 * The first task of a region. Before it one subtraction ends all members that a vp has run. The thread that makes it
 * sets `interrupted`, gives each reference in `left` a pending one (A), touches `next` (B), both by read-modify-write,
 * and looks for members that have returned (C). A member that returns stores done_in; then its vp drops the reference,
 * or claims another one. The reference, dropped before (A): (C) sees done_in. After (A): its pending reference is seen,
 * and kept for a look for tasks in the name of the last member, which then tells. The claim, before (B): (C) sees
 * done_in; after (B): the vp sees `interrupted`, and counts whom it has run so far as ended. The vp may have claimed a
 * further member meanwhile. This member must not have to wait until the vp has looked for tasks, because a task may
 * wait for the member. So the member becomes a thread of its own. A region without tasks thus pays for no fence and no
 * load. tests/models/team_join.pml has this protocol, and what happens where a step is missing. It leaves out the store
 * by which a parent that ran all members itself ends a region without tasks (run_the_rest). In it only one claimed
 * member at a time becomes a thread.
 *
 * Orderings.
 *  - fork -> member: what the parent wrote before the fork is seen by a member, through the queue's lock or the
 *    handoff slot's compare-and-swap (release) and its taking (acquire). For this a claim needs no order: a vp that
 *    claims has come that way, or is the parent's, or has claimed before.
 *  - member -> join: `left` is counted down with release (seq_cst), the parent reads 0 with acquire.
 *  - done_in -> who makes the first task: through (A) or (B), which acquire what the subtraction or the claim (acq_rel)
 *    released.
 *
 * Cost: fork: one lock and unlock of the parent's own queue (outermost: one compare-and-swap per idle vp instead).
 * Member: one fetch-and-add for the claim; one for the end of a whole run of claims. Join without stealing: one lock
 * and unlock.
 *
 * Rejected: one ready thread per member (n insertions; the members' lines are touched by the parent twice);
 * counting the end of each member alone (one more atomic each). */
#include "team.h"

#include "bind.h"
#include "check.h"
#include "current.h"
#include "handoff.h"
#include "idle.h"
#include "promote.h"
#include "race.h"
#include "runtime.h"
#include "sched.h"
#include "search.h"
#include "sources.h"
#include "switch.h"
#include "vp.h"
#include "watchdog.h"

void ps_team_init(struct ps_team *team, const struct ps_team_ops *ops, void *members, size_t stride, unsigned n_max)
{
    *team = (struct ps_team){
        .item.kind = PS_KIND_TEAM, .ops = ops, .members = members, .stride = (uint32_t)stride, .n_max = n_max};
    for (unsigned id = 0; id < n_max; id++) {
        struct ps_member *m = ps_team_member(team, id);
        *m = (struct ps_member){.team = team};
        m->thread.item.kind = PS_KIND_THREAD;
        m->thread.flags = PS_T_MEMBER;
        m->id = id;
    }
}

static void be_member(struct ps_member *m, const struct psthread *parent, unsigned extra_flags)
{
    m->thread.local = m;
    m->thread.level = parent->level + 1;
    m->thread.flags = (uint8_t)(PS_T_MEMBER | extra_flags);
    m->thread.parent = (struct psthread *)parent;
}

/* What the program left with a member: threads it has made (their parent must outlast them), keys' values, thread-local
 * objects. Their destructors run as a call of the member's, outside of every region: where they use OpenMP, the core
 * makes a root of it for that while. It may not be the caller, whose team is being given back. */
static void end_identity(struct ps_member *m)
{
    struct vp *vp = ps_vp_attach();
    struct uth_tls *before = vp->tls;
    struct psthread *caller = vp->current;
    if (m->tls)
        vp_enter_tls(vp, m->tls);
    be_member(m, caller, PS_T_CALLED | (caller->flags & PS_T_ROOT));
    m->thread.local = NULL;
    m->thread.uth = vp->uth;
    m->thread.vp = vp;
    vp->current = &m->thread;
    ps_thread_end_member(&m->thread);
    if (m->tls)
        vp_end_tls(ps_vp());
    ps_end_local(&m->thread);
    vp = ps_vp();
    caller->uth = vp->uth;
    caller->vp = vp;
    vp->current = caller;
    vp_enter_tls(vp, before);
    m->tls = NULL;
}

void ps_team_fini(struct ps_team *team)
{
    PS_CHECK(ps_load_relaxed(&team->left) == 0, "a team was given back while its region is open");
    for (unsigned id = 0; id < team->n_max; id++) {
        struct ps_member *m = ps_team_member(team, id);
        if (id > 0)
            san_fiber_end(&m->fiber);
        if (m->tls || m->thread.keys || m->thread.created || ps_load_relaxed(&m->thread.zombies))
            end_identity(m);
    }
}

unsigned ps_team_take_tls(struct ps_team *team, unsigned n)
{
    for (unsigned id = 1; id < n && uth_tls_enabled(); id++) {
        struct ps_member *m = ps_team_member(team, id);
        if (!m->tls && !(m->tls = vp_try_tls(ps_vp_attach())))
            return id;
    }
    return n;
}

/* --- fork --- */

#define SERIAL_A_RECHECK 4 /* members that take a microsecond each and more take too long for that */

/* Offers members to idle vps, in the order of their numbers; returns the first number that was not taken. */
static unsigned hand_off_members(struct vp *self, struct ps_team *team, unsigned n)
{
    unsigned next = 1, slots = ps_load_acquire(&ps_rt.num_slots);
    if (n > PS_HANDOFF_MAX_ID)
        return next;
    for (unsigned i = 0; i < slots && next < n; i++) {
        struct vp *vp = ps_vp_at(i);
        if (!vp || vp == self || (!team->handed_off && ps_load_relaxed(&vp->handoff) != HANDOFF_IDLE))
            continue; /* who idled at the last region's start likely does so again: no look, the line moves once */
        uint64_t idle = HANDOFF_IDLE;
        if (!ps_cas_seq(&vp->handoff, &idle, ps_handoff(team, next)))
            continue;
        next++;
        idle_wake_this(vp);
    }
    return next;
}

/* Whether the parent keeps an outermost region of n members, which begins now, to itself; tells the thieves. */
static PS_NOINLINE bool keep(struct vp *vp, struct ps_team *team, unsigned n, uint64_t now)
{
    uint32_t keeps = ps_load_relaxed(&vp->keeps);
    bool kept = false;
    if (n <= PS_SERIAL_MOST_MEMBERS && !vp_stays_with_root(vp)) { /* such a parent runs no members */
        kept = ps_serial_begin(&team->serial, n, keeps == PS_KEEPS_CALLED_OFF);
        if (ps_serial_timed(&team->serial))
            team->serial.began = now | 1;
    }
    if (kept)
        ps_store_relaxed(&vp->kept_regions, ps_load_relaxed(&vp->kept_regions) + 1);
    if (keeps != (kept ? PS_KEEPS_ALL : PS_KEEPS_NOTHING))
        ps_store_relaxed(&vp->keeps, kept ? PS_KEEPS_ALL : PS_KEEPS_NOTHING);
    return kept;
}

static PS_NOINLINE void kept_or_not(struct ps_team *team)
{
    uint64_t cycles = cpu_cycles() - team->serial.began;
    team->serial.began = 0;
    ps_serial_end(&team->serial, cycles, team->n * (ps_rt.recheck_cycles / SERIAL_A_RECHECK));
}

static void become_member(struct vp *vp, struct ps_member *m, const struct psthread *parent, unsigned extra_flags)
{
    be_member(m, parent, extra_flags);
    m->thread.uth = vp->uth;
    m->thread.vp = vp;
    vp->current = &m->thread;
    vp_tick(vp);
    vp_follow(vp, &m->thread);
}

void ps_member_bind(struct ps_member *m, int place)
{
    m->place = (uint32_t)(place + 1);
    m->thread.item.bound = place != PS_NO_PLACE;
}

void ps_team_bind(struct ps_team *team, int place, bool scattered)
{
    team->place = (uint32_t)(place + 1);
    team->item.bound = place != PS_NO_PLACE;
    team->scattered = scattered;
    team->bound = scattered || place != PS_NO_PLACE;
}

/* Members 1 .. n-1 of a bound team. With places of their own: each by handoff to a vp of its place, or as a thread into
 * the place's queue. With the same place: the entry goes into that one's queue. */
static PS_NOINLINE void fork_bound(struct vp *vp, struct ps_team *team, unsigned n)
{
    unsigned handed_off = 0;
    if (team->scattered)
        ps_team_rounds_fork(team, n);
    for (unsigned id = 1; team->scattered && id < n; id++) {
        if (ps_bind_hand_off(vp, ps_team_member(team, id), id))
            handed_off++;
        else
            ps_team_enqueue_late(team, id, vp);
    }
    ps_store_relaxed(&team->spread, handed_off == n - 1);
    if (handed_off != n - 1)
        ps_team_rounds_none(team);
    team->handed_off = handed_off > 0;
    if (team->scattered)
        return;
    struct ps_queue *places = ps_bind_queue(&team->item);
    ps_store_relaxed(&team->next, 1);
    team->home = places ? places : &vp->queue;
    vp_enqueue(vp, &team->item, PS_FRONT);
}

/* Here, since a fiber is ordered behind what its maker has done: made where a member begins, it would hide that the
 * parent races with it. */
static PS_COLD void make_fibers(struct ps_team *team, unsigned n)
{
    for (unsigned id = 1; id < n; id++)
        san_fiber_make(&ps_team_member(team, id)->fiber);
}

void ps_team_fork(struct ps_team *team, unsigned n, bool outermost)
{
    struct vp *vp = ps_vp();
    struct psthread *parent = vp->current;
    PS_ASSERT(n >= 2 && n <= team->n_max && ps_load_relaxed(&team->left) == 0);
    ps_update(team->parent, parent);
    ps_update(team->n, n);
    team->home = NULL;
    team->region = team->region + 1 ? team->region + 1 : 1;
    ps_store_relaxed(&team->left, n);
    ps_team_barrier_fork(team, n);
    ps_store_relaxed(&team->interrupted, 0);
    /* Nothing to claim while the handoffs go out: a vp that gets some must not claim a number that is handed off
     * next. */
    ps_update_relaxed(&team->next, n);
    if (san_any())
        make_fibers(team, n);
    unsigned next = 1;
    uint64_t now = 0;
    if (outermost)
        now = ps_recheck_tls(vp); /* objects may have been loaded since the last region */
    if (PS_UNLIKELY(team->bound)) {
        fork_bound(vp, team, n);
        become_member(vp, ps_team_member(team, 0), parent, parent->flags & (PS_T_ROOT | PS_T_CALLED));
        return;
    }
    bool offered = outermost && !(ps_rt.predicts_serial && keep(vp, team, n, now));
    if (offered && PS_UNLIKELY(team->unoffered > 0)) {
        team->unoffered--;
        offered = false;
    }
    if (offered) {
        if (n <= ps_rt.num_vps)
            ps_team_rounds_fork(team, n);
        next = hand_off_members(vp, team, n);
    }
    ps_store_relaxed(&team->spread, next == n);
    team->handed_off = next > 1;
    if (next < n) {
        ps_team_rounds_none(team);
        ps_store_relaxed(&team->next, next);
        team->home = &vp->queue;
        vp_enqueue(vp, &team->item, PS_FRONT);
    }
    become_member(vp, ps_team_member(team, 0), parent, parent->flags & (PS_T_ROOT | PS_T_CALLED));
}

void ps_team_after_fork_in_child(struct vp *self)
{
    for (struct psthread *t = self->current; t && (t->flags & PS_T_MEMBER); t = t->parent) {
        struct ps_team *team = PS_CONTAINER_OF(t, struct ps_member, thread)->team;
        if (!team->home)
            continue;
        team->item.link.next = NULL; /* the list that it was in is gone */
        team->home = &self->queue;
        if (!ps_team_exhausted(team)) /* innermost first: nobody takes the lock yet */
            ps_queue_push_back_locked(team->home, &team->item);
    }
}

void ps_team_forget_block(struct psthread *current, const struct uth_tls *block)
{
    for (struct psthread *t = current; t && (t->flags & PS_T_MEMBER); t = t->parent) {
        struct ps_member *m = PS_CONTAINER_OF(t, struct ps_member, thread);
        if (m->tls == block)
            m->tls = NULL;
    }
}

/* --- running members --- */

/* vp may be in the block of a member that it has run before, and be to go on with `before`: see run_body. */
static PS_NOINLINE void enter_slowly(struct vp *vp, struct ps_member *m, struct uth_tls *before)
{
    vp_enter_tls(vp, before);
    if (!m->tls)
        m->tls = vp_new_tls(vp);
    if (!m->tls)
        return;
    uth_tls_set_stack(m->tls, vp->uth->stack, vp->uth->stack_bytes);
    if (PS_UNLIKELY(ps_load_relaxed(&m->tls->alone) != NULL || ps_load_relaxed(&ps_promotes_all)))
        ps_promote_again(&m->thread, m->tls);
    else
        vp_enter_tls(vp, m->tls);
}

/* vp has just entered the block. Nothing but the thread pointer need be written, or be looked at, when it comes again,
 * unless the member has a kernel thread of its own or is to get one. */
static void leave_at_hand(struct uth_tls *tls)
{
    uth_tls_keep_at_hand(tls);
    if (PS_UNLIKELY(ps_load_seq(&tls->alone) != NULL || ps_load_seq(&ps_promotes_all)))
        uth_tls_not_at_hand(tls);
}

static void enter_member_tls(struct vp *vp, struct ps_member *m, struct uth_tls *before)
{
    struct uth_tls *tls = m->tls;
    if (PS_UNLIKELY(!tls || uth_tls_stack_differs(tls, vp->uth->stack) || ps_load_relaxed(&tls->alone) ||
                    ps_load_relaxed(&ps_promotes_all))) {
        enter_slowly(vp, m, before);
        return;
    }
    vp_enter_tls_here(vp, tls);
    leave_at_hand(tls);
}

/* The program's thread sanitizer sees a thread of m's own, and in the memory of a stack that several run on one after
 * the other no race. */
static PS_NOINLINE void call_traced(struct ps_member *m, struct vp *vp, void (*fn)(struct ps_member *m))
{
    struct uth *stack = vp->uth;
    void *outer = san_fiber_enter(m->fiber);
    ps_race_acquire(stack);
    fn(m);
    ps_race_release(stack);
    san_fiber_leave(outer);
}

/* Calls a function of the core's in the name of m, which is current. */
static inline void call_as(struct ps_member *m, void (*fn)(struct ps_member *m))
{
    if (san_any())
        call_traced(m, ps_vp(), fn);
    else
        fn(m);
}

/* The region has tasks, and nobody has told the core of m, whose body has returned. True: the caller is to tell. */
static bool take_done(const struct ps_team *team, struct ps_member *m)
{
    uint32_t region = team->region;
    return ps_load_seq(&team->interrupted) && ps_load_seq(&m->done_in) == region &&
           ps_cas_acq_rel(&m->done_in, &region, 0);
}

/* The identity of m is free from here on. True: the caller is to tell the core. */
static bool is_done(struct ps_team *team, struct ps_member *m)
{
    ps_store_seq(&m->done_in, team->region);
    return take_done(team, m);
}

/* The caller has run m, and the identity is free. */
static void tell_core(struct ps_team *team, struct ps_member *m)
{
    if (take_done(team, m) && team->ops->idle(m))
        ps_team_lend(team, m->id);
}

static void leave_member_tls(struct uth_tls *before)
{
    if (!ps_tls_on())
        return;
    ps_go_home(before);
    vp_enter_tls(ps_vp(), before);
}

/* The parent, in the name of member 0, runs what tasks it finds. */
static void assist_oneself(struct ps_team *team)
{
    struct ps_member *m = ps_team_member(team, 0);
    become_member(ps_vp(), m, team->parent, team->parent->flags & (PS_T_ROOT | PS_T_CALLED));
    team->ops->assist(m);
}

/* Runs tasks in the name of m, whose body has returned, and whose reference is dropped, and tells the core. m may be
 * lent and come back while the core is told. It had a stack of its own then, so it is made anew each time. */
static void last_look(struct ps_team *team, struct ps_member *m, unsigned extra_flags)
{
    struct uth_tls *before = ps_vp()->tls;
    if (!take_done(team, m))
        return;
    do {
        struct vp *vp = ps_vp();
        become_member(vp, m, team->parent, extra_flags);
        if (ps_tls_on()) {
            enter_member_tls(vp, m, vp->tls);
            vp_hear(ps_vp());
        }
        call_as(m, team->ops->assist);
        leave_member_tls(before); /* an assistant would enter the same block */
    } while (team->ops->idle(m));
}

/* The same for the parent, before it goes on with other members. Where its identity cannot be lent it only looks, and
 * tells the core when it waits. */
static void last_look_of_parent(struct ps_team *team)
{
    struct ps_member *m = ps_team_member(team, 0);
    if (team->recalled) {
        assist_oneself(team);
        return;
    }
    for (bool mine = take_done(team, m); mine; mine = team->ops->idle(m))
        assist_oneself(team);
}

/* m has a kernel thread of its own since an earlier region. The context goes there before it is m. So a question that a
 * signal handler puts to this kernel thread is not answered in m's name. */
static PS_NOINLINE struct vp *begin_alone(struct vp *vp, struct ps_member *m, const struct psthread *parent,
                                          unsigned extra_flags, struct uth_tls *before)
{
    vp_enter_tls(vp, before);
    be_member(m, parent, extra_flags);
    m->thread.vp = vp;
    uth_tls_set_stack(m->tls, vp->uth->stack, vp->uth->stack_bytes);
    ps_promote_again(&m->thread, m->tls);
    return ps_vp();
}

/* m begins on vp: it is current, in its block. May switch. */
static PS_NOINLINE void begin_member_slowly(struct vp *vp, struct ps_team *team, struct ps_member *m,
                                            unsigned extra_flags, struct uth_tls *before)
{
    bool alone = m->tls && PS_UNLIKELY(ps_load_relaxed(&m->tls->alone) != NULL);
    if (alone)
        vp = begin_alone(vp, m, team->parent, extra_flags, before);
    become_member(vp, m, team->parent, extra_flags);
    if (!alone)
        enter_member_tls(vp, m, before);
}

/* The same; where an earlier region has left m's block at hand, with one write of the thread pointer. */
static PS_ALWAYS_INLINE void begin_member(struct vp *vp, struct ps_team *team, struct ps_member *m,
                                          unsigned extra_flags, struct uth_tls *before)
{
    struct uth_tls *tls = m->tls;
    if (tls && PS_LIKELY(vp_tls_at_hand(vp, tls))) {
        become_member(vp, m, team->parent, extra_flags);
        vp_enter_tls_at_hand(vp, tls);
    } else if (ps_tls_on()) {
        begin_member_slowly(vp, team, m, extra_flags, before);
    } else {
        become_member(vp, m, team->parent, extra_flags);
    }
}

/* Runs m's body in its block, and stays in it: the next member's is entered from there, since changing the thread
 * pointer takes as long as much else here. Returns the vp. From then on the block may be lent with m's identity, and
 * entered by another vp. So until vp has entered another one (leave_block: `before`, what it was in at first) nothing
 * of its thread-local storage is looked at: not who the current vp is, no malloc. */
static PS_ALWAYS_INLINE struct vp *run_body(struct vp *vp, struct ps_team *team, struct ps_member *m,
                                            unsigned extra_flags, struct uth_tls *before)
{
    begin_member(vp, team, m, extra_flags, before);
    call_as(m, team->ops->body);
    vp = ps_vp_now();
    if (PS_UNLIKELY(vp->alone_for != NULL) && vp->tls != before) {
        ps_go_home_slow(before);
        vp = ps_vp_now();
        if (!ps_team_exhausted(team)) /* another member may begin here */
            vp_hear(vp);
    }
    ps_store_release(&m->done_in, team->region); /* fenced by what follows: a claim, or `left` */
    return vp;
}

static inline void leave_block(struct vp *vp, struct uth_tls *before)
{
    if (vp->tls == before)
        return;
    if (before)
        vp_enter_tls_here(vp, before);
    else
        vp_leave_tls_here(vp);
}

/* A member whose end is counted from here on keeps a pending reference. Caller: its own reference, or a pending one,
 * keeps `left` above 0. */
static void add_pending(struct ps_team *team)
{
    uint64_t left = ps_load_seq(&team->left);
    while (!(left & PS_TEAM_ALL_PENDING) &&
           !ps_cas_seq(&team->left, &left, left + (left & UINT32_MAX) * PS_TEAM_PENDING))
        continue;
}

/* The vp goes on with something else, after it has offered itself. */
static void withdraw_offer(struct vp *vp)
{
    uint64_t handoff =
        ps_load_relaxed(&vp->handoff) == HANDOFF_BUSY ? HANDOFF_BUSY : ps_xchg_acq_rel(&vp->handoff, HANDOFF_BUSY);
    if (handoff > HANDOFF_IDLE)
        ps_team_enqueue_late(ps_handoff_team(handoff), ps_handoff_id(handoff), vp);
}

/* What is left of `left` then. */
static uint64_t drop_pending(struct ps_team *team, unsigned pending)
{
    uint64_t taken = pending * PS_TEAM_PENDING, before = ps_sub_seq(&team->left, taken);
    PS_ASSERT((before & PS_TEAM_ALL_PENDING) >= taken);
    return before - taken;
}

static PS_NOINLINE uint64_t look_and_drop_pending(struct ps_team *team, struct ps_member *last, unsigned refs)
{
    struct vp *vp = ps_vp();
    struct psthread *current = vp->current;
    unsigned inherited = team->parent->flags & PS_T_ROOT;
    withdraw_offer(vp);
    if (last && last->id == 0)
        last_look_of_parent(team);
    else if (last)
        last_look(team, last, current ? PS_T_CALLED | inherited : 0);
    vp = ps_vp();
    vp->current = current;
    if (!current) /* the vp's loop is next: as ps_team_run */
        vp_offer(vp);
    return drop_pending(team, refs);
}

/* Drops the references of members that have returned; in the name of the last of them, if any, tasks are looked for.
 * What is left of `left`: if 0 or PS_TEAM_WAITING the team may be gone. May switch. */
static inline uint64_t drop_refs(struct ps_team *team, struct ps_member *last, unsigned refs)
{
    uint64_t before = ps_sub_seq(&team->left, refs), left = before - refs;
    PS_ASSERT((uint32_t)before >= refs);
    return PS_UNLIKELY(left & PS_TEAM_ALL_PENDING) ? look_and_drop_pending(team, last, refs) : left;
}

/* The vp has returned from a member's body, and may run more: the next one's number, or 0. There are tasks: it is not
 * to. */
static unsigned claim_more(struct vp *vp, struct ps_team *team)
{
    if (PS_UNLIKELY(ps_load_relaxed(&team->interrupted)))
        return 0;
    unsigned id = ps_team_claim(team);
    if (id == 0 || PS_LIKELY(!ps_load_relaxed(&team->interrupted)))
        return id;
    ps_team_enqueue_late(team, id, vp);
    return 0;
}

void ps_team_run(struct ps_team *team, unsigned id)
{
    struct psthread *parent = team->parent;
    struct ps_member *m;
    unsigned refs = 0;
    struct vp *vp = ps_vp();
    /* The woken wake others: there is more than this member, and somebody may sleep. */
    if (!ps_team_exhausted(team))
        idle_notify(NULL);
    struct uth_tls *before = vp->tls;
    do {
        m = ps_team_member(team, id);
        vp = run_body(vp, team, m, 0, before);
        refs++;
    } while ((id = claim_more(vp, team)) != 0);
    leave_block(vp, before);
    vp->current = NULL;
    vp_offer(vp);
    if (drop_refs(team, m, refs) == PS_TEAM_WAITING)
        ps_ready(parent, PS_FRONT);
}

/* --- join --- */

/* Runs members that were handed off to vps which have not looked yet (their kernel thread is late). How many; *all: all
 * have ended. */
static unsigned take_handoffs_back(struct vp *vp, struct ps_team *team, bool *all)
{
    unsigned taken = 0;
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned i = 0; i < slots; i++) {
        struct vp *other = ps_vp_at(i);
        uint64_t handoff = other ? ps_load_relaxed(&other->handoff) : HANDOFF_BUSY;
        if (handoff <= HANDOFF_IDLE || ps_handoff_team(handoff) != team ||
            !ps_cas_acq_rel(&other->handoff, &handoff, HANDOFF_IDLE))
            continue;
        struct ps_member *m = ps_team_member(team, ps_handoff_id(handoff));
        struct uth_tls *before = vp->tls;
        vp = run_body(vp, team, m, PS_T_CALLED, before);
        leave_block(vp, before);
        taken++;
        *all = drop_refs(team, m, 1) == 0;
        vp = ps_vp();
    }
    return taken;
}

/* How long a parent leaves handed-off members to vps that are about to look, and spins for members that run
 * elsewhere. */
#define JOIN_PATIENCE 3       /* times ps_spin_limit */
#define JOIN_LONG_PATIENCE 16 /* the same, once it is certain that each runs on a vp of its own */

static bool spin_for_members(struct ps_team *team, unsigned limit)
{
    for (unsigned i = 0; i < limit; i++) {
        if (ps_load_acquire(&team->left) == 0)
            return true;
        if (!(i % 16) && (!ps_spin_useful() || ps_load_relaxed(&team->interrupted))) /* tasks to be run meanwhile */
            return false;
        cpu_pause();
    }
    return false;
}

/* The end of what runs as a thread in the name of m. */
static void look_and_leave(struct ps_member *m)
{
    call_as(m, m->team->ops->assist);
    leave_member_tls(NULL);
}

/* A handed-off member that was not looked at, in no hurry: as a thread, on a stack of its own. */
static void *late_main(void *arg)
{
    struct ps_member *m = arg;
    if (ps_tls_on())
        enter_member_tls(ps_vp(), m, ps_vp()->tls);
    call_as(m, m->team->ops->body);
    add_pending(m->team);
    ps_sub_seq(&m->team->left, 1);
    look_and_leave(m);
    return NULL;
}

void ps_team_enqueue_late(struct ps_team *team, unsigned id, struct vp *vp)
{
    struct ps_member *m = ps_team_member(team, id);
    be_member(m, team->parent, 0);
    m->thread.uth = NULL;
    m->thread.vp = vp;
    m->thread.member_fn = late_main;
    vp_enqueue(vp, &m->thread.item, PS_BACK);
}

static void requeue_handoffs(struct vp *vp, struct ps_team *team)
{
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned i = 0; i < slots; i++) {
        struct vp *other = ps_vp_at(i);
        uint64_t handoff = other ? ps_load_relaxed(&other->handoff) : HANDOFF_BUSY;
        if (handoff <= HANDOFF_IDLE || ps_handoff_team(handoff) != team ||
            !ps_cas_acq_rel(&other->handoff, &handoff, HANDOFF_IDLE))
            continue;
        ps_team_enqueue_late(team, ps_handoff_id(handoff), vp);
    }
}

/* The entry leaves the queue, if whoever claimed the last member has not taken it out. */
static void unpublish(struct ps_team *team)
{
    if (!team->home)
        return;
    struct ps_queue *q = team->home;
    ps_spin_lock(&q->lock);
    if (ps_list_linked(&team->item.link))
        ps_queue_remove_locked(q, &team->item);
    ps_spin_unlock(&q->lock);
}

/* The caller is the thread that forked again. */
static void become_parent(struct vp *vp, struct ps_team *team)
{
    vp->current = team->parent;
    team->parent->uth = vp->uth;
    team->parent->vp = vp;
    vp_follow(vp, team->parent);
}

/* The parent, before it runs others as calls and cannot help any more. What is left of its references. */
static PS_NOINLINE unsigned help_first(struct ps_team *team, struct ps_member *last, unsigned refs)
{
    if (!refs || ps_team_exhausted(team))
        return refs;
    drop_refs(team, last, refs);
    return 0;
}

/* Runs what nobody took, as calls on this stack. True: all members have ended. */
static bool run_the_rest(struct vp *vp, struct ps_team *team)
{
    unsigned id, refs = 1, inherited = team->parent->flags & PS_T_ROOT;
    struct ps_member *m = ps_team_member(team, 0);
    struct uth_tls *before = vp->tls;
    for (;;) {
        if (PS_UNLIKELY(ps_load_relaxed(&team->interrupted))) {
            leave_block(vp, before);
            refs = help_first(team, m, refs);
            vp = ps_vp();
        }
        if ((id = ps_team_claim(team)) == 0)
            break;
        if (PS_UNLIKELY(ps_load_relaxed(&team->interrupted)) && refs) {
            ps_team_enqueue_late(team, id, vp);
            continue;
        }
        m = ps_team_member(team, id);
        vp = run_body(vp, team, m, PS_T_CALLED | inherited, before);
        refs++;
    }
    leave_block(vp, before);
    become_parent(vp, team);
    unpublish(team);
    if (refs == team->n && !ps_load_relaxed(&team->interrupted)) {
        ps_store_relaxed(&team->left,
                         0); /* nobody else was in the region: one that is, or adds an assistant, has a reference */
        return true;
    }
    if (drop_refs(team, NULL, refs) == 0)
        return true;
    if (m->id != 0)
        tell_core(team, m);
    return false;
}

/* The parent waits: what `left` was. 0: all have ended; with PS_TEAM_WANTED the parent shall assist, and has taken the
 * bit off; else it blocks. */
static uint64_t begin_to_wait(struct ps_team *team)
{
    uint64_t left = ps_load_seq(&team->left), next;
    do
        next = left & PS_TEAM_WANTED ? left & ~PS_TEAM_WANTED : left | PS_TEAM_WAITING;
    while (left != 0 && !ps_cas_seq(&team->left, &left, next));
    return left;
}

/* Blocks until all members have ended, and comes back to assist as often as member 0 is lent to it. */
static void wait_and_assist(struct ps_team *team)
{
    struct ps_member *m = ps_team_member(team, 0);
    bool mine = team->recalled ? is_done(team, m) : take_done(team, m);
    for (uint64_t left;;) {
        for (; mine; mine = team->ops->idle(m)) {
            assist_oneself(team);
            become_parent(ps_vp(), team);
        }
        if ((left = begin_to_wait(team)) == 0)
            break;
        mine = left & PS_TEAM_WANTED;
        if (mine)
            continue;
        ps_block(team->parent, PS_WAIT_TEAM_END, team);
        if (ps_load_acquire(&team->left) == PS_TEAM_WAITING) /* else ps_team_lend has taken that off */
            break;
    }
    ps_store_relaxed(&team->left, 0);
}

/* A handoff was taken back unread: whoever idled there does not run, because something else has its processor. The
 * parent's patience was in vain, and would be again: the next regions that are offered, 1 to 63 of them, only publish
 * their members. Whoever does run still takes them. */
static void handoff_was_late(struct ps_team *team)
{
    team->unread += team->unread < PS_UNREAD_MOST;
    team->unoffered = (uint8_t)((1u << team->unread) - 1);
}

static void wait_for_members(struct ps_team *team, bool room)
{
    unsigned limit = ps_spin_limit() * JOIN_PATIENCE;
    if (spin_for_members(team, limit))
        return;
    if (team->handed_off && (!room || team->scattered)) {
        requeue_handoffs(ps_vp(), team);
    } else if (team->handed_off) {
        bool all = false;
        if (take_handoffs_back(ps_vp(), team, &all))
            handoff_was_late(team);
        else
            team->unread = 0;
        become_parent(ps_vp(), team);
        if (all)
            return;
    }
    if (ps_load_relaxed(&team->spread) && spin_for_members(team, limit * JOIN_LONG_PATIENCE))
        return;
    wait_and_assist(team);
}

static inline void join(struct vp *vp, struct ps_team *team)
{
    struct ps_member *self = ps_team_member(team, 0);
    /* Where members leave tasks to each other the parent stays free to run some: nobody else can in its name. */
    bool room = !vp_stays_with_root(vp) && uth_has_room(vp->uth, __builtin_frame_address(0)) &&
                !(ps_tls_on() && ps_load_relaxed(&team->had_tasks));
    team->recalled = ps_tls_on();
    if (!team->recalled)
        ps_store_release(&self->done_in, team->region); /* else it is not free before it waits */
    if (PS_LIKELY(room)) {
        if (!run_the_rest(vp, team))
            wait_for_members(team, room);
        return;
    }
    /* The parent is deep in its stack, or may be wanted: the others find fresh stacks, while it waits. */
    become_parent(ps_vp(), team);
    if (drop_refs(team, NULL, 1) != 0)
        wait_for_members(team, room);
    unpublish(team);
}

void ps_team_join(struct ps_team *team)
{
    struct vp *vp = ps_vp();
    int error = vp_errno(vp); /* members that are run as calls may share it */
    join(vp, team);
    if (PS_UNLIKELY(team->serial.began != 0))
        kept_or_not(team);
    vp_set_errno(ps_vp(), error);
}

/* --- lending --- */

/* Letters as at the head of this file. */
void ps_team_interrupt(struct ps_team *team)
{
    ps_store_relaxed(&team->had_tasks, true);
    ps_store_seq(&team->interrupted, 1);
    if (ps_load_relaxed(&team->by_word) != PS_BY_WORD)
        ps_store_seq(&team->by_word, PS_BY_WORD); /* members who wait in rounds are to be found in the barrier's word */
    add_pending(team);
    ps_add_acq_rel(&team->next, 0);
    ps_team_barrier_call_back(team);
    ps_store_release(&team->batched, 0); /* nobody joins a vp's waiters any more */
    for (unsigned id = 0; id < team->n; id++)
        tell_core(team, ps_team_member(team, id));
}

/* Runs as a thread: the identity of a member that has returned from its body, lent to run explicit tasks. */
static void *assist_main(void *arg)
{
    struct ps_member *m = arg;
    if (ps_tls_on())
        enter_member_tls(ps_vp(), m, ps_vp()->tls);
    look_and_leave(m);
    return NULL;
}

/* The identity of m is the caller's, and `left` counts it. */
static void start_assistant(struct ps_member *m)
{
    m->thread.uth = NULL;
    m->thread.flags = PS_T_MEMBER;
    m->thread.member_fn = assist_main;
    vp_enqueue(ps_vp(), &m->thread.item, PS_BACK);
}

void ps_member_assistant_ended(struct psthread *t)
{
    struct ps_member *m = PS_CONTAINER_OF(t, struct ps_member, thread);
    struct ps_team *team = m->team;
    struct psthread *parent = team->parent;
    /* Nothing looks at t any more: its identity is free. */
    if (is_done(team, m) && team->ops->idle(m))
        start_assistant(m);
    else if (drop_pending(team, 1) == PS_TEAM_WAITING)
        ps_ready(parent, PS_FRONT);
}

/* Calls the parent back, whose identity member 0 has. */
static void want_parent(struct ps_team *team)
{
    uint64_t left = ps_load_seq(&team->left);
    while (!ps_cas_seq(&team->left, &left, (left & ~PS_TEAM_WAITING) | PS_TEAM_WANTED))
        continue;
    if (left & PS_TEAM_WAITING)
        ps_ready(team->parent, PS_BACK);
}

void ps_team_lend(struct ps_team *team, unsigned id)
{
    if (id == 0 && team->recalled) {
        want_parent(team);
        return;
    }
    add_pending(team);                        /* who interrupts may not have come so far */
    ps_add_seq(&team->left, PS_TEAM_PENDING); /* a reference of the caller's keeps it above 0; or it is the parent */
    start_assistant(ps_team_member(team, id));
}
