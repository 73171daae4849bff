/* A vp's loop, its switches, and the waiting primitive.
 *
 * The loop runs on a uth of its own and calls a thread that has not begun on that same stack. A thread that never
 * blocks therefore costs no switch (nthlib-2004 section 2, stack handoff). Where a ready thread has a context of its
 * own, the loop switches to that context, and the loop's stack goes back to the cache. Nothing is lost with the stack,
 * because the loop has no state.
 *
 * Callers: every function runs on the kernel thread that carries the vp that is its argument. */
#include "vp.h"

#include "check.h"
#include "layer.h"
#include "patience.h"
#include "promote.h"
#include "psthread.h"
#include "race.h"

/* Its name is the entity contract's (ee.h), which reads it, and vp.current behind it, in place. */
__thread struct vp *ee_here __attribute__((tls_model("initial-exec")));

struct ps_runtime ps_rt;

/* ps_vp without the call, for the yield and ps_local: volatile, so that it is read anew each time and no address is
 * kept. */
static PS_ALWAYS_INLINE struct vp *carried_now(void)
{
#if defined(__x86_64__)
    struct vp *vp;
    __asm__ volatile("movq ee_here@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(vp));
    return vp;
#else
    return ps_vp();
#endif
}

PS_NOINLINE struct vp *ps_vp(void)
{
    struct vp *vp = ee_here;
    __asm__ volatile("" : "+r"(vp)); /* not folded into the caller by interprocedural passes */
    return vp;
}
PS_NOINLINE void vp_carry(struct vp *vp)
{
    ee_here = vp;
    __asm__ volatile("" ::: "memory");
}

struct psthread *ps_current(void)
{
    struct vp *vp = ps_vp();
    return vp ? vp->current : NULL;
}
struct psthread *ps_self(void) { return ps_vp_attach()->current; }

PS_NOINLINE void *ps_local(void)
{
    struct vp *vp = carried_now();
    struct psthread *t = PS_LIKELY(vp != NULL) ? vp->current : NULL;
    return PS_LIKELY(t != NULL) ? t->local : NULL;
}

/* In a block that vp left last `ee_here` is still vp; in the kernel thread's own the C library's fork may have cleared
 * it. */
static inline void enter_tls(struct vp *vp, struct uth_tls *tls)
{
    vp->tls = tls;
    if (!tls) {
        uth_tls_leave(vp->own_tp);
        vp_carry(vp);
    } else if (PS_UNLIKELY(!uth_tls_enter_again(tls, vp, ps_load_relaxed(&vp->tid)))) {
        uth_tls_enter(tls, vp, ps_load_relaxed(&vp->tid));
        vp_carry(vp);
    }
}

PS_NOINLINE void vp_enter_tls(struct vp *vp, struct uth_tls *tls)
{
    if (tls == vp->tls)
        return;
    enter_tls(vp, tls);
}

static struct uth_tls *while_held(struct vp *vp, struct uth_tls *(*get)(void))
{
    vp->held = true;
    __asm__ volatile("" ::: "memory"); /* read by a handler on this kernel thread */
    struct uth_tls *tls = get();
    __asm__ volatile("" ::: "memory");
    vp->held = false;
    return tls;
}

struct uth_tls *vp_try_tls(struct vp *vp) { return while_held(vp, uth_tls_try_get); }

struct uth_tls *vp_new_tls(struct vp *vp)
{
    static _Atomic uint32_t said;
    struct uth_tls *tls = while_held(vp, uth_tls_get);
    if (tls)
        uth_tls_set_stack(tls, vp->uth->stack, vp->uth->stack_bytes);
    else if (!ps_xchg_acq_rel(&said, 1))
        ps_warn("no memory for a thread's own thread-local storage: it uses its kernel thread's, and regions have one "
                "thread from now on");
    return tls;
}

struct vp *vp_end_tls(struct vp *vp)
{
    struct uth_tls *tls = vp->tls;
    if (!tls)
        return vp;
    uth_tls_end(tls);
    ps_go_home(NULL);
    vp = ps_vp();
    vp_enter_tls(vp, NULL);
    ps_retire_alone(tls);
    vp->held = true; /* as above: it may start a kernel thread, and wait for its end */
    __asm__ volatile("" ::: "memory");
    uth_tls_put(tls);
    __asm__ volatile("" ::: "memory");
    vp->held = false;
    return vp;
}

/* Whether a switch brings another native thread-local block with it, in which `carried` must be set anew. */
#define VP_CARRY_ANEW CPU_CARRIES_TLS

/* --- switching --- */

/* First thing on the stack `self` after a switch to it. */
static inline void vp_arrived(struct vp *vp, struct uth *self)
{
    if (VP_CARRY_ANEW)
        vp_carry(vp);
    struct uth *left = vp->left_uth;
    bool dead = vp->left_dies;
    uth_switched(left, self);
    if (dead)
        uth_put(&vp->stacks, left);
}

/* The thread pointer changes before the stack does: what is addressed by it on the other side then need not wait for it
 * (3 ns of 17 here). Nobody else is in `to`'s block: its last carrier entered another one before it let go of `to`
 * (uth.running), as is done here with `from`'s. */
static inline struct vp *vp_leave(struct vp *vp, struct uth *from, struct uth *to, bool dying)
{
    vp->left_uth = from;
    vp->left_dies = dying;
    vp->uth = to;
    from->tls = vp->tls;
    if (ps_tls_on())
        vp_enter_tls(vp, to->tls);
    vp = uth_switch(from, to, vp, dying);
    vp_arrived(vp, from);
    return vp;
}

/* Continues thread t, whose context is saved, in the place of `from`. */
static inline struct vp *vp_resume_here(struct vp *vp, struct uth *from, struct psthread *t, bool dying)
{
    struct uth *to = t->uth;
    PS_ASSERT(!to->vp || to->vp == vp);
    t->vp = vp;
    vp->current = t;
    vp_tick(vp);
    return vp_leave(vp, from, to, dying);
}
static inline struct vp *vp_resume(struct vp *vp, struct uth *from, struct psthread *t, bool dying)
{
    vp_follow(vp, t);
    return vp_resume_here(vp, from, t, dying);
}

void vp_run_alone(struct vp *vp, struct psthread *t)
{
    t->uth->tls = vp->alone_for;
    vp->tls = NULL; /* entered anew: its own, but another vp may have been in it meanwhile */
    vp_resume(vp, &vp->native, t, false);
    vp->current = NULL;
}

/* As vp_leave, but that the thread pointer stays: on its native stack too this kernel thread is the thread's, for
 * whoever sends it a signal. */
void vp_leave_alone(struct vp *vp, struct uth *context, struct uth_tls *tls)
{
    struct uth_tls *block = vp->tls;
    vp->left_uth = context;
    vp->left_dies = false;
    vp->uth = &vp->native;
    context->tls = tls;
    if (block != vp->alone_for) /* that of a thread that was called on it */
        vp_enter_tls(vp, vp->alone_for);
    vp = uth_switch(context, &vp->native, vp, false);
    vp_arrived(vp, context);
}

static void loop_entry(void *transfer, void *arg)
{
    struct vp *vp = transfer;
    vp_arrived(vp, arg);
    vp_loop(vp, arg);
}

/* Starts a loop on a fresh stack in the place of `from`; it begins with vp->handoff. False: no memory for a stack. */
static bool vp_start_loop(struct vp *vp, struct uth *from, bool dying)
{
    struct uth *fresh = uth_get(&vp->stacks);
    if (!fresh || uth_start(fresh, loop_entry, fresh) != 0) {
        if (fresh)
            uth_put(&vp->stacks, fresh);
        return false;
    }
    fresh->tls = NULL;
    vp->current = NULL;
    vp_leave(vp, from, fresh, dying);
    return true;
}

/* There is no stack for vp's loop: it takes part in nothing until there is one. What was counted on it for goes to
 * others. */
static void stand_aside(struct vp *vp)
{
    if (vp->searching)
        idle_search_end(vp);
    uint64_t mail = ps_xchg_acq_rel(&vp->mail, MAIL_BUSY);
    if (mail > MAIL_IDLE)
        ps_team_enqueue_late(ps_mail_team(mail), ps_mail_id(mail), vp);
    if (!ps_queue_seems_empty(&vp->queue))
        idle_notify(NULL);
}

#define ASIDE_NS INT64_C(1000000)

void vp_enter_loop(struct vp *vp)
{
    while (!vp_start_loop(vp, &vp->native, false)) {
        stand_aside(vp);
        if (vp->is_spare || ps_load_acquire(&ps_rt.stopping))
            return;
        os_park(&ps_rt.stopping, 0, ASIDE_NS);
    }
}

/* vp is about to go on with something that it has not chosen for its waiters' sake. */
static inline void leave_waiters(struct vp *vp)
{
    if (PS_UNLIKELY(vp_has_waiters(vp)))
        ps_team_barrier_leave(vp);
}

/* --- taking work --- */

/* What the entry at one end of q gives; the lock is held. A team stays in the queue until its last member is
 * claimed. */
static struct ps_work take_item_locked(struct ps_queue *q, struct ps_item *item)
{
    if (PS_LIKELY(item->kind == PS_KIND_THREAD)) {
        ps_queue_remove_locked(q, item);
        return ps_work_of(PS_CONTAINER_OF(item, struct psthread, item));
    }
    struct ps_team *team = PS_CONTAINER_OF(item, struct ps_team, item);
    unsigned id = ps_team_claim(team);
    if (ps_team_exhausted(team))
        ps_queue_remove_locked(q, item);
    return id ? (struct ps_work){.what = team, .id = id} : PS_NO_WORK;
}

static struct ps_work take_front(struct ps_queue *q)
{
    struct ps_work w = PS_NO_WORK;
    if (ps_queue_seems_empty(q))
        return w;
    ps_spin_lock(&q->lock);
    while (!ps_work_some(w) && !ps_list_empty(&q->items))
        w = take_item_locked(q, ps_queue_item(q->items.next));
    ps_spin_unlock(&q->lock);
    return w;
}

struct ps_work vp_take_front(struct ps_queue *q) { return take_front(q); }

static struct psthread *take_pinned(struct vp *vp)
{
    if (PS_LIKELY(!ps_load_relaxed(&vp->pinned)))
        return NULL;
    return ps_xchg_acq_rel(&vp->pinned, NULL);
}

static PS_ALWAYS_INLINE struct ps_work take_own(struct vp *vp)
{
    struct psthread *pinned = take_pinned(vp);
    struct ps_work w = pinned ? ps_work_of(pinned) : take_front(&vp->queue);
    return PS_LIKELY(ps_work_some(w)) || !ps_places_on() ? w : ps_bind_take(vp);
}
struct ps_work vp_take_own(struct vp *vp) { return take_own(vp); }

/* A thief takes one entry's worth for itself and, where the victim has many threads, up to this many more for its own
 * queue: one visit each would wear the victim's lock when threads are finer than a line's transfer. */
#define STEAL_MAX 32

/* Moves up to a half of the threads at the victim's back to the thief's queue. Both may be inserted into meanwhile. */
static void steal_more_locked(struct vp *vp, struct ps_queue *from, unsigned most)
{
    struct ps_list taken;
    unsigned n = 0;
    ps_list_init(&taken);
    while (n < most && !ps_list_empty(&from->items)) {
        struct ps_item *item = ps_queue_item(from->items.prev);
        if (item->kind != PS_KIND_THREAD)
            break;
        ps_queue_remove_locked(from, item);
        ps_list_push_front(&taken, &item->link);
        n++;
    }
    if (n == 0)
        return;
    /* Thief's lock inside the victim's: no cycle, since it is only tried. */
    struct ps_queue *own = &vp->queue;
    if (!ps_spin_try_lock(&own->lock)) {
        while (!ps_list_empty(&taken)) {
            struct ps_item *item = ps_queue_item(ps_list_pop_front(&taken));
            ps_queue_push_back_locked(from, item);
        }
        return;
    }
    while (!ps_list_empty(&taken)) {
        struct ps_item *item = ps_queue_item(ps_list_pop_front(&taken));
        ps_queue_push_back_locked(own, item);
    }
    ps_spin_unlock(&own->lock);
}

static struct ps_work steal_from(struct vp *vp, struct ps_queue *q)
{
    struct ps_work w = PS_NO_WORK;
    if (ps_queue_seems_empty(q) || !ps_spin_try_lock(&q->lock))
        return w;
    while (!ps_work_some(w) && !ps_list_empty(&q->items))
        w = take_item_locked(q, ps_queue_item(q->items.prev));
    if (ps_work_thread(w)) {
        unsigned more = ps_load_relaxed(&q->count) / 2;
        if (more)
            steal_more_locked(vp, q, more < STEAL_MAX ? more : STEAL_MAX);
    }
    ps_spin_unlock(&q->lock);
    return w;
}

/* Whether vp may take from a queue that its vp's root keeps: not before a second peek finds the same region open. */
static PS_NOINLINE bool peek_at(struct vp *vp, struct vp *victim)
{
    uint32_t region = ps_load_relaxed(&victim->kept_regions);
    if (ps_queue_seems_empty(&victim->queue))
        return false;
    if (vp->peeked != victim || vp->peeked_region != region) {
        vp->peeked = victim;
        vp->peeked_region = region;
        return false;
    }
    ps_store_relaxed(&victim->keeps, PS_KEEPS_CALLED_OFF);
    return true;
}

/* Whether vp looks into victim's queue. */
static inline bool open_to(struct vp *vp, struct vp *victim, bool peek)
{
    return PS_LIKELY(ps_load_relaxed(&victim->keeps) != PS_KEEPS_ALL) || vp->is_spare || (peek && peek_at(vp, victim));
}

/* Every other queue once: the regular vps in the hierarchical order (psthreads-2009 figure 2), then guests, then the
 * global queue. */
static struct ps_work steal_round(struct vp *vp, bool peek)
{
    struct ps_work w = PS_NO_WORK;
    unsigned regular = ps_rt.num_vps, slots = ps_load_acquire(&ps_rt.num_slots);
    const uint16_t *victims = ps_load_acquire(&vp->victims);
    for (unsigned i = 0, n = regular - (vp->id < regular); i < n; i++) {
        unsigned id = victims ? victims[i] : (vp->id + 1 + i) % regular;
        struct vp *victim = ps_vp_at(id);
        if (!open_to(vp, victim, peek))
            continue;
        w = steal_from(vp, &victim->queue);
        if (ps_work_some(w))
            return w;
    }
    for (unsigned id = regular; id < slots; id++) {
        struct vp *guest = ps_vp_at(id);
        if (!guest || guest == vp || !open_to(vp, guest, peek))
            continue;
        w = steal_from(vp, &guest->queue);
        if (ps_work_some(w))
            return w;
    }
    return ps_rt.has_global ? take_front(&ps_rt.global) : w;
}

static bool own_seem_empty(struct vp *vp)
{
    return ps_queue_seems_empty(&vp->queue) && (!ps_places_on() || ps_bind_seems_empty(vp));
}

static bool others_seem_empty(struct vp *vp, bool peek)
{
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned id = 0; id < slots; id++) {
        struct vp *other = ps_vp_at(id);
        if (other && other != vp && (peek || ps_load_relaxed(&other->keeps) != PS_KEEPS_ALL) &&
            !ps_queue_seems_empty(&other->queue))
            return false;
    }
    return !ps_rt.has_global || ps_queue_seems_empty(&ps_rt.global);
}

