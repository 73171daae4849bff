/* Threads: making, submitting and ending them (the first half of the public API).
 *
 * The states of a descriptor: FREE -> MADE (create) -> READY (enqueue) or SPAWNED (spawn) -> RUNNING -> ENDED -> FREE.
 * It is freed:
 *   detached thread                 by the thread itself, at its end
 *   thread that is never submitted  by psthread_discard
 *   joinable thread                 by the joiner, if it joins before the thread has ended. Otherwise the thread
 *                                   becomes a *zombie* of its parent. The parent frees it: in a join of the first
 *                                   zombie of its list, in a later creation once it is joined, or in its waitall. When
 *                                   the parent and all its children have ended, zombies that were not joined become
 *                                   *orphans*: they are in no list, and the thread that joins or detaches an orphan
 *                                   frees it
 *   thread of psthread_create_ex    by the program (psthread_free) */
#include "address_wait.h"
#include "check.h"
#include "create.h"
#include "exit.h"
#include "key.h"
#include "life.h"
#include "os.h"
#include "sources.h"
#include "switch.h"
#include "team.h"
#include "timer.h"
#include "vp_tls.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* --- creation --- */

bool ps_stack_size_sensible(size_t bytes)
{
    return bytes >= PSTHREAD_STACK_MIN && bytes <= ((size_t)1 << (sizeof(size_t) > 4 ? 36 : 30));
}

PS_NOINLINE unsigned create_apply_attr(struct psthread *t, const psthread_attr_t *attr)
{
    unsigned flags = attr->flags & PSTHREAD_ATTR_DETACHED ? PS_T_DETACHED : 0;
    if (attr->flags & PSTHREAD_ATTR_NOSTACK)
        return flags | PS_T_NOSTACK;
    if (!attr->stack_size)
        return flags;
    t->stack_size = attr->stack_size;
    return flags | PS_T_SIZED;
}

int psthread_create(psthread_t *thread, const psthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
    return create_thread(ps_vp_attach_now(), thread, attr, fn, arg, true, 0);
}

int psthread_create_ex(psthread_t *thread, const psthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
    return create_thread(ps_vp_attach(), thread, attr, fn, arg, true, PS_T_REUSED);
}

/* Ends a thread that was made and never submitted: takes it out of the count of threads made and of its parent's
 * children. */
static void never_begins(struct vp *vp, struct psthread *t)
{
    struct psthread *parent = t->parent;
    ps_store_relaxed(&vp_run(vp)->counts.made, ps_load_relaxed(&vp_run(vp)->counts.made) - 1);
    if (parent == vp_run(vp)->current && parent->created)
        parent->created--;
    else
        children_child_ended(vp, parent);
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
    descriptor_put(&vp_run(vp)->descriptors, thread);
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
    descriptor_put(&vp_run(vp)->descriptors, t);
    return 0;
}

/* Returns the vp that gets the next outer thread (a root's child) that is submitted on vp. Each vp deals its outer
 * threads to all online vps in turn. */
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

struct vp *ps_thread_end_keys(struct vp *vp, struct psthread *t)
{
    if (PS_LIKELY(!t->keys))
        return vp;
    ps_keys_run_destructors(&t->keys);
    return ps_vp();
}

struct vp *ps_thread_end(struct vp *vp, struct psthread *t, void *result)
{
    struct psthread *parent = t->parent;
    vp_count_ended(vp);
    if (t->flags & PS_T_REUSED) {
        /* the children know the descriptor as their parent, and the program may use it again at once */
        if (t->created) {
            children_wait(t);
            vp = ps_vp();
        }
        if (ps_load_relaxed(&t->zombies))
            children_sweep(vp, t, PS_UNJOINED_ORPHAN);
        t->result = result;
        ps_store_release(&t->state, PS_ENDED);
        children_child_ended(vp, parent);
        return vp;
    }
    ps_store_relaxed(&t->state, PS_ENDED);
    if (t->created) /* `created` stays non-zero: so children_give_up knows that children may be alive */
        ps_add_acq_rel(&t->children, (int64_t)t->created + PS_CHILDREN_HELD);
    t->result = result;
    uintptr_t joiner = t->flags & PS_T_DETACHED ? PS_JOIN_DETACHED : ps_xchg_acq_rel(&t->join, PS_JOIN_ENDED);
    if (joiner == PS_JOIN_DETACHED) {
        children_give_up(vp, t);
    } else if (joiner == PS_JOIN_OPEN) {
        children_add_zombie(parent, t);
    } else {
        ps_ready((struct psthread *)joiner, PS_FRONT); /* the joiner frees t */
    }
    children_child_ended(vp, parent);
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
    children_wait(t);
    children_sweep(ps_vp(), t, PS_UNJOINED_ORPHAN);
    if (t->keys)
        ps_keys_run_destructors(&t->keys);
}

/* Ends the current thread. All frames of the program's functions have been unwound from its stack. */
static void end_on_this_stack(void *result)
{
    struct vp *vp = ps_vp();
    struct psthread *t = vp_run(vp)->current;
    vp = ps_thread_end_keys(vp, t);
    ps_race_release(t);
    ps_race_release(t->parent);
    ps_race_release(vp_run(vp)->uth); /* its stack, which another thread gets */
    if (ps_tls_on())
        vp = vp_end_tls(vp);
    vp = ps_thread_end(vp, t, result);
    vp_run(vp)->current = NULL;
    vp_abandon(vp);
}

void psthread_exit(void *result)
{
    struct vp *vp = ps_vp();
    struct psthread *t = vp ? vp_run(vp)->current : NULL;
    bool foreign = !t || t->flags & PS_T_ROOT;
    if (foreign && !(t && ps_exits()->innermost))
        pthread_exit(result);
    PS_CHECK(ps_exits()->innermost || !(t->flags & (PS_T_CALLED | PS_T_MEMBER)),
             "psthread_exit in a thread that runs as a call on another's stack");
    ps_exit_leave(result, end_on_this_stack);
}

/* --- the running thread --- */

uint64_t psthread_now(void) { return os_now_ns(); }

int psthread_sleep(uint64_t deadline_ns)
{
    _Atomic uint32_t never_woken = 0;
    if (os_now_ns() >= deadline_ns)
        ps_tried_in_vain();
    while (os_now_ns() < deadline_ns)
        ps_wait_on_until(&never_woken, 0, PS_WAIT_TIME, deadline_ns);
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
unsigned psthread_vp_self(void) { return vp_run(ps_vp_attach())->id; }

void ps_end_local(struct psthread *t)
{
    if (ps_life.settings.root_exit && t->local)
        ps_life.settings.root_exit(t->local);
    t->local = NULL;
}

void ps_thread_end_root(struct psthread *t, bool wait)
{
    if (t->keys)
        ps_keys_run_destructors(&t->keys);
    if (wait)
        children_wait(t);
    children_sweep(ps_vp(), t, PS_UNJOINED_ORPHAN);
}
