/* Threads: making, submitting, ending, waiting for them (the public API's first half).
 *
 * Descriptors are carved from slabs by the vp that makes the thread and recycled through the list of the vp that reaps
 * it (psthreads-2009 section 2.3). A list that has grown to a batch is put aside whole, and is what the vp takes next
 * when its list is empty. One vp may make what another one reaps: so a batch that was put aside before goes to a shared
 * store, and a vp that has none left takes one from there before it carves. Memory goes back to the system by
 * psthread_finalize only.
 *
 * Life of a descriptor: FREE -> MADE (create) -> READY (enqueue) -> RUNNING -> ENDED -> FREE. Who frees it:
 *   detached          the thread itself, at its end
 *   never submitted   psthread_discard
 *   joinable          the joiner, where it joins while the thread runs. Else the thread becomes a *zombie* of its
 *                     parent: freed by the parent's waitall, or by the parent's later creations once it is joined.
 *                     When the parent and all its children have ended, zombies that nobody has joined become *orphans*:
 *                     in no list, freed by the thread that joins or detaches them
 *   create_ex         the user (psthread_free)
 *
 * Counting children. The parent keeps `created` to itself; a child that ends subtracts 1 from `children`; waitall adds
 * `created`. So `children` is never positive before a waitall, and afterwards reaches exactly 0 with the last child:
 * that child (or the parent, if the sum is 0 at once) goes on. One atomic per child. A parent that ends with children
 * alive adds created + PS_CHILDREN_HELD and takes the hold back when its descriptor is to be freed: whoever brings the
 * sum to 0 frees it.
 * `created` has 32 bits. So the parent now and then adds as many to `children` as have ended since, and takes them off
 * `created` (fold_children). `children` is 0 or less then: the last child still finds no 1 there. Always created +
 * children is the number of children that have not ended. It grows by the parent's creations only, so the parent may
 * rely on what it has read to be an upper bound.
 *
 * Zombies. A child that ends pushes itself (compare-and-swap), then counts itself down (release). The parent takes out.
 * The parent may find (acquire) that no child is alive but those that it is ending itself, by calls on its own stack.
 * Then every push is over and seen, and no push can begin before the parent makes another child. So the parent needs no
 * compare-and-swap (alone_with). It looks at the count first and at the list behind it. Losing interleaving of the
 * other order: parent reads the list's first, t - a child pushes itself and counts itself down - parent finds nobody
 * alive and stores what stands behind t: the child is lost.
 *
 * The join word:
 *   OPEN -> ENDED            by the thread's end (acq_rel exchange; pairs with the joiner's acquire)
 *   OPEN -> joiner -> ENDED  a joiner waits
 *   OPEN -> DETACHED
 *   ENDED -> JOINED          by a joiner
 *   ENDED -> ORPHANED        by the thread that frees the parent
 *   ORPHANED -> JOINED       by a joiner
 * Every step out of ENDED is a compare-and-swap. A joiner and the thread that frees the parent may both want it: one
 * comes first, and the other sees what is left for it to do. */
#include "address_wait.h"
#include "check.h"
#include "current.h"
#include "exit.h"
#include "idle.h"
#include "key.h"
#include "loop.h"
#include "os.h"
#include "psthread.h"
#include "race.h"
#include "runtime.h"
#include "sched.h"
#include "sources.h"
#include "team.h"
#include "timer.h"
#include "vp.h"
#include "vp_tls.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- descriptors --- */

#define SLAB_BYTES ((size_t)256 * 1024)

/* At the head of each slab. Descriptors begin behind it at multiples of 32 bytes: what is looked at of one in a queue
 * (its link, kind, flags, stack) lies in one cache line. */
struct slab {
    _Alignas(32) struct slab *next;
};
_Static_assert(sizeof(struct psthread) % 32 == 0 && offsetof(struct psthread, vp) <= 32, "see there");
static _Atomic(struct slab *) slabs;

/* Batches of free descriptors on their way from vps that reap to vps that make. The first of a batch holds the rest by
 * next_free, and the next batch by arg. Taken once for BATCH descriptors at most. */
#define BATCH 64
static struct {
    struct ps_spin lock;
    _Atomic(struct psthread *) first; /* written under the lock; a look without it is a hint */
} store;

static void store_put(struct psthread *first)
{
    ps_spin_lock(&store.lock);
    first->arg = ps_load_relaxed(&store.first);
    ps_store_relaxed(&store.first, first);
    ps_spin_unlock(&store.lock);
}

/* vp's list is a batch. */
static PS_NOINLINE void put_batch_aside(struct vp *vp)
{
    if (vp->free_batch)
        store_put(vp->free_batch);
    vp->free_batch = vp->free_threads;
    vp->free_threads = NULL;
    vp->num_free = 0;
}

static bool store_take(struct vp *vp)
{
    if (!ps_load_relaxed(&store.first))
        return false;
    ps_spin_lock(&store.lock);
    struct psthread *first = ps_load_relaxed(&store.first);
    if (first)
        ps_store_relaxed(&store.first, first->arg);
    ps_spin_unlock(&store.lock);
    if (!first)
        return false;
    vp->free_threads = first;
    vp->num_free = BATCH;
    return true;
}