/* --- searching --- */

#define SEARCH_CLOCK_PERIOD 64 /* rounds between looks at the clock */
#define SEARCH_PEEK_PERIOD 512 /* rounds between peeks into queues that are kept: some ten microseconds */
#define SEARCH_POLITE_NS 20000 /* after that the search yields the processor to other kernel threads */

/* The message in the vp's mailbox, taken; or none. */
static struct ps_work take_mail(struct vp *vp)
{
    uint64_t mail = ps_load_acquire(&vp->mail);
    if (mail <= MAIL_IDLE || !ps_cas_acquire(&vp->mail, &mail, MAIL_BUSY)) /* none, or taken back */
        return PS_NO_WORK;
    return (struct ps_work){.what = ps_mail_team(mail), .id = ps_mail_id(mail)};
}

/* vp has taken t, but t's context is not saved yet. A thread that is bound to vp was pinned there, and is pinned again:
 * a root's own stack comes back from a promoted member's kernel thread, which may not have left it yet (promote.h). */
static void hand_back(struct vp *vp, struct psthread *t, struct vp *to)
{
    if (PS_UNLIKELY(t->uth && t->uth->vp))
        ps_store_seq(&vp->pinned, t);
    else
        vp_enqueue(to, &t->item, PS_BACK);
}

