/* Lets members keep their stacks on their dedicated kernel threads. See own_stack.h. */
#include "own_stack.h"

#include "check.h"
#include "current.h"
#include "dedicated.h"
#include "sources.h"
#include "switch.h"
#include "team.h"
#include "vp_tls.h"

/* Returns the member in whose block vp is. NULL: the block is no member's. The first member of an inner region has no
 * block of its own: it is in the block of the region's parent, which is a member of the outer region. */
static struct psthread *member_of_block(const struct vp *vp)
{
    for (struct psthread *t = vp_run(vp)->current; t && t->flags & PS_T_MEMBER; t = t->parent) {
        const struct ps_member *m = PS_CONTAINER_OF(t, struct ps_member, thread);
        if (m->tls)
            return m->tls == vp_run(vp)->tls ? t : NULL;
        if (m->id != 0)
            return NULL;
    }
    return NULL;
}

/* Returns true if the stack belongs to the member: no other frame on it is needed once the member has ended. */
static bool is_its_own(const struct psthread *member, const struct uth *stack)
{
    return !(member->flags & PS_T_CALLED) && member->uth == stack && stack->stack && !(stack->flags & UTH_ADOPTED);
}

void ps_keep_stack(void)
{
    struct vp *vp = ps_vp();
    bool is_member = vp && vp_run(vp)->tls && member_of_block(vp);
    uth_tls_may_ask(is_member ? UTH_TLS_ASKS : UTH_TLS_ASKS_MAYBE);
    if (!is_member || vp_run(vp)->tls->own_stack || !ps_dedicate_self())
        return;
    vp = ps_vp();
    struct psthread *member = member_of_block(vp);
    if (is_its_own(member, vp_run(vp)->uth))
        vp_run(vp)->tls->own_stack = vp_run(vp)->uth;
}

/* The first function on a stack that a member keeps: runs the dedicated vp's loop there. */
static void own_loop_entry(void *transfer, void *arg)
{
    struct vp *vp = transfer;
    vp_arrived(vp, arg);
    own_stack_await_next(vp);
}

void own_stack_begin(struct vp *vp, struct psthread *t)
{
    struct uth *own = uth_get(&vp_run(vp)->stacks);
    /* Without memory for a stack, t begins on the stack of another vp's loop, and comes here with that stack. */
    if (!own || uth_start(own, own_loop_entry, own) != 0) {
        if (own)
            uth_put(&vp_run(vp)->stacks, own);
        vp_enqueue(ps_vp_for_others(vp), &t->item, PS_BACK);
        return;
    }
    own->vp = vp;
    own->tls = vp_run(vp)->dedicated_to;
    uth_tls_set_stack(own->tls, own->stack, own->stack_bytes);
    vp_run(vp)->dedicated_to->own_stack = own;
    ps_store_seq(vp_pinned(vp), t); /* own_stack_await_next takes it */
    ps_store_relaxed(&vp_run(vp)->stands_as, t->local);
    vp_run(vp)->tls = NULL; /* so that the block is entered anew, because another vp may have been in it */
    vp_leave(vp, &vp_run(vp)->native, own, false);
    vp_run(vp)->current = NULL;
}

/* Calls t's function on the stack that runs. The dedicated vp's loop calls this. */
static void call_member(struct vp *vp, struct psthread *t)
{
    PS_ASSERT(!t->uth);
    vp_begins(vp, t);
    ps_store_relaxed(&vp_run(vp)->stands_as, t->local);
    t->member_fn(t);
    vp = ps_vp();
    /* By now t has ended itself, and may have begun anew already, so vp must not look at it. */
    vp_run(vp)->current = NULL;
    if (PS_UNLIKELY(!own_stack_is(vp))) /* in a forked child vp is no dedicated vp any more */
        vp_abandon(vp);
}

void own_stack_await_next(struct vp *vp)
{
    struct uth *own = vp_run(vp)->uth;
    vp_run(vp)->on_own = true;
    ps_team_stand(vp, vp_run(vp)->dedicated_to);
    vp_run(vp)->current = NULL;
    for (struct psthread *t;;) {
        ps_await_pinned(vp);
        t = ps_xchg_seq(vp_pinned(vp), NULL);
        if (t && t->uth) /* t has a stack of its own: dedicated_main goes on with t */
            ps_store_seq(vp_pinned(vp), t);
        if (!t || t->uth)
            break;
        call_member(vp, t);
    }
    vp_leave_dedicated(vp, own, NULL);
    __builtin_unreachable();
}

void own_stack_give_back(struct uth_tls *block, struct vp *vp)
{
    struct uth *own = block->own_stack;
    block->own_stack = NULL;
    if (own) {
        own->flags |= UTH_SPOILED;
        uth_put(&vp_run(vp)->stacks, own);
    }
}