static struct psthread *descriptor_carve(struct vp *vp)
{
    struct psthread *t;
    if (vp->slab_left < sizeof *t) {
        struct slab *slab = os_map(SLAB_BYTES);
        if (!slab)
            return NULL;
        slab->next = ps_load_relaxed(&slabs);
        while (!ps_cas_release(&slabs, &slab->next, slab))
            continue;
        vp->slab = (char *)slab + sizeof *slab;
        vp->slab_left = SLAB_BYTES - sizeof *slab;
    }
    t = (struct psthread *)(void *)vp->slab;
    vp->slab += sizeof *t;
    vp->slab_left -= sizeof *t;
    return t;
}

static inline struct psthread *descriptor_pop(struct vp *vp)
{
    struct psthread *t = vp->free_threads;
    vp->free_threads = t->next_free;
    vp->num_free--;
    return t;
}

/* The same where vp's list is empty. */
static PS_NOINLINE struct psthread *descriptor_from_elsewhere(struct vp *vp)
{
    if (vp->free_batch) {
        vp->free_threads = vp->free_batch;
        vp->num_free = BATCH;
        vp->free_batch = NULL;
    } else if (!store_take(vp)) {
        return descriptor_carve(vp);
    }
    return descriptor_pop(vp);
}

static PS_ALWAYS_INLINE struct psthread *descriptor_new(struct vp *vp)
{
    return PS_LIKELY(vp->free_threads != NULL) ? descriptor_pop(vp) : descriptor_from_elsewhere(vp);
}

static PS_ALWAYS_INLINE void descriptor_put(struct vp *vp, struct psthread *t)
{
    ps_store_relaxed(&t->state, PS_FREE);
    t->next_free = vp->free_threads;
    vp->free_threads = t;
    if (PS_UNLIKELY(++vp->num_free == BATCH))
        put_batch_aside(vp);
}

void ps_descriptors_release_all(void)
{
    struct slab *slab = ps_xchg_acq_rel(&slabs, NULL);
    ps_store_relaxed(&store.first, NULL);
    while (slab) {
        struct slab *next = slab->next;
        os_unmap(slab, SLAB_BYTES);
        slab = next;
    }
}

/* The forked child: who held the lock, if somebody did, is not there any more; what the store had is lost rather than
 * trusted. */
void ps_descriptors_after_fork_in_child(void)
{
    ps_spin_init(&store.lock);
    ps_store_relaxed(&store.first, NULL);
}

/* z, a zombie whose parent is about to be freed: free if it was joined, else left to who will join it. */
static bool zombie_is_done_with(struct psthread *z)
{
    uintptr_t ended = PS_JOIN_ENDED;
    return !ps_cas_acq_rel(&z->join, &ended, PS_JOIN_ORPHANED);
}

/* t has ended and nobody will ask for it: frees it now, or leaves that to its last child. Its zombies that were joined
 * go with it, and theirs, in any depth: so they stand in a list, not on the stack. */
static PS_NOINLINE void give_up_family(struct vp *vp, struct psthread *t)
{
    t->next_zombie = NULL;
    for (struct psthread *todo = t; todo;) {
        t = todo;
        todo = t->next_zombie;
        if (t->created) { /* held: see ps_thread_end */
            if (ps_sub_acq_rel(&t->children, PS_CHILDREN_HELD) != PS_CHILDREN_HELD)
                continue;
            t->created = 0;
        }
        /* All its children have ended, and have been seen to: nobody else puts any there. */
        struct psthread *z = ps_load_relaxed(&t->zombies), *next;
        ps_store_relaxed(&t->zombies, NULL);
        for (; z; z = next) {
            next = z->next_zombie;
            if (!zombie_is_done_with(z))
                continue;
            z->next_zombie = todo;
            todo = z;
        }
        if (!(t->flags & (PS_T_REUSED | PS_T_ROOT)))
            descriptor_put(vp, t);
    }
}

static PS_ALWAYS_INLINE void descriptor_give_up(struct vp *vp, struct psthread *t)
{
    if (PS_UNLIKELY(t->created != 0 || ps_load_relaxed(&t->zombies) || t->flags & (PS_T_REUSED | PS_T_ROOT)))
        give_up_family(vp, t);
    else
        descriptor_put(vp, t);
}

/* Zombies are swept after as many creations as the last sweep left of them, and PS_SWEEP_EACH more: at most one look
 * for each creation. Who joins a zombie need not tell the parent, which may be gone by then. So that `created` does not
 * overflow between two sweeps, there are bounds that memory hardly lets anybody reach: for creations until the next
 * one, and for children alive at once. */
#define SWEEP_LAST_MOST (UINT32_MAX / 4)
#define CHILDREN_MAX (UINT32_MAX / 2)

/* What becomes of the zombies that nobody has joined: they stay zombies, are freed, or become orphans. */
enum unjoined { KEEP, FREE, ORPHAN };