/* To the back: others of the queue may have a stack. A claimed member becomes a thread. */
static void put_back(struct vp *vp, struct ps_work w)
{
    if (ps_work_team(w))
        ps_team_enqueue_late(ps_work_team(w), (unsigned)w.id, vp);
    else if (ps_work_some(w) && rest_is(ps_work_thread(w)))
        rest_refused(vp);
    else if (ps_work_some(w))
        hand_back(vp, ps_work_thread(w), vp);
}

/* One look at everything, from the state IDLE; on success the mailbox is BUSY. */
static struct ps_work search_once(struct vp *vp, bool peek)
{
    struct ps_work w = take_mail(vp);
    if (ps_work_some(w)) {
        struct psthread *root = take_pinned(vp); /* goes first: nobody else can run it, but anybody the member */
        if (PS_LIKELY(!root))
            return w;
        put_back(vp, w);
        return ps_work_of(root);
    }
    if (!ps_load_relaxed(&vp->pinned) && own_seem_empty(vp) && others_seem_empty(vp, peek))
        return w;
    uint64_t idle = MAIL_IDLE;
    if (!ps_cas_acquire(&vp->mail, &idle, MAIL_BUSY))
        return take_mail(vp);
    w = take_own(vp);
    if (!ps_work_some(w))
        w = steal_round(vp, peek);
    if (!ps_work_some(w))
        ps_store_seq(&vp->mail, MAIL_IDLE);
    return w;
}

