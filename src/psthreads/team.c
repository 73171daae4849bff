/* Teams: fork, claims, join, assistance. The barrier: team_barrier.c. See team.h for states and lifetime.
 *
 * Assistance. An explicit task that is ready finds somebody to run it as long as some member of the team has nothing
 * else to do. Members that wait in the barrier are called back by the region's first task; from then on they wait in
 * the core. A parent that waits in the join is readied and acts as member 0 (nobody else does, where threads have
 * thread-local blocks: that of member 0 is its parent's). The identity of a member whose body has returned is lent to
 * an assistant.
 * Whether a carrier idles is not asked: the caller may be about to spin for that task.
 * No task is overlooked by one that ends: it takes its unit off `left` (1), reads `calls` (2), looks for tasks (3),
 * offers its identity (4), reads `calls` again (5). Who makes a task ready pushes it (a), fence, reads `left` (b),
 * counts in `calls` (c), looks for an identity (d). Where (b) sees all units, (3) comes after (a) and finds it; else
 * either (d) sees the offer, or (5) sees (c) and the member looks again, if its identity has not been taken meanwhile.
 * The parent's wait in the join has the same shape: see wait_and_assist.
 *
 * The first task of a region. Before it nobody looks when it ends, and one subtraction ends all members that a vp has
 * run. Who makes it (ps_team_interrupt) sets `interrupted`, gives each unit in `left` a hold (A), touches `next` (B),
 * both by read-modify-write, and looks for members that have returned (C): all_busy says that there were none. A member
 * that returns stores done_in; then its vp takes the unit off, or claims another one. The unit, taken off before (A):
 * (b) sees that it is gone, and (d) finds the identity, as done_in was stored before; after (A): its hold is seen, and
 * kept for the last look. The claim, before (B): (C) sees done_in; after (B): the vp sees `interrupted`, and counts
 * whom it has run so far as ended. It does not run the one that it has claimed meanwhile behind a look, as tasks may
 * wait for that one: it becomes a thread. So nothing is fenced or read on the way of those who make no tasks but what
 * they did without.
 * tests/models/team_join.pml has it, and what happens where a step is missing; but not the store by which a parent that
 * ran all members itself ends a region without tasks (run_the_rest), and only one claimed member at a time that becomes
 * a thread.
 *
 * Orderings.
 *  - fork -> member: what the parent wrote before the fork is seen by a member, through the queue's lock or the
 *    mailbox's compare-and-swap (release) and its taking (acquire). For this a claim needs no order: who claims has
 *    come that way, or is the parent, or has claimed before.
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
#include "idle.h"
#include "mail.h"
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
        m->thread.team_id = (uint16_t)id;
        ps_store_relaxed(&m->thread.join, PS_JOIN_DETACHED);
    }
}

/* What the program left with a member: threads it has made (their parent must outlast them), keys' values, thread-local
 * objects. */