/* Frees the zombies of t that were joined, and those that were not as told. */
static void sweep_zombies(struct vp *vp, struct psthread *t, enum unjoined unjoined)
{
    uint32_t kept = 0;
    struct psthread *z = ps_xchg_acq_rel(&t->zombies, NULL), *first = NULL, *last = NULL;
    while (z) {
        struct psthread *next = z->next_zombie;
        if (unjoined == FREE || ps_load_acquire(&z->join) == PS_JOIN_JOINED ||
            (unjoined == ORPHAN && zombie_is_done_with(z))) {
            descriptor_give_up(vp, z);
        } else if (unjoined == KEEP) {
            kept++;
            if (last)
                last->next_zombie = z;
            else
                first = z;
            last = z;
        }
        z = next;
    }
    if (last) { /* back, all at once */
        last->next_zombie = ps_load_relaxed(&t->zombies);
        while (!ps_cas_release(&t->zombies, &last->next_zombie, first))
            continue;
    }
    t->sweep_in = (kept < SWEEP_LAST_MOST ? kept : SWEEP_LAST_MOST) + PS_SWEEP_EACH;
}

/* Children that have ended are counted in one of t's counters in the place of both. */
static void fold_children(struct psthread *t)
{
    int64_t ended = -ps_load_relaxed(&t->children);
    if (ended <= 0)
        return;
    t->created -= (uint32_t)ended;
    ps_add_acq_rel(&t->children, ended);
}

/* Creations of parent's have come to where it is to look after what it has made before; false: it has too many children
 * alive. */
static PS_NOINLINE bool look_after_children(struct vp *vp, struct psthread *parent)
{
    fold_children(parent);
    sweep_zombies(vp, parent, KEEP);
    return parent->created < CHILDREN_MAX;
}

/* --- creation --- */

static int check_attr(const psthread_attr_t *attr)
{
    if (attr && (attr->flags & ~(PSTHREAD_ATTR_DETACHED | PSTHREAD_ATTR_NOSTACK)))
        return EINVAL;
    return attr && attr->stack_size && !ps_stack_size_sensible(attr->stack_size) ? EINVAL : 0;
}

/* What attr says: flags, and where a stack's size stands. */
static PS_NOINLINE unsigned apply_attr(struct psthread *t, const psthread_attr_t *attr)
{
    unsigned flags = attr->flags & PSTHREAD_ATTR_DETACHED ? PS_T_DETACHED : 0;
    if (attr->flags & PSTHREAD_ATTR_NOSTACK)
        return flags | PS_T_NOSTACK;
    if (!attr->stack_size)
        return flags;
    t->stack_size = attr->stack_size;
    return flags | PS_T_SIZED;
}

static PS_ALWAYS_INLINE void thread_make(struct psthread *t, struct psthread *parent, const psthread_attr_t *attr,
                                         void *(*fn)(void *), void *arg, unsigned flags)
{
    uintptr_t join = PS_JOIN_OPEN;
    if (PS_UNLIKELY(attr != NULL)) {
        flags |= apply_attr(t, attr);
        join = flags & PS_T_DETACHED ? PS_JOIN_DETACHED : PS_JOIN_OPEN;
    }
    if (parent->flags & PS_T_ROOT)
        flags |= PS_T_OUTER;
    t->item.kind = PS_KIND_THREAD;
    t->item.bound = 0;
    t->flags = (uint8_t)flags;
    t->level = parent->level + 1;
    t->uth = NULL;
    t->fn = fn;
    t->arg = arg;
    t->parent = parent;
    ps_store_relaxed(&t->join, join);
    ps_store_relaxed(&t->state, PS_MADE);
    parent->created++;
}

static PS_ALWAYS_INLINE int create_thread(struct vp *vp, psthread_t *thread, const psthread_attr_t *attr,
                                          void *(*fn)(void *), void *arg)
{
    int err = check_attr(attr);
    if (PS_UNLIKELY(err || !thread || !fn))
        return err ? err : EINVAL;
    struct psthread *parent = vp->current;
    if (PS_UNLIKELY(parent->sweep_in-- == 0) && !look_after_children(vp, parent))
        return ENOMEM;
    struct psthread *t = descriptor_new(vp);
    if (PS_UNLIKELY(!t))
        return ENOMEM;
    thread_make(t, parent, attr, fn, arg, 0);
    t->vp = vp;
    vp_count_made(vp);
    *thread = t;
    return 0;
}

int psthread_create(psthread_t *thread, const psthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
    return create_thread(ps_vp_attach_now(), thread, attr, fn, arg);
}

int psthread_create_ex(psthread_t *thread, const psthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
    int err = check_attr(attr);
    if (PS_UNLIKELY(err || !thread || !fn))
        return err ? err : EINVAL;
    struct vp *vp = ps_vp_attach();
    struct psthread *t = *thread, *parent = vp->current;
    if (parent->sweep_in-- == 0 && !look_after_children(vp, parent))
        return ENOMEM;
    if (!t) {
        t = descriptor_new(vp);
        if (!t)
            return ENOMEM;
    } else {
        enum ps_state state = ps_load_acquire(&t->state);
        if (!(t->flags & PS_T_REUSED))
            return EINVAL;
        if (state != PS_ENDED)
            return EBUSY;
    }
    thread_make(t, parent, attr, fn, arg, PS_T_REUSED);
    t->vp = vp;
    vp_count_made(vp);
    *thread = t;
    return 0;
}