/* Searches as long as its patience; none found: no work. */
static struct ps_work search(struct vp *vp)
{
    uint64_t start = 0;
    uint32_t region = vp->peeked_region;
    for (unsigned round = 1;; round++) {
        struct ps_work w = search_once(vp, round % SEARCH_PEEK_PERIOD == 0);
        if (ps_work_some(w) || ps_load_relaxed(&ps_rt.stopping))
            return w;
        if (PS_UNLIKELY(ps_load_relaxed(&ps_layer_poll) != NULL) && ps_layer_polls())
            continue;
        cpu_pause();
        if (round % SEARCH_CLOCK_PERIOD)
            continue;
        uint64_t now = os_now_ns();
        if (!start || region != vp->peeked_region) { /* where regions are kept it may soon be wanted */
            start = now;
            region = vp->peeked_region;
        }
        if (now - start > vp->patience_ns)
            return w;
        if (now - start > SEARCH_POLITE_NS)
            os_yield();
    }
}

void vp_offer(struct vp *vp)
{
    if (!vp->is_spare && !ps_load_relaxed(&vp->pinned) && ps_queue_seems_empty(&vp->queue))
        ps_store_release(&vp->mail, MAIL_IDLE);
}

/* What a spare takes: nothing once nobody starves, or when nothing is at hand. Then it retires. */
static struct ps_work find_work_spare(struct vp *vp)
{
    if (!ps_load_relaxed(&ps_progress.starving))
        return PS_NO_WORK;
    struct ps_work w = take_own(vp);
    return ps_work_some(w) ? w : steal_round(vp, false);
}

static void sleep_and_learn(struct vp *vp)
{
    uint64_t before = os_now_ns();
    idle_park(vp);
    if (ps_rt.search_learns)
        vp->patience_ns = ps_patience_after(vp->patience_ns, os_now_ns() - before, ps_rt.search_ns);
}

/* A signal for the process goes to any kernel thread that does not block it. Where threads have kernel threads of their
 * own with masks of their own, a worker that carries nobody is none that the program knows: it takes no signals. Two
 * system calls each time a worker finds nothing to do, in such programs only. */
static inline bool is_nobody(struct vp *vp) { return PS_UNLIKELY(ps_alone_count() > 0) && !vp_is_roots(vp); }

