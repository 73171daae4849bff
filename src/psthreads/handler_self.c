/* The thread that a handler runs as: see handler_self.h. */
#include "handler_self.h"

#include "current.h"
#include "directed.h"
#include "idle.h"
#include "os.h"
#include "race.h"
#include "run.h"
#include "sched.h"
#include "switch.h"
#include "team.h"
#include "vp_tls.h"

static bool is_member(const struct psthread *t) { return t->flags & PS_T_MEMBER; }

/* t's storage is this: a block, or (NULL) the kernel thread's own. A thread that is neither a root nor of a team is
 * taken to be in any block that is no member's. */
static bool is_in(const struct vp *vp, const struct psthread *t, const struct uth_tls *block)
{
    for (; t && is_member(t); t = t->parent) {
        const struct ps_member *m = PS_CONTAINER_OF(t, struct ps_member, thread);
        if (m->tls || m->id != 0)
            return m->tls && m->tls == block;
    }
    if (t == &vp_run(vp)->root)
        return !block || block == vp_run(vp)->own_tls;
    return t && block && !ps_load_relaxed(&block->team);
}

static bool is_right(const struct vp *vp, const struct uth_tls *block)
{
    const struct psthread *t = vp_run(vp)->current;
    if (!t)
        return !block || block == vp_run(vp)->alone_for || ps_load_relaxed(&vp_run(vp)->stands_as);
    if (is_member(t) || t == &vp_run(vp)->root)
        return is_in(vp, t, block);
    const struct uth *stack = t->uth; /* NULL: it has ended, and its descriptor may be another thread's */
    return (!block || is_in(vp, t, block)) && (stack == vp_run(vp)->uth || !stack || stack->tls == block);
}

/* The thread that is in the storage, as far as it is not a member that has ended; NULL: none is known. */
static const struct psthread *in_storage(const struct vp *vp, const struct uth_tls *block)
{
    const struct psthread *current = vp_run(vp)->current;
    const struct uth *stack = vp_run(vp)->uth;
    const struct psthread *left = NULL;
    if (!block)
        left = vp_left_root(vp);
    else if (!current)
        left = stack->wait.thread;
    else if (current->uth != stack)
        left = vp_left_by(stack);
    if (left && is_in(vp, left, block))
        return left;
    const struct psthread *t = current;
    do
        t = t && is_member(t) ? t->parent : NULL;
    while (t && !is_in(vp, t, block));
    return t;
}

/* A thread runs, and what a handler was told that was left by a jump is nothing to it. */
static void forget_left(struct vp *vp)
{
    if (vp_run(vp)->current && !vp_run(vp)->alone_for && vp_in_own_block())
        ps_store_relaxed(&vp_run(vp)->stands_as, NULL);
}

static void tell_self(struct ps_handler_self *self, struct vp *vp, const void *frame)
{
    const struct uth_tls *block = uth_tls_current();
    if (!ps_tls_on())
        return;
    if (PS_UNLIKELY(ps_load_relaxed(&vp_run(vp)->stands_as) != NULL))
        forget_left(vp);
    if (PS_LIKELY(is_right(vp, block)) || ps_in_vfork_child() || !vp_in_own_block() ||
        os_interrupted_program(frame, NULL, SIZE_MAX))
        return;
    const struct psthread *t = in_storage(vp, block);
    void *local = t ? t->local : block ? ps_team_keeper(block) : NULL;
    if (!local)
        return;
    self->vp = vp;
    self->current = vp_run(vp)->current;
    self->told = local;
    self->before = ps_load_relaxed(&vp_run(vp)->stands_as);
    ps_store_relaxed(&vp_run(vp)->stands_as, local);
    ps_fence_compiler();
    vp_run(vp)->current = NULL;
    ps_fence_compiler();
    ps_store_relaxed(&vp_run(vp)->stands_as, local); /* a handler in between has forgotten it */
}

struct ps_handler_self ps_handler_begins(const void *frame)
{
    struct ps_handler_self self = {.on = ps_vp()};
    if (!self.on)
        return self;
    self.within = ps_load_relaxed(&vp_run(self.on)->in_handler);
    ps_store_seq(&vp_run(self.on)->in_handler, true);
    self.is_there = directed_handles(self.on);
    tell_self(&self, self.on, frame);
    return self;
}

static void untell_self(const struct ps_handler_self *self)
{
    struct vp *vp = self->vp;
    if (!vp_run(vp)->current)
        vp_run(vp)->current = self->current;
    ps_fence_compiler();
    if (ps_load_relaxed(&vp_run(vp)->stands_as) == self->told) /* else in a forked child */
        ps_store_relaxed(&vp_run(vp)->stands_as, self->before);
}

void ps_handler_ends(const struct ps_handler_self *self)
{
    struct vp *on = self->on;
    if (PS_UNLIKELY(self->vp != NULL))
        untell_self(self);
    if (!on)
        return;
    if (on != ps_vp()) {
        ps_store_seq(&vp_run(on)->in_handler, false);
        return;
    }
    if (self->is_there)
        directed_handled(on);
    if (vp_run(on)->alone_for)
        ps_add_seq(&ps_idle.parks, 1);
    ps_store_seq(&vp_run(on)->in_handler, self->within);
}

bool ps_in_handler(void)
{
    struct vp *vp = ps_vp();
    if (PS_LIKELY(!vp || !ps_load_relaxed(&vp_run(vp)->in_handler)))
        return false;
    if (!os_called_by_program())
        return true;
    ps_store_relaxed(&vp_run(vp)->in_handler, false);
    return false;
}