static void child_ended(struct vp *vp, struct psthread *p);

/* A thread that was made and will not be submitted: as if it had ended. */
static void never_begins(struct vp *vp, struct psthread *t)
{
    struct psthread *parent = t->parent;
    ps_store_relaxed(&vp->made, ps_load_relaxed(&vp->made) - 1);
    if (parent == vp->current && parent->created)
        parent->created--;
    else
        child_ended(vp, parent);
}

int psthread_free(psthread_t thread)
{
    if (!thread || !(thread->flags & PS_T_REUSED))
        return EINVAL;
    enum ps_state state = ps_load_acquire(&thread->state);
    struct vp *vp = ps_vp_attach();
    if (state == PS_MADE)
        never_begins(vp, thread);
    else if (state != PS_ENDED)
        return EBUSY;
    descriptor_put(vp, thread);
    return 0;
}

int psthread_discard(psthread_t t)
{
    if (!t || ps_load_relaxed(&t->state) == PS_FREE)
        return ESRCH;
    if (t->flags & (PS_T_REUSED | PS_T_MEMBER | PS_T_ROOT))
        return EINVAL;
    if (ps_load_relaxed(&t->state) != PS_MADE)
        return EBUSY;
    struct vp *vp = ps_vp_attach();
    never_begins(vp, t);
    descriptor_put(vp, t);
    return 0;
}

/* t, made and known to nobody else or handed over in order, is ready (state), to be put in target's queue. */
static PS_ALWAYS_INLINE void submit_thread(struct vp *vp, struct psthread *t, struct vp *target, enum ps_state state)
{
    ps_race_release(t);
    ps_store_relaxed(&t->state, state);
    t->vp = target;
    vp_count_submitted(vp);
}

/* vp_enqueue of a fresh thread, inlined. */
static PS_ALWAYS_INLINE void enqueue_fresh(struct vp *target, struct psthread *t, enum ps_end end)
{
    struct ps_queue *q = &target->queue;
    if (ps_places_on()) {
        vp_enqueue(target, &t->item, end);
        return;
    }
    ps_spin_lock(&q->lock);
    if (end == PS_FRONT)
        ps_queue_push_front_locked(q, &t->item);
    else
        ps_queue_push_back_locked(q, &t->item);
    ps_spin_unlock(&q->lock);
    idle_notify(target);
}

/* Whose turn it is to get an outer thread of vp's. */
static PS_ALWAYS_INLINE struct vp *deal_to(struct vp *vp)
{
    unsigned id = vp->deal < ps_load_relaxed(&ps_rt.limit) ? vp->deal : 0;
    vp->deal = id + 1;
    return ps_vp_at(id);
}

static PS_ALWAYS_INLINE int enqueue_at(psthread_t t, int where, enum ps_end at)
{
    if (ps_load_relaxed(&t->state) != PS_MADE)
        return EINVAL;
    struct vp *vp = ps_vp_attach_now(), *target = vp;
    if (where == PSTHREAD_VP_GLOBAL && !ps_rt.has_global)
        return EINVAL;
    if (where >= 0) {
        if ((unsigned)where >= ps_rt.num_vps)
            return EINVAL;
        target = ps_vp_at((unsigned)where);
    } else if (where == PSTHREAD_VP_ANY) {
        if (t->flags & PS_T_OUTER)
            target = deal_to(vp);
    } else if (where != PSTHREAD_VP_GLOBAL) {
        return EINVAL;
    }
    submit_thread(vp, t, target, PS_READY);
    if (where == PSTHREAD_VP_GLOBAL)
        vp_enqueue_global(&t->item, at);
    else
        enqueue_fresh(target, t, at);
    return 0;
}

int psthread_enqueue_at(psthread_t t, int where, int end)
{
    if (!t || (end != PSTHREAD_FRONT && end != PSTHREAD_BACK))
        return EINVAL;
    return enqueue_at(t, where, end == PSTHREAD_FRONT ? PS_FRONT : PS_BACK);
}

int psthread_enqueue(psthread_t thread, int vp)
{
    return thread ? enqueue_at(thread, vp, thread->flags & PS_T_OUTER ? PS_BACK : PS_FRONT) : EINVAL;
}

/* --- end --- */

/* Blocks until every child of self has ended; their zombies stay. */
static void wait_children(struct psthread *self)
{
    int64_t created = (int64_t)self->created;
    self->created = 0;
    if (ps_add_acq_rel(&self->children, created) + created != 0)
        ps_block(self, PS_WAIT_CHILDREN, self);
}