/* Waits for work; none only when the vp is to end. */
static struct ps_work find_work(struct vp *vp)
{
    if (PS_UNLIKELY(vp->is_spare))
        return find_work_spare(vp);
    struct ps_work w;
    if (!vp->searching) { /* a worker that was just started is counted already */
        w = PS_NO_WORK;
        if (ps_load_relaxed(&vp->mail) == MAIL_BUSY) { /* else vp_offer has found nothing at hand just now */
            w = take_own(vp);
            if (!ps_work_some(w))
                w = steal_round(vp, false);
        }
        if (ps_work_some(w))
            return w;
        idle_search_begin(vp);
    }
    if (ps_load_relaxed(&vp->mail) == MAIL_BUSY) /* else a message is in it, or it was never busy */
        ps_store_seq(&vp->mail, MAIL_IDLE);
    bool deaf = false;
    uint64_t mask = 0;
    for (;;) {
        if (!deaf && is_nobody(vp)) {
            mask = os_signal_mask();
            os_set_signal_mask(~UINT64_C(0));
            deaf = true;
        }
        w = search(vp);
        if (ps_work_some(w) || ps_load_acquire(&ps_rt.stopping))
            break;
        if (PS_UNLIKELY(!ps_victims_prepared()) &&
            !vp_is_roots(vp)) { /* a root's own state in the C library stays as it is */
            /* It calls functions of the C library, which may wait for a lock that somebody holds who is ready: so it
             * does not count as one who would take work meanwhile. */
            idle_search_end(vp);
            ps_prepare_victims();
            idle_search_begin(vp);
            continue;
        }
        sleep_and_learn(vp);
    }
    if (deaf)
        os_set_signal_mask(mask);
    idle_search_end(vp);
    return w;
}

/* --- the loop --- */

/* The program's thread sanitizer sees a thread, behind its creator, that ends before who waits for it goes on. A fiber
 * takes a tenth of a millisecond to make: threads without a stack, which cannot leave it in the middle, share one for
 * each stack; that orders those that run on one. */
static PS_NOINLINE void *call_with_fiber(struct vp *vp, struct psthread *t)
{
    bool shared = t->flags & PS_T_NOSTACK;
    struct uth *here = vp->uth;
    void *own = NULL, **fiber = shared ? &here->piece_fiber : &own, *stack = here, *parent = t->parent;
    san_fiber_make(fiber);
    void *outer = san_fiber_enter(*fiber);
    ps_race_acquire(stack);
    ps_race_acquire(t);
    void *result = t->fn(t->arg);
    ps_thread_end_keys(ps_vp(), t);
    ps_race_release(t);
    ps_race_release(parent);
    ps_race_release(stack);
    san_fiber_leave(outer);
    if (!shared)
        san_fiber_end(fiber);
    return result;
}

static void vp_run_fresh(struct vp *vp, struct psthread *t)
{
    bool own_tls = ps_tls_on() && !(t->flags & PS_T_MEMBER); /* an assistant enters its member's */
    if (own_tls)
        vp_enter_tls(vp, vp_new_tls(vp));
    bool promoted = own_tls && PS_UNLIKELY(ps_load_relaxed(&ps_promotes_all));
    t->uth = vp->uth;
    t->uth->name[0] = '\0';
    t->vp = vp;
    ps_store_relaxed(&t->state, PS_RUNNING);
    vp->current = t;
    vp_tick(vp);
    vp_follow(vp, t);
    if (promoted)
        ps_promote_again(t, vp->tls);
    void *result =
        PS_UNLIKELY(uth_sanitizers != 0) && !(t->flags & PS_T_MEMBER) ? call_with_fiber(vp, t) : t->fn(t->arg);
    vp = ps_thread_end_keys(ps_vp(), t);
    if (own_tls)
        vp = vp_end_tls(vp);
    vp = ps_thread_end(vp, t, result);
    vp->current = NULL;
}

/* A fresh thread that wants a stack of its own size: the loop moves to such a stack and calls it there. */
static void move_to_sized(struct vp *vp, struct uth *self, struct psthread *t)
{
    struct uth *sized = uth_get_sized(t->stack_size);
    if (!sized || uth_start(sized, loop_entry, sized) != 0) {
        if (sized)
            uth_put(&vp->stacks, sized);
        ps_warn("no memory for a stack of %zu bytes: the thread runs on one of %zu bytes", (size_t)t->stack_size,
                self->stack_bytes);
        t->local = NULL;
        vp_run_fresh(vp, t);
        return;
    }
    vp->handoff = ps_work_of(t);
    sized->tls = NULL;
    vp_leave(vp, self, sized, true);
    __builtin_unreachable();
}

/* True: t was not for this stack, and is done with. */
static PS_NOINLINE bool run_elsewhere(struct vp *vp, struct uth *self, struct psthread *t)
{
    if (rest_is(t)) {
        rest_run(vp);
        return true;
    }
    if (self->stack_bytes >= t->stack_size) {
        t->local = NULL; /* where the size stood */
        return false;
    }
    move_to_sized(vp, self, t);
    return true;
}

#define IN_VAIN 16 /* tries to go on with a thread that still ran; then its vp is given time */

/* Goes on with t in the place of a loop's stack. Does t still run after a while, its vp may have no stack to leave it
 * for: then t goes to that one's queue, where it finds itself, if this vp does not come first: it gives the processor
 * away, in which they may share one, and steps aside now and then. */
static inline void resume_or_hand_back(struct vp *vp, struct uth *self, struct psthread *t)
{
    if (PS_LIKELY(uth_saved_soon(t->uth))) {
        vp_resume(vp, self, t, true);
        __builtin_unreachable();
    }
    hand_back(vp, t, t->vp);
    if (++vp->in_vain % IN_VAIN)
        os_yield();
    else
        os_park(&ps_rt.stopping, 0, ASIDE_NS);
}