static void end_identity(struct ps_member *m)
{
    struct vp *vp = ps_vp_attach();
    struct uth_tls *before = vp->tls;
    if (m->tls)
        vp_enter_tls(vp, m->tls);
    ps_thread_end_member(&m->thread);
    vp = ps_vp();
    if (m->tls)
        vp = vp_end_tls(vp);
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
static unsigned post_mail(struct vp *self, struct ps_team *team, unsigned n)
{
    unsigned next = 1, slots = ps_load_acquire(&ps_rt.num_slots);
    if (n > PS_MAIL_MAX_ID)
        return next;
    for (unsigned i = 0; i < slots && next < n; i++) {
        struct vp *vp = ps_vp_at(i);
        if (!vp || vp == self || (!team->mailed && ps_load_relaxed(&vp->mail) != MAIL_IDLE))
            continue; /* who idled at the last region's start likely does so again: no look, the line moves once */
        uint64_t idle = MAIL_IDLE;
        if (!ps_cas_seq(&vp->mail, &idle, ps_mail(team, next)))
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
    if (n <= PS_SERIAL_MOST_MEMBERS) {
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

static void be_member(struct ps_member *m, const struct psthread *parent, unsigned extra_flags)
{
    m->thread.local = m;
    m->thread.level = (uint16_t)(parent->level + 1);
    m->thread.flags = (uint8_t)(PS_T_MEMBER | extra_flags);
    m->thread.parent = (struct psthread *)parent;
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

/* Members 1 .. n-1 of a bound team. With places of their own: each by mail to a vp of its place, or as a thread into
 * the place's queue. With the same place: the entry goes into that one's queue. */
static PS_NOINLINE void fork_bound(struct vp *vp, struct ps_team *team, unsigned n)
{
    unsigned mailed = 0;
    if (team->scattered)
        ps_team_rounds_fork(team, n);
    for (unsigned id = 1; team->scattered && id < n; id++) {
        if (ps_bind_mail(vp, ps_team_member(team, id), id))
            mailed++;
        else
            ps_team_enqueue_late(team, id, vp);
    }
    ps_store_relaxed(&team->spread, mailed == n - 1);
    if (mailed != n - 1)
        ps_team_rounds_none(team);
    team->mailed = mailed > 0;
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
    ps_store_relaxed(&team->all_busy, 0);
    ps_team_barrier_fork(team, n);
    ps_store_relaxed(&team->interrupted, 0);
    /* Nothing to claim while the mail goes out: a vp that gets some must not claim a number that is mailed next. */
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
    if (offered && PS_UNLIKELY(team->unmailed > 0)) {
        team->unmailed--;
        offered = false;
    }
    if (offered) {
        if (n <= ps_rt.num_vps)
            ps_team_rounds_fork(team, n);
        next = post_mail(vp, team, n);
    }
    ps_store_relaxed(&team->spread, next == n);
    team->mailed = next > 1;
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

static inline void enter_member_tls(struct vp *vp, struct ps_member *m, struct uth_tls *before)
{
    struct uth_tls *tls = m->tls;
    if (PS_UNLIKELY(!tls || uth_tls_stack_differs(tls, vp->uth->stack) || ps_load_relaxed(&tls->alone) ||
                    ps_load_relaxed(&ps_promotes_all)))
        enter_slowly(vp, m, before);
    else
        vp_enter_tls_here(vp, tls);
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

/* The identity of m, which owns it, may be lent from here on; unless somebody asked for assistance since `calls` was
 * read, and has not taken the identity yet: then it is the caller's again, who is to look for tasks once more. */
static bool offer_identity(struct ps_team *team, struct ps_member *m, uint32_t calls)
{
    uint32_t region = team->region;
    ps_store_seq(&m->done_in, region);
    return ps_load_seq(&team->calls) == calls || !ps_cas_acq_rel(&m->done_in, &region, 0);
}

static void leave_member_tls(struct uth_tls *before)
{
    if (!ps_tls_on())
        return;
    ps_go_home(before);
    vp_enter_tls(ps_vp(), before);
}

/* Looks for tasks in the name of m, whose body has returned, and whose unit is off `left`: one that is made ready in
 * this moment must not be left to nobody. Somebody who has borrowed the identity does the same; it had a stack of its
 * own then, so the member is made anew each time. */
static void last_look(struct ps_team *team, struct ps_member *m, unsigned extra_flags)
{
    struct vp *vp = ps_vp();
    struct uth_tls *before = vp->tls;
    uint32_t calls, region = team->region;
    if (!ps_cas_acq_rel(&m->done_in, &region, 0))
        return;
    do {
        vp = ps_vp();
        calls = ps_load_seq(&team->calls);
        become_member(vp, m, team->parent, extra_flags);
        if (m->thread.team_id == 0) { /* the parent itself */
            team->ops->assist(m);
            continue;
        }
        if (ps_tls_on())
            enter_member_tls(vp, m, vp->tls);
        call_as(m, team->ops->assist);
        leave_member_tls(before); /* an assistant would enter the same block */
    } while (!offer_identity(team, m, calls));
}

/* m has a kernel thread of its own since an earlier region: the context goes there before it is m, so that what the
 * kernel thread here is asked in a handler of a signal is not answered in m's name. */
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

/* Runs m's body in its block, and stays in it: the next member's is entered from there, since changing the thread
 * pointer takes as long as much else here. Returns the vp. From then on the block may be lent with m's identity, and
 * entered by another vp. So until vp has entered another one (leave_block: `before`, what it was in at first) nothing
 * of its thread-local storage is looked at: not who the current vp is, no malloc. */
static PS_ALWAYS_INLINE struct vp *run_body(struct vp *vp, struct ps_team *team, struct ps_member *m,
                                            unsigned extra_flags, struct uth_tls *before)
{
    bool alone = ps_tls_on() && m->tls && PS_UNLIKELY(ps_load_relaxed(&m->tls->alone) != NULL);
    if (alone)
        vp = begin_alone(vp, m, team->parent, extra_flags, before);
    become_member(vp, m, team->parent, extra_flags);
    if (ps_tls_on() && PS_LIKELY(!alone))
        enter_member_tls(vp, m, before);
    call_as(m, team->ops->body);
    vp = ps_vp();
    if (PS_UNLIKELY(vp->alone_for != NULL) && vp->tls != before) {
        ps_go_home_slow(before);
        vp = ps_vp();
    }
    ps_store_release(&m->done_in, team->region); /* fenced by what follows: a claim, or `left` */
    return vp;
}

static inline void leave_block(struct vp *vp, struct uth_tls *before)
{
    if (ps_tls_on())
        vp_enter_tls_here(vp, before);
}

/* Whose end is counted from here on keeps a hold. Caller: its own unit, or hold, keeps `left` above 0. */
static void end_in_two_steps(struct ps_team *team)
{
    uint64_t left = ps_load_seq(&team->left);
    while (!(left & PS_TEAM_HOLDS) && !ps_cas_seq(&team->left, &left, left + (left & UINT32_MAX) * PS_TEAM_HOLD))
        continue;
}

/* The vp goes on with something else, after it has offered itself. */
static void withdraw_offer(struct vp *vp)
{
    uint64_t mail = ps_load_relaxed(&vp->mail) == MAIL_BUSY ? MAIL_BUSY : ps_xchg_acq_rel(&vp->mail, MAIL_BUSY);
    if (mail > MAIL_IDLE)
        ps_team_enqueue_late(ps_mail_team(mail), ps_mail_id(mail), vp);
}

/* What is left of `left` then. */
static uint64_t let_go(struct ps_team *team, unsigned holds)
{
    uint64_t taken = holds * PS_TEAM_HOLD, before = ps_sub_seq(&team->left, taken);
    PS_ASSERT((before & PS_TEAM_HOLDS) >= taken);
    return before - taken;
}

static PS_NOINLINE uint64_t look_and_let_go(struct ps_team *team, struct ps_member *last, unsigned units)
{
    struct vp *vp = ps_vp();
    struct psthread *current = vp->current;
    unsigned inherited = team->parent->flags & PS_T_ROOT;
    withdraw_offer(vp);
    if (last && last->thread.team_id == 0)
        last_look(team, last, team->parent->flags & (PS_T_ROOT | PS_T_CALLED));
    else if (last)
        last_look(team, last, current ? PS_T_CALLED | inherited : 0);
    vp = ps_vp();
    vp->current = current;
    if (!current) /* the vp's loop is next: as ps_team_run */
        vp_offer(vp);
    return let_go(team, units);
}

/* Takes the units of members that have returned off; in the name of the last of them, if any, tasks are looked for.
 * What is left of `left`: if 0 or PS_TEAM_WAITING the team may be gone. May switch. */
static inline uint64_t units_ended(struct ps_team *team, struct ps_member *last, unsigned units)
{
    uint64_t before = ps_sub_seq(&team->left, units), left = before - units;
    PS_ASSERT((uint32_t)before >= units);
    return PS_UNLIKELY(left & PS_TEAM_HOLDS) ? look_and_let_go(team, last, units) : left;
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
    unsigned units = 0;
    struct vp *vp = ps_vp();
    /* The woken wake others: there is more than this member, and somebody may sleep. */
    if (!ps_team_exhausted(team))
        idle_notify(NULL);
    struct uth_tls *before = vp->tls;
    do {
        m = ps_team_member(team, id);
        vp = run_body(vp, team, m, 0, before);
        units++;
    } while ((id = claim_more(vp, team)) != 0);
    leave_block(vp, before);
    vp->current = NULL;
    vp_offer(vp);
    if (units_ended(team, m, units) == PS_TEAM_WAITING)
        ps_ready(parent, PS_FRONT);
}

/* --- join --- */

/* Runs members that were mailed to vps which have not looked yet (their kernel thread is late). How many; *all: all
 * have ended. */
static unsigned take_mail_back(struct vp *vp, struct ps_team *team, bool *all)
{
    unsigned taken = 0;
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned i = 0; i < slots; i++) {
        struct vp *other = ps_vp_at(i);
        uint64_t mail = other ? ps_load_relaxed(&other->mail) : MAIL_BUSY;
        if (mail <= MAIL_IDLE || ps_mail_team(mail) != team || !ps_cas_acq_rel(&other->mail, &mail, MAIL_IDLE))
            continue;
        struct ps_member *m = ps_team_member(team, ps_mail_id(mail));
        struct uth_tls *before = vp->tls;
        vp = run_body(vp, team, m, PS_T_CALLED, before);
        leave_block(vp, before);
        taken++;
        *all = units_ended(team, m, 1) == 0;
        vp = ps_vp();
    }
    return taken;
}

/* How long a parent leaves mailed members to vps that are about to look, and spins for members that run elsewhere. */
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
    m->calls_seen = ps_load_seq(&m->team->calls);
    call_as(m, m->team->ops->assist);
    leave_member_tls(NULL);
}

/* A mailed member that was not looked at, in no hurry: as a thread, on a stack of its own. */
static void *late_main(void *arg)
{
    struct ps_member *m = arg;
    if (ps_tls_on())
        enter_member_tls(ps_vp(), m, ps_vp()->tls);
    call_as(m, m->team->ops->body);
    end_in_two_steps(m->team);
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
    m->thread.fn = late_main;
    m->thread.arg = m;
    vp_enqueue(vp, &m->thread.item, PS_BACK);
}

static void requeue_mail(struct vp *vp, struct ps_team *team)
{
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned i = 0; i < slots; i++) {
        struct vp *other = ps_vp_at(i);
        uint64_t mail = other ? ps_load_relaxed(&other->mail) : MAIL_BUSY;
        if (mail <= MAIL_IDLE || ps_mail_team(mail) != team || !ps_cas_acq_rel(&other->mail, &mail, MAIL_IDLE))
            continue;
        ps_team_enqueue_late(team, ps_mail_id(mail), vp);
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

/* The parent, before it runs others as calls and cannot help any more. What is left of its units. */
static PS_NOINLINE unsigned help_first(struct ps_team *team, struct ps_member *last, unsigned units)
{
    if (!units || ps_team_exhausted(team))
        return units;
    units_ended(team, last, units);
    return 0;
}

/* Runs what nobody took, as calls on this stack. True: all members have ended. */
static bool run_the_rest(struct vp *vp, struct ps_team *team)
{
    unsigned id, units = 1, inherited = team->parent->flags & PS_T_ROOT;
    struct ps_member *m = ps_team_member(team, 0);
    struct uth_tls *before = vp->tls;
    for (;;) {
        if (PS_UNLIKELY(ps_load_relaxed(&team->interrupted))) {
            leave_block(vp, before);
            units = help_first(team, m, units);
            vp = ps_vp();
        }
        if ((id = ps_team_claim(team)) == 0)
            break;
        if (PS_UNLIKELY(ps_load_relaxed(&team->interrupted)) && units) {
            ps_team_enqueue_late(team, id, vp);
            continue;
        }
        m = ps_team_member(team, id);
        vp = run_body(vp, team, m, PS_T_CALLED | inherited, before);
        units++;
    }
    leave_block(vp, before);
    become_parent(vp, team);
    unpublish(team);
    if (units == team->n && !ps_load_relaxed(&team->interrupted)) {
        ps_store_relaxed(&team->left, 0); /* nobody else was in the region: who is, or adds an assistant, has a unit */
        return true;
    }
    return units_ended(team, NULL, units) == 0;
}

/* The parent, in the name of member 0, runs what tasks it finds; unless an assistant has that identity, who does the
 * same. */
static void assist_oneself(struct ps_team *team)
{
    struct ps_member *m = ps_team_member(team, 0);
    uint32_t region = team->region;
    if (!ps_cas_acq_rel(&m->done_in, &region, 0))
        return;
    become_member(ps_vp(), m, team->parent, team->parent->flags & (PS_T_ROOT | PS_T_CALLED));
    team->ops->assist(m);
    become_parent(ps_vp(), team);
    ps_store_seq(&m->done_in, team->region);
}

/* The parent no longer blocks: the caller, who wants its assistance and whose own unit keeps `left` above 0, or the
 * parent itself.
 * True: it is the caller's to ready. False: it does not block, or somebody else readies it. */
static bool take_waiting(struct ps_team *team)
{
    uint64_t left = ps_load_seq(&team->left);
    while (left > PS_TEAM_WAITING)
        if (ps_cas_seq(&team->left, &left, left & ~PS_TEAM_WAITING))
            return true;
    return false;
}

/* Blocks until all members have ended, and comes back to help as often as it is asked. Dekker: the parent says that it
 * waits (fetch-or), then reads `calls`; who wants assistance counts it there, then looks whether the parent waits (all
 * seq_cst). */
static void wait_and_assist(struct ps_team *team)
{
    for (bool all = false; !all;) {
        uint32_t calls = ps_load_seq(&team->calls);
        assist_oneself(team);
        if (ps_or_seq(&team->left, PS_TEAM_WAITING) == 0)
            break;
        if (ps_load_seq(&team->calls) == calls || !take_waiting(team))
            ps_block(team->parent, PS_WAIT_TEAM_END, team);
        all = ps_load_acquire(&team->left) == PS_TEAM_WAITING; /* else who asked has taken it off */
    }
    ps_store_relaxed(&team->left, 0);
}

/* Mail was taken back unread: whoever idled there does not run, because something else has its processor. The parent's
 * patience was in vain, and would be again: the next regions that are offered, 1 to 63 of them, only publish their
 * members. Whoever does run still takes them. */
static void mail_was_late(struct ps_team *team)
{
    team->unread += team->unread < PS_UNREAD_MOST;
    team->unmailed = (uint8_t)((1u << team->unread) - 1);
}

static void wait_for_members(struct ps_team *team, bool room)
{
    unsigned limit = ps_spin_limit() * JOIN_PATIENCE;
    if (spin_for_members(team, limit))
        return;
    if (team->mailed && (!room || team->scattered)) {
        requeue_mail(ps_vp(), team);
    } else if (team->mailed) {
        bool all = false;
        if (take_mail_back(ps_vp(), team, &all))
            mail_was_late(team);
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
    bool room =
        uth_has_room(vp->uth, __builtin_frame_address(0)) && !(ps_tls_on() && ps_load_relaxed(&team->had_tasks));
    ps_store_release(&self->done_in, team->region);
    if (PS_LIKELY(room)) {
        if (!run_the_rest(vp, team))
            wait_for_members(team, room);
        return;
    }
    /* The parent is deep in its stack, or may be wanted: the others find fresh stacks, while it waits. */
    become_parent(ps_vp(), team);
    if (units_ended(team, NULL, 1) != 0)
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

/* --- assistance --- */

static bool somebody_returned(struct ps_team *team)
{
    for (unsigned id = 0; id < team->n; id++)
        if (ps_load_seq(&ps_team_member(team, id)->done_in) == team->region)
            return true;
    return false;
}

/* Letters as at the head of this file. */
void ps_team_interrupt(struct ps_team *team)
{
    ps_store_relaxed(&team->had_tasks, true);
    ps_store_seq(&team->interrupted, 1);
    if (ps_load_relaxed(&team->by_word) != PS_BY_WORD)
        ps_store_seq(&team->by_word, PS_BY_WORD); /* members who wait in rounds are to be found in the barrier's word */
    end_in_two_steps(team);
    ps_add_acq_rel(&team->next, 0);
    if (!somebody_returned(team))
        ps_store_seq(&team->all_busy, 1);
    ps_team_barrier_call_back(team);
    ps_store_release(&team->batched, 0); /* nobody joins a vp's waiters any more */
}

/* Runs as a thread: the identity of a member that has returned from its body, lent to run explicit tasks. */
static void *assist_main(void *arg)
{
    struct ps_member *m = arg;
    ps_store_seq(&m->team->assisting, 0); /* before its look: who asks from here on starts another one */
    if (ps_tls_on())
        enter_member_tls(ps_vp(), m, ps_vp()->tls);
    look_and_leave(m);
    return NULL;
}

/* The caller owns the identity of m, and `left` counts it. */
static void start_assistant(struct ps_member *m)
{
    m->thread.uth = NULL;
    m->thread.flags = PS_T_MEMBER;
    m->thread.fn = assist_main;
    m->thread.arg = m;
    vp_enqueue(ps_vp(), &m->thread.item, PS_BACK);
}

void ps_member_assistant_ended(struct psthread *t)
{
    struct ps_member *m = PS_CONTAINER_OF(t, struct ps_member, thread);
    struct ps_team *team = m->team;
    /* Only now, when nothing looks at t any more, may the identity be lent anew. */
    struct psthread *parent = team->parent;
    if (!offer_identity(team, m, m->calls_seen))
        start_assistant(m);
    else if (let_go(team, 1) == PS_TEAM_WAITING)
        ps_ready(parent, PS_FRONT);
}

static bool lend_identity(struct ps_team *team)
{
    /* Member 0's thread-local storage is its parent's, which may be its kernel thread's own: that cannot be lent. */
    for (unsigned id = ps_tls_on() ? 1 : 0; id < team->n; id++) {
        struct ps_member *m = ps_team_member(team, id);
        uint32_t region = team->region;
        if (ps_load_seq(&m->done_in) != region || !ps_cas_acq_rel(&m->done_in, &region, 0))
            continue;
        end_in_two_steps(team);
        ps_add_seq(&team->left, PS_TEAM_HOLD); /* the caller's own unit keeps it above 0 */
        start_assistant(m);
        return true;
    }
    return false;
}

/* All are in their bodies, and wait for tasks where the core knows. A member that ends takes its unit off first, then
 * looks for tasks. */
static bool all_in_bodies(struct ps_team *team)
{
    return PS_LIKELY((uint32_t)ps_load_relaxed(&team->left) == team->n) && PS_LIKELY(ps_load_relaxed(&team->all_busy));
}

/* Numbers as at the head of this file: the call (c) comes before the looks (d). An assistant on its way takes
 * `assisting` back before it looks. */
bool ps_team_nobody_to_ask(struct ps_team *team)
{
    if (all_in_bodies(team))
        return true;
    ps_add_seq(&team->calls, 1);
    if (ps_load_seq(&team->left) & PS_TEAM_WAITING)
        return false;
    if (ps_load_seq(&team->assisting))
        return true;
    for (unsigned id = ps_tls_on() ? 1 : 0; id < team->n; id++)
        if (ps_load_seq(&ps_team_member(team, id)->done_in) == team->region)
            return false;
    return true;
}

void ps_team_assist(struct ps_team *team)
{
    /* The caller's push, then this look, with a fence between. */
    if (all_in_bodies(team))
        return;
    ps_add_seq(&team->calls, 1);
    if (take_waiting(team)) {
        ps_ready(team->parent, PS_BACK);
        return;
    }
    uint32_t none = 0;
    if (ps_load_seq(&team->assisting) || !ps_cas_acq_rel(&team->assisting, &none, 1))
        return;
    if (!lend_identity(team))
        ps_store_release(&team->assisting, 0);
}