/* A child of p has ended. */
static void child_ended(struct vp *vp, struct psthread *p)
{
    if (PS_LIKELY(ps_sub_acq_rel(&p->children, 1) != 1))
        return;
    if (ps_load_relaxed(&p->state) == PS_ENDED) { /* its hold is gone already: it is ours to free */
        p->created = 0;
        descriptor_give_up(vp, p);
    } else {
        ps_ready(p, PS_FRONT);
    }
}

/* Of p's children are alive no more than so many, which are in the caller's hand. Caller: p. */
static inline bool alone_with(struct psthread *p, uint32_t of_ours)
{
    return ps_load_acquire(&p->children) + (int64_t)p->created == of_ours;
}

/* t has ended and nobody waits for it: its parent has it in a list until it is joined. */
static void become_zombie(struct psthread *parent, struct psthread *t)
{
    t->next_zombie = ps_load_relaxed(&parent->zombies);
    while (!ps_cas_release(&parent->zombies, &t->next_zombie, t))
        continue;
}

struct vp *ps_thread_end_keys(struct vp *vp, struct psthread *t)
{
    if (PS_LIKELY(!t->keys) || t->flags & PS_T_MEMBER)
        return vp;
    ps_keys_run_destructors(&t->keys);
    return ps_vp();
}

struct vp *ps_thread_end(struct vp *vp, struct psthread *t, void *result)
{
    if (t->flags & PS_T_MEMBER) { /* its keys last as long as the team: see ps_team_fini */
        ps_member_assistant_ended(t);
        return vp;
    }
    struct psthread *parent = t->parent;
    vp_count_ended(vp);
    if (t->flags & PS_T_REUSED) {
        if (t->created) { /* they know the descriptor as their parent, and its user may use it again at once */
            wait_children(t);
            vp = ps_vp();
        }
        if (ps_load_relaxed(&t->zombies))
            sweep_zombies(vp, t, ORPHAN);
        t->result = result;
        ps_store_release(&t->state, PS_ENDED);
        child_ended(vp, parent);
        return vp;
    }
    ps_store_relaxed(&t->state, PS_ENDED);
    if (t->created) /* stays non-zero: tells descriptor_give_up that children may be alive */
        ps_add_acq_rel(&t->children, (int64_t)t->created + PS_CHILDREN_HELD);
    t->result = result;
    uintptr_t joiner = t->flags & PS_T_DETACHED ? PS_JOIN_DETACHED : ps_xchg_acq_rel(&t->join, PS_JOIN_ENDED);
    if (joiner == PS_JOIN_DETACHED) {
        descriptor_give_up(vp, t);
    } else if (joiner == PS_JOIN_OPEN) {
        become_zombie(parent, t);
    } else {
        ps_ready((struct psthread *)joiner, PS_FRONT); /* it frees t */
    }
    child_ended(vp, parent);
    return vp;
}

void ps_thread_init_root(struct psthread *t, struct vp *vp, struct uth *uth)
{
    *t = (struct psthread){.flags = PS_T_ROOT, .uth = uth, .vp = vp};
    ps_store_relaxed(&t->join, PS_JOIN_DETACHED);
    ps_store_relaxed(&t->state, PS_RUNNING);
}

void ps_thread_end_member(struct psthread *t)
{
    wait_children(t);
    sweep_zombies(ps_vp(), t, ORPHAN);
    if (t->keys)
        ps_keys_run_destructors(&t->keys);
}

static struct ps_exits *exits_of(struct uth *stack)
{
    _Static_assert(sizeof(struct ps_exits) <= sizeof(((struct uth *)0)->room), "what psthread_exit needs fits");
    return (struct ps_exits *)(void *)stack->room;
}

struct ps_exits *ps_exits(void) { return exits_of(ps_vp_attach()->uth); }

/* Nothing of the thread's functions is left on its stack. */
static void end_on_this_stack(void *result)
{
    struct vp *vp = ps_vp();
    struct psthread *t = vp->current;
    vp = ps_thread_end_keys(vp, t);
    ps_race_release(t);
    ps_race_release(t->parent);
    if (ps_tls_on())
        vp = vp_end_tls(vp);
    vp = ps_thread_end(vp, t, result);
    vp->current = NULL;
    vp_abandon(vp);
}

void psthread_exit(void *result)
{
    struct vp *vp = ps_vp();
    struct psthread *t = vp ? vp->current : NULL;
    bool foreign = !t || t->flags & PS_T_ROOT;
    if (foreign && !(t && ps_exits()->innermost))
        pthread_exit(result);
    PS_CHECK(ps_exits()->innermost || !(t->flags & (PS_T_CALLED | PS_T_MEMBER)),
             "psthread_exit in a thread that runs as a call on another's stack");
    ps_exit_leave(result, end_on_this_stack);
}

/* --- waiting for threads --- */

int psthread_waitall(void)
{
    struct psthread *self = ps_self();
    wait_children(self);
    ps_race_acquire(self);
    if (ps_load_relaxed(&self->zombies))
        sweep_zombies(ps_vp(), self, FREE);
    return 0;
}