void vp_loop(struct vp *vp, struct uth *self)
{
    struct ps_work w = vp->handoff;
    vp->handoff = PS_NO_WORK;
    for (;;) {
        if (!ps_work_some(w)) {
            leave_waiters(vp);
            w = find_work(vp);
        }
        struct psthread *t = ps_work_thread(w);
        if (ps_work_team(w)) {
            ps_team_run(ps_work_team(w), (unsigned)w.id);
        } else if (!t) { /* the vp ends */
            vp_leave(vp, self, &vp->native, true);
            __builtin_unreachable();
        } else if (t->uth) {
            resume_or_hand_back(vp, self, t);
        } else if (!(PS_UNLIKELY(t->flags & PS_T_SIZED) && run_elsewhere(vp, self, t))) {
            vp_run_fresh(vp, t);
        }
        vp = ps_vp(); /* what ran may have come back on another vp */
        w = PS_NO_WORK;
    }
}

void vp_abandon(struct vp *vp)
{
    struct uth *self = vp->uth;
    self->flags |= UTH_SPOILED;
    vp->handoff = PS_NO_WORK;
    while (!vp_start_loop(vp, self, true))
        os_yield();
    __builtin_unreachable();
}

/* --- waiting --- */

static PS_ALWAYS_INLINE void push(struct ps_queue *q, struct ps_item *item, enum ps_end end)
{
    ps_spin_lock(&q->lock);
    if (end == PS_FRONT)
        ps_queue_push_front_locked(q, item);
    else
        ps_queue_push_back_locked(q, item);
    ps_spin_unlock(&q->lock);
}

/* The same where w has no stack yet, or not been saved in time. */
static PS_NOINLINE void switch_to_fresh(struct vp *vp, struct psthread *self, struct ps_work w)
{
    struct uth *from = self->uth;
    static _Atomic uint32_t said;
    for (vp->handoff = w; !vp_start_loop(vp, from, false); vp->handoff = w) {
        /* No stack to be had: what is at hand waits until a thread that already has one can run. */
        if (!ps_load_relaxed(&said) && !ps_xchg_acq_rel(&said, 1))
            ps_warn("no memory for another stack of %zu KiB (%s): waiting until one is free (said once)",
                    vp->stacks.stack_bytes / 1024, os_memory_limit(vp->stacks.stack_bytes));
        os_yield();
        leave_waiters(vp);
        bool has_stack = ps_work_thread(w) && ps_work_thread(w)->uth;
        if (has_stack) /* perhaps its vp waits for self to be taken out of a queue, as this one does for it */
            put_back(vp, w);
        struct ps_work other = vp_take_own(vp);
        struct psthread *t = ps_work_thread(other);
        if (has_stack)
            w = other;
        if (!t || !t->uth || (t != self && !uth_saved_soon(t->uth))) {
            if (!has_stack)
                put_back(vp, other);
            continue;
        }
        vp->handoff = PS_NO_WORK;
        if (!has_stack)
            put_back(vp, w);
        if (t != self)
            vp_resume(vp, from, t, false);
        return;
    }
}

/* Goes on with w in the place of self, whose uth keeps its context; self finds its errno again also where it has no
 * thread-local block of its own. may_be_bound: false where vp's kernel thread is certain to be where w may run.
 *
 * Self may be in another vp's hand by now, which waits for its context. So self waits for another one's no longer than
 * a switch takes; then it leaves for a fresh stack, and that one's loop waits, for whose stack nobody does, and not for
 * ever either. Else two members that a barrier lets go as they are about to leave their stacks may each be taken by the
 * other's vp, and wait for ever: out of the queue of a place that both vps share, or of one that a resting vp has
 * filled. tests/models/block_ready.pml. */
static PS_ALWAYS_INLINE void vp_switch_away(struct vp *vp, struct psthread *self, struct ps_work w, bool may_be_bound)
{
    struct psthread *t = ps_work_thread(w);
    int error = vp_errno(vp);
    PS_ASSERT(self->uth == vp->uth);
    if (PS_LIKELY(t && t->uth && uth_saved_soon(t->uth))) {
        vp = may_be_bound ? vp_resume(vp, self->uth, t, false) : vp_resume_here(vp, self->uth, t, false);
    } else {
        switch_to_fresh(vp, self, w);
        vp = ps_vp();
    }
    vp_set_errno(vp, error);
}

void ps_block(struct psthread *self, enum ps_wait kind, const volatile void *object)
{
    PS_CHECK(!(self->flags & PS_T_NOSTACK), "a thread created with PSTHREAD_ATTR_NOSTACK tried to block: "
                                            "work descriptors run as calls and may not wait");
    struct vp *vp = ps_vp();
    PS_ASSERT(vp->current == self && self->uth == vp->uth); /* else its context would be kept in another's place */
    struct uth_wait *wait = &self->uth->wait;
    wait->thread = self;
    wait->object = object;
    wait->kind = kind;
    if (PS_UNLIKELY(vp->alone_for != NULL)) {
        ps_wait_alone(vp, self);
        wait->thread = NULL;
        return;
    }
    leave_waiters(vp);
    struct ps_work w = take_own(vp);
    if (PS_LIKELY(ps_work_thread(w) != self)) /* else: readied before it left */
        vp_switch_away(vp, self, w, true);
    wait->thread = NULL;
}

void vp_leave_bound(struct vp *vp, struct psthread *self)
{
    leave_waiters(vp);
    vp_switch_away(vp, self, take_own(vp), true);
}

static inline bool is_teammate(const struct psthread *t, const struct ps_team *team)
{
    return t->flags & PS_T_MEMBER && ((const struct ps_member *)(const void *)t)->team == team;
}

/* Of many members' contexts the first cache does not hold all: the one behind the next is fetched meanwhile. q's lock
 * is held. */
static inline void prefetch_front_locked(const struct ps_queue *q)
{
    const struct ps_item *front = ps_queue_item(q->items.next);
    if (!ps_list_empty(&q->items) && front->kind == PS_KIND_THREAD)
        __builtin_prefetch(PS_CONTAINER_OF(front, const struct psthread, item)->uth);
}

/* The team's next member that this vp would run, taken; the queue's lock is held. */
static inline struct ps_work take_teammate_locked(struct vp *vp, struct ps_team *team)
{
    struct psthread *pinned = ps_load_acquire(&vp->pinned);
    if (PS_UNLIKELY(pinned != NULL))
        return is_teammate(pinned, team) ? ps_work_of(take_pinned(vp)) : PS_NO_WORK;
    struct ps_queue *q = &vp->queue;
    if (ps_list_empty(&q->items))
        return PS_NO_WORK;
    struct ps_item *front = ps_queue_item(q->items.next);
    if (front->kind != PS_KIND_THREAD)
        return front == &team->item ? take_item_locked(q, front) : PS_NO_WORK;
    struct psthread *t = PS_CONTAINER_OF(front, struct psthread, item);
    if (!is_teammate(t, team))
        return PS_NO_WORK;
    ps_queue_remove_locked(q, front);
    prefetch_front_locked(q);
    return ps_work_of(t);
}

/* vp has something ready. */
static PS_NOINLINE PS_CODE_ALIGNED enum ps_met wait_in_batch(struct vp *vp, struct ps_team *team, struct ps_member *m,
                                                             uint32_t phase)
{
    struct psthread *self = &m->thread;
    struct ps_waiters *among = &vp->waiters;
    struct ps_work w = PS_NO_WORK;
    if (PS_UNLIKELY(vp->alone_for != NULL)) /* what is in its queue is for others */
        return ps_team_barrier_count(vp, team, m, phase);
    if (PS_UNLIKELY(!ps_load_relaxed(&team->batched)))
        ps_store_seq(&team->batched, 1);
    ps_spin_lock(&vp->queue.lock);
    uint32_t count = ps_load_relaxed(&among->count);
    if (PS_LIKELY(!ps_load_seq(&team->interrupted)))
        w = take_teammate_locked(vp, team);
    if (PS_UNLIKELY(!ps_work_some(w))) {
        ps_spin_unlock(&vp->queue.lock);
        return ps_team_barrier_count(vp, team, m, phase);
    }
    if (count == 0) {
        among->team = team;
        among->phase = phase;
    }
    struct uth *from = vp->uth;
    if (PS_LIKELY(!from->vp))
        ps_list_push_back(&among->list, &self->item.link);
    else
        among->root = self;
    among->uncounted++;
    ps_store_relaxed(&among->count, count + 1);
    struct uth_wait *wait = &from->wait; /* while nobody can ready it */
    wait->thread = self;
    wait->object = team;
    wait->kind = PS_WAIT_TEAM_BARRIER;
    wait->turn = phase;
    ps_spin_unlock(&vp->queue.lock);
    vp_switch_away(vp, self, w, false);
    wait->thread = NULL;
    return ps_team_barrier_over(team, phase) ? PS_MET_RELEASED : PS_MET_CALLED;
}

static PS_NOINLINE enum ps_met leave_and_wait(struct vp *vp, struct ps_team *team, struct ps_member *m, uint32_t phase)
{
    ps_team_barrier_leave(vp);
    return vp_wait_in_batch(team, m, phase);
}

PS_CODE_ALIGNED enum ps_met vp_wait_in_batch(struct ps_team *team, struct ps_member *m, uint32_t phase)
{
    struct vp *vp = carried_now();
    if (PS_UNLIKELY(vp_has_waiters(vp) && vp->waiters.team != team))
        return leave_and_wait(vp, team, m, phase);
    if (ps_queue_seems_empty(&vp->queue) && !ps_load_relaxed(&vp->pinned))
        return ps_team_barrier_count(vp, team, m, phase);
    return wait_in_batch(vp, team, m, phase);
}

bool ps_may_block(void)
{
    struct psthread *self = ps_current();
    return !self || !(self->flags & PS_T_NOSTACK);
}

/* The only vp that may run t; NULL: any. */
static struct vp *pinned_to(const struct psthread *t) { return t->uth ? t->uth->vp : NULL; }

void ps_ready(struct psthread *t, enum ps_end end)
{
    struct vp *bound = pinned_to(t);
    if (!bound) {
        struct vp *target = t->vp, *here;
        if (PS_UNLIKELY(!ps_load_relaxed(&target->attached)) && (here = ps_vp()) != NULL)
            target = here; /* its kernel thread is gone: nobody would look there first */
        vp_enqueue(target, &t->item, end);
        return;
    }
    ps_store_seq(&bound->pinned, t);
    if (PS_UNLIKELY(bound->alone_for != NULL)) {
        ps_wake_alone(bound);
        return;
    }
    idle_wake_this(bound);
    progress_arm_for_root();
}