/* Takes t out of its parent's zombies, where it stands there first. The parent alone takes any out, and others only put
 * some before: so what stands behind the first one stays, and the compare-and-swap cannot mistake it. */
static bool leaves_zombies(struct psthread *parent, struct psthread *t)
{
    bool nobody_pushes = alone_with(parent, 0); /* looked at first: who has pushed before that is seen below */
    struct psthread *first = ps_load_acquire(&parent->zombies);
    if (first != t)
        return false;
    if (PS_UNLIKELY(!nobody_pushes))
        return ps_cas_acquire(&parent->zombies, &first, t->next_zombie);
    ps_store_relaxed(&parent->zombies, t->next_zombie);
    return true;
}

/* The answer about a thread that cannot be waited for by the caller: `seen` is what its join word was. */
static int join_ended(struct psthread *t, uintptr_t seen, void **result)
{
    while (seen == PS_JOIN_ENDED || seen == PS_JOIN_ORPHANED) {
        void *value = t->result;
        bool orphan = seen == PS_JOIN_ORPHANED;
        if (!ps_cas_acq_rel(&t->join, &seen, PS_JOIN_JOINED))
            continue;
        ps_race_acquire(t);
        struct vp *vp = ps_vp_attach_now();
        if (orphan || (t->parent == vp->current && leaves_zombies(vp->current, t)))
            descriptor_give_up(vp, t); /* else its parent frees it, which has it in its list */
        if (result)
            *result = value;
        return 0;
    }
    return seen == PS_JOIN_JOINED ? ESRCH : EINVAL;
}

/* 0: t may be joined by self, as far as can be seen. */
static int check_joinable(const struct psthread *t, const struct psthread *self)
{
    if (!t || ps_load_relaxed(&t->state) == PS_FREE)
        return ESRCH;
    if (t == self)
        return EDEADLK;
    return t->flags & (PS_T_DETACHED | PS_T_REUSED | PS_T_MEMBER | PS_T_ROOT) ? EINVAL : 0;
}

/* The deadline of who joins has come: it waits no longer, unless the thread has just ended. */
static bool take_joiner(struct ps_timer *timer)
{
    struct psthread *t = timer->arg;
    uintptr_t joiner = (uintptr_t)timer->thread;
    return ps_cas_acq_rel(&t->join, &joiner, PS_JOIN_OPEN);
}

/* --- joining what nobody has taken ---
 *
 * The joiner runs a thread that has not begun, as a call on its own stack: no switch, no wait. The thread keeps its
 * identity (keys, name, level, children). If it blocks, the stack blocks, and with it the joiner; but the joiner could
 * not go on before the thread anyway. It is looked for where it was enqueued, at either end of the queue, because
 * threads are joined in the order in which they were made, or the other way round. Anywhere else it is not looked for:
 * a theft may have moved it to another queue, whose lock is not held.
 * It begins in a thread-local block of its own all the same, but for psthread_spawn's.
 * Not where the thread has a stack, a kernel thread or a fiber of its own to come, nor where more than a share of the
 * stack is in use (uth.h: call_floor), or that was smaller than a thread's usual one. */

static PS_ALWAYS_INLINE bool may_be_called(const struct psthread *self, const struct psthread *t, const struct vp *vp)
{
    return !(t->flags & PS_T_SIZED) && !(self->flags & PS_T_NOSTACK) && !ps_places_on() && uth_sanitizers == 0 &&
           !vp->uth->name[0] && !vp->alone_for && !vp_stays_with_root(vp) &&
           uth_has_room(vp->uth, __builtin_frame_address(0)) &&
           (!vp->uth->stack || vp->uth->stack_bytes >= ps_rt.stack_size);
}

static bool is_unbegun(const struct psthread *t)
{
    enum ps_state state = ps_load_relaxed(&t->state);
    return state == PS_READY || state == PS_SPAWNED;
}

/* Takes t out of the queue, if it stands there at an end and has not begun. */
static bool take_unbegun(struct psthread *t, struct vp *where)
{
    struct ps_queue *q = &where->queue;
    if (!ps_spin_try_lock(&q->lock))
        return false;
    bool here = (q->items.next == &t->item.link || q->items.prev == &t->item.link) && is_unbegun(t);
    if (here)
        ps_queue_remove_locked(q, &t->item);
    ps_spin_unlock(&q->lock);
    return here;
}

/* The thread's function, and what it returns or gives psthread_exit. An exception that leaves it is not for who called
 * it. */
#if defined(CPU_HAS_GUARDED_CALL)
static PS_ALWAYS_INLINE void *call_here(struct ps_exits *exits, const struct ps_call *call)
{
    struct ps_exit here;
    ps_exit_push_on(exits, &here, NULL, (uintptr_t)cpu_guarded_call);
    void *result = cpu_guarded_call(call->fn, call->arg, &here.guard);
    ps_exit_pop_from(exits, &here);
    return result;
}
#else
static PS_NOINLINE void *call_here(struct ps_exits *exits, const struct ps_call *call)
{
    struct ps_exit here;
    ps_exit_push_on(exits, &here, NULL, (uintptr_t)call_here);
    if (_setjmp(here.jump) != 0)
        return here.result;
    PS_BE_OUTERMOST();
    void *result = call->fn(call->arg);
    ps_exit_pop_from(exits, &here);
    return result;
}
#endif

/* t's keys and its block (own_tls) end; the vp goes on in `before`. What a destructor throws is not for the caller of t
 * either. */
static PS_NOINLINE struct vp *end_here(struct psthread *t, const struct psthread *parent, bool own_tls,
                                       struct uth_tls *before)
{
    PS_BE_OUTERMOST();
    if (t->keys)
        ps_keys_run_destructors(&t->keys);
    struct vp *vp = ps_vp();
    vp->uth->name[0] = '\0';
    vp_count_ended(vp);
    if (PS_UNLIKELY(t->parent != parent)) { /* in a child that it has forked: who called it is not there */
        if (own_tls)
            vp = vp_end_tls_for(vp, NULL);
        ps_wait_for_all(vp);
        exit(0);
    }
    if (own_tls)
        vp = vp_end_tls_for(vp, before);
    __asm__ volatile("" ::: "memory"); /* this frame stands until then: no tail call */
    return vp;
}

/* t's whole life, but for its end, on self's stack; the vp comes back in *vp_io. own_tls: in a block of its own, and
 * the vp comes back in self's. */
static PS_ALWAYS_INLINE void *call_thread(struct vp **vp_io, struct psthread *self, struct psthread *t, bool own_tls)
{
    struct vp *vp = *vp_io;
    struct psthread *parent = t->parent;
    struct uth_tls *before = vp->tls;
    if (own_tls) {
        struct uth_tls *tls = vp_new_tls(vp);
        vp_enter_tls(vp, tls);
    }
    struct ps_call call = ps_thread_begin(t);
    t->uth = vp->uth;
    t->vp = vp;
    ps_store_relaxed(&t->state, PS_RUNNING);
    vp->current = t;
    vp_tick(vp);
    void *result = call_here(exits_of(vp->uth), &call);
    if (!own_tls && PS_LIKELY(!t->keys && t->parent == parent)) {
        vp = ps_vp_now();
        vp->uth->name[0] = '\0';
        vp_count_ended(vp);
    } else {
        vp = end_here(t, parent, own_tls, before);
    }
    self->uth = vp->uth;
    self->vp = vp;
    vp->current = self;
    ps_store_relaxed(&t->state, PS_ENDED);
    if (t->created) /* as in ps_thread_end */
        ps_add_acq_rel(&t->children, (int64_t)t->created + PS_CHILDREN_HELD);
    *vp_io = vp;
    return result;
}

/* t, which self has called, is no child of its parent's any more. */
static void called_child_ended(struct vp *vp, struct psthread *self, struct psthread *parent)
{
    if (parent == self && self->created)
        self->created--;
    else
        child_ended(vp, parent);
}

/* self, which is noted as t's joiner, has taken t. */
static PS_ALWAYS_INLINE void *run_as_call(struct vp *vp, struct psthread *self, struct psthread *t, bool own_tls)
{
    struct psthread *parent = t->parent;
    void *result = call_thread(&vp, self, t, own_tls);
    ps_store_relaxed(&t->join, PS_JOIN_JOINED);
    called_child_ended(vp, self, parent);
    descriptor_give_up(vp, t);
    return result;
}

/* The same, t in a block of its own. Whoever has sent self a signal meanwhile has found it neither running nor saved,
 * and its handler may run on a kernel thread of self's own (directed.h): self goes on there, once it has come back. */
static PS_NOINLINE void *run_as_call_in_block(struct vp *vp, struct psthread *self, struct psthread *t)
{
    struct uth_tls *own = vp->tls;
    void *result = run_as_call(vp, self, t, true);
    if (own && PS_UNLIKELY(ps_load_acquire(&own->alone) != NULL))
        ps_promote_again(self, own);
    return result;
}

/* --- work first ---
 *
 * psthread_spawn's thread runs at once, as a call on its maker's stack, where nobody else would take it: no vp looks
 * for work or sleeps, or this vp's queue has a thread to take already. So a recursion leaves its oldest thread, which
 * is the largest, to be stolen, and makes calls of the others. What has not been stolen is called by who joins it.
 * Its end is that of any thread: others may have learnt of it from psthread_self and join it while it runs.
 * It is called in its maker's or its joiner's thread-local block, which psthread.h says: a block of its own costs ten
 * such calls. */

static bool others_have_enough(struct vp *vp) { return !idle_any() || !ps_queue_seems_empty(&vp->queue); }