void ps_ready_many(struct psthread *const *t, unsigned n)
{
    struct vp *target = NULL;
    struct ps_list *first = NULL;
    unsigned num = 0;
    for (unsigned i = 0; i < n; i++) {
        struct vp *own = t[i]->vp;
        bool alone = pinned_to(t[i]) || !ps_load_relaxed(&own->attached) || ps_places_on();
        if (num && (alone || own != target)) {
            vp_enqueue_ring(target, first, num);
            num = 0;
        }
        if (PS_UNLIKELY(alone)) {
            ps_ready(t[i], PS_BACK);
            continue;
        }
        struct ps_list *link = &t[i]->item.link;
        if (num++ == 0) {
            target = own;
            first = link->prev = link;
        } else { /* between the last one and the first */
            link->prev = first->prev;
            first->prev->next = link;
            first->prev = link;
        }
    }
    if (num)
        vp_enqueue_ring(target, first, num);
}

/* The same where places have queues of their own; self is on no kernel thread's own stack. */
static PS_NOINLINE bool yield_with_places(struct vp *vp, struct psthread *self)
{
    struct ps_work w = take_own(vp);
    if (!ps_work_some(w))
        return false;
    vp_enqueue(vp, &self->item, PS_BACK);
    vp_switch_away(vp, self, w, true);
    return true;
}

static inline bool yield(void)
{
    struct vp *vp = carried_now();
    if (!vp || !vp->current || (vp->current->flags & PS_T_NOSTACK) || PS_UNLIKELY(vp->alone_for != NULL))
        return false;
    struct psthread *self = vp->current;
    leave_waiters(vp);
    if (vp->uth == &vp->native) { /* on its kernel thread's own stack: it may not enter the queue */
        struct ps_work w = take_front(&vp->queue);
        if (ps_places_on() && !ps_work_some(w))
            w = ps_bind_take(vp);
        if (!ps_work_some(w))
            return false;
        ps_store_seq(&vp->pinned, self);
        vp_switch_away(vp, self, w, true);
        return true;
    }
    if (PS_UNLIKELY(vp->place != 0)) /* self is bound, or ran after something that was */
        return yield_with_places(vp, self);
    struct psthread *pinned = take_pinned(vp);
    struct ps_work w = ps_work_of(pinned);
    struct ps_queue *q = &vp->queue;
    if (!pinned && ps_queue_seems_empty(q))
        return ps_places_on() && yield_with_places(vp, self);
    ps_spin_lock(&q->lock);
    struct ps_item *front = ps_queue_item(q->items.next);
    if (PS_LIKELY(!pinned && !ps_list_empty(&q->items) && ps_item_plain(front))) {
        /* The front leaves, the caller comes to the back: their number stays. */
        ps_list_remove(&front->link);
        ps_list_push_back(&q->items, &self->item.link);
        ps_spin_unlock(&q->lock);
        idle_notify(NULL);
        vp_switch_away(vp, self, ps_work_of(PS_CONTAINER_OF(front, struct psthread, item)), false);
        return true;
    }
    while (!ps_work_some(w) && !ps_list_empty(&q->items))
        w = take_item_locked(q, ps_queue_item(q->items.next));
    if (ps_work_some(w))
        ps_queue_push_back_locked(q, &self->item);
    ps_spin_unlock(&q->lock);
    if (PS_UNLIKELY(!ps_work_some(w)))
        return false;
    idle_notify(NULL);
    vp_switch_away(vp, self, w, true);
    return true;
}

bool ps_yield(void) { return yield(); }

bool ps_root_wanted(void)
{
    struct vp *vp = ps_vp();
    return vp && vp_root_wanted(vp);
}

void psthread_yield(void)
{
    if (PS_LIKELY(yield()))
        return;
    ps_vp_attach();
    os_yield();
}

bool vp_give_way_to_root(struct vp *vp, struct psthread *self)
{
    struct psthread *root = take_pinned(vp);
    if (!root)
        return false;
    leave_waiters(vp);
    vp_enqueue(vp, &self->item, PS_BACK);
    vp_switch_away(vp, self, ps_work_of(root), true);
    return true;
}

unsigned ps_spin_limit(void) { return ps_rt.block_on_idle ? 0 : ps_rt.spin_limit; }

bool ps_spin_useful(void)
{
    struct vp *vp = ps_vp();
    return vp && !ps_rt.block_on_idle && own_seem_empty(vp) && !ps_load_relaxed(&vp->pinned);
}

/* --- inserting --- */

static PS_NOINLINE void enqueue_with_places(struct vp *target, struct ps_item *item, enum ps_end end)
{
    if (item->bound && ps_bind_queue(item) != NULL) {
        ps_bind_enqueue(item, end);
        return;
    }
    push(&target->queue, item, end);
    idle_notify(target);
}

void vp_enqueue(struct vp *target, struct ps_item *item, enum ps_end end)
{
    if (ps_places_on()) {
        enqueue_with_places(target, item, end);
        return;
    }
    push(&target->queue, item, end);
    idle_notify(target);
}

void vp_enqueue_ring(struct vp *target, struct ps_list *first, unsigned n)
{
    struct ps_queue *q = &target->queue;
    ps_spin_lock(&q->lock);
    ps_list_push_ring_back(&q->items, first);
    ps_queue_count_locked(q, (int)n);
    ps_spin_unlock(&q->lock);
    idle_notify(target);
}

void vp_enqueue_global(struct ps_item *item, enum ps_end end)
{
    push(&ps_rt.global, item, end);
    idle_notify(NULL);
}