static void run_at_once(struct vp *vp, struct psthread *self, struct psthread *t)
{
    vp_count_submitted(vp);
    t->result = call_thread(&vp, self, t, false);
    uintptr_t joiner = ps_xchg_acq_rel(&t->join, PS_JOIN_ENDED);
    if (joiner == PS_JOIN_OPEN && PS_LIKELY(alone_with(self, 1))) {
        t->next_zombie = ps_load_relaxed(&self->zombies);
        ps_store_relaxed(&self->zombies, t);
    } else if (joiner == PS_JOIN_OPEN)
        become_zombie(self, t);
    else if (joiner == PS_JOIN_DETACHED)
        descriptor_give_up(vp, t);
    else
        ps_ready((struct psthread *)joiner, PS_FRONT); /* it frees t */
    called_child_ended(vp, self, self);
}

int psthread_spawn(psthread_t *thread, const psthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
    struct vp *vp = ps_vp_attach_now();
    int err = create_thread(vp, thread, attr, fn, arg);
    if (PS_UNLIKELY(err))
        return err;
    struct psthread *t = *thread;
    if (others_have_enough(vp) && may_be_called(vp->current, t, vp)) {
        run_at_once(vp, vp->current, t);
    } else {
        submit_thread(vp, t, vp, PS_SPAWNED);
        enqueue_fresh(vp, t, PS_FRONT);
    }
    return 0;
}

int psthread_tryjoin(psthread_t t, void **result)
{
    int err = check_joinable(t, ps_self());
    if (err)
        return err;
    uintptr_t seen = ps_load_acquire(&t->join);
    return seen == PS_JOIN_OPEN ? EBUSY : join_ended(t, seen, result);
}

/* self, which is noted as t's joiner, waits for its end. */
static PS_NOINLINE int wait_for_end(struct psthread *self, struct psthread *t, void **result, uint64_t deadline_ns)
{
    struct ps_timer timer = {.deadline_ns = deadline_ns, .take = take_joiner, .arg = t, .thread = self};
    if (ps_block_until(self, PS_WAIT_JOIN, t, &timer))
        return ETIMEDOUT;
    ps_race_acquire(t);
    if (result)
        *result = t->result;
    ps_store_relaxed(&t->join, PS_JOIN_JOINED);
    descriptor_give_up(ps_vp(), t);
    return 0;
}

static PS_ALWAYS_INLINE int join_thread(psthread_t t, void **result, uint64_t deadline_ns)
{
    struct vp *vp = ps_vp_attach_now();
    struct psthread *self = vp->current;
    int err = check_joinable(t, self);
    if (PS_UNLIKELY(err))
        return err;
    uintptr_t seen = ps_load_acquire(&t->join);
    if (seen != PS_JOIN_OPEN || !ps_cas_acq_rel(&t->join, &seen, (uintptr_t)self))
        return join_ended(t, seen, result);
    bool own_tls = ps_tls_on() && ps_load_relaxed(&t->state) != PS_SPAWNED;
    if (deadline_ns != PS_NEVER || (own_tls && PS_UNLIKELY(ps_load_relaxed(&ps_promotes_all))) ||
        !may_be_called(self, t, vp) || !take_unbegun(t, t->vp))
        return wait_for_end(self, t, result, deadline_ns);
    void *returned = own_tls ? run_as_call_in_block(vp, self, t) : run_as_call(vp, self, t, false);
    if (result)
        *result = returned;
    return 0;
}

int psthread_join(psthread_t t, void **result) { return join_thread(t, result, PS_NEVER); }
int psthread_timedjoin(psthread_t t, void **result, uint64_t deadline_ns)
{
    return deadline_ns == PS_NEVER ? psthread_join(t, result) : join_thread(t, result, deadline_ns);
}

int psthread_detach(psthread_t t)
{
    int err = check_joinable(t, NULL);
    if (err)
        return err;
    uintptr_t seen = PS_JOIN_OPEN;
    return ps_cas_acq_rel(&t->join, &seen, PS_JOIN_DETACHED) ? 0 : join_ended(t, seen, NULL);
}

uint64_t psthread_now(void) { return os_now_ns(); }

int psthread_sleep(uint64_t deadline_ns)
{
    _Atomic uint32_t nobody_wakes = 0;
    while (os_now_ns() < deadline_ns)
        ps_wait_on_until(&nobody_wakes, 0, PS_WAIT_TIME, deadline_ns);
    return 0;
}

int psthread_setname(const char *name)
{
    char *to = ps_self()->uth->name;
    snprintf(to, PSTHREAD_NAME_MAX + 1, "%s", name ? name : "");
    return name && strlen(name) > PSTHREAD_NAME_MAX ? ERANGE : 0;
}

int psthread_getname(char *name, size_t bytes)
{
    const char *from = ps_self()->uth->name;
    if (bytes <= strlen(from))
        return ERANGE;
    strcpy(name, from);
    return 0;
}

psthread_t psthread_self(void) { return ps_self(); }
unsigned psthread_level(void) { return ps_self()->level; }
void **ps_thread_keys_slot(struct psthread *self) { return &self->keys; }
unsigned psthread_vp_self(void) { return ps_vp_attach()->id; }

void ps_thread_end_root(struct psthread *t, bool wait)
{
    if (t->keys)
        ps_keys_run_destructors(&t->keys);
    if (wait)
        wait_children(t);
    sweep_zombies(ps_vp(), t, ORPHAN);
}
