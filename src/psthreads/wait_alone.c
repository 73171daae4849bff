/* A thread waits on a kernel thread of its own (promote.h), and its handlers may be left by a jump: see leave.h. */
#include "promote.h"

#include "above.h"
#include "check.h"
#include "current.h"
#include "directed.h"
#include "leave.h"
#include "lone_root.h"
#include "os.h"
#include "quota_park.h"
#include "run.h"
#include "sched.h"
#include "sources.h"
#include "team_batch.h"

static void unblock(struct vp_directed *d)
{
    if (PS_UNLIKELY(d->is_unheard)) {
        d->is_unheard = false;
        os_set_signal_mask(d->mask_of_waiter);
    }
}

static void block_all(struct vp_directed *d)
{
    d->mask_of_waiter = os_swap_signal_mask(OS_ALL_SIGNALS);
    d->is_unheard = true;
}

struct waiting {
    struct vp *vp;
    bool leaves; /* a jump is kept until the thread is woken */
};

static void await_readied(void *arg)
{
    const struct waiting *w = arg;
    unblock(vp_directed(w->vp));
    ps_await_pinned(w->vp);
    if (PS_UNLIKELY(w->leaves)) /* no handler may leave what follows, without the point */
        block_all(vp_directed(w->vp));
}

void ps_wait_alone(struct vp *vp, struct psthread *self)
{
    struct ps_jump jump;
    struct vp_directed *d = vp_directed(vp);
    struct uth *stack = vp_run(vp)->uth;
    uintptr_t here = (uintptr_t)&jump, low = (uintptr_t)stack->stack;
    if (here - low >= stack->stack_bytes)
        low = here - LEAVE_UNKNOWN_BYTES;
    struct waiting waiting = {.vp = vp};
    for (const struct psthread *t = NULL; t != self;) {
        bool left = ps_leave_point(vp, low, await_readied, &waiting, &jump);
        t = ps_xchg_seq(vp_pinned(vp), NULL);
        PS_ASSERT(left || t == self || t == PS_PINNED_REST);
        if (t == PS_PINNED_REST)
            quota_park_refused(vp); /* a root does not rest */
        if (PS_UNLIKELY(left)) {
            ps_store_seq(&vp_alone(vp)->sleeps, 0);
            waiting.leaves = ps_above.leave_wait(vp, self, &jump, t == self);
            d->mask_of_waiter = jump.mask;
            d->is_unheard = true;
        }
    }
    vp_tick(vp);
    if (PS_UNLIKELY(waiting.leaves)) {
        d->is_unheard = false; /* the jump sets the handler's mask */
        ps_above.leave_wait(vp, self, &jump, true);
    }
    unblock(d);
}

static bool waits_alone(const struct vp *vp)
{
    return vp && PS_UNLIKELY(vp_run(vp)->alone_for != NULL || vp_stays_with_root(vp));
}

bool ps_waits_alone(void) { return waits_alone(ps_vp_now()); }

static void block_on_word(_Atomic uint32_t *word, const struct uth_left *left)
{
    struct psthread *self = ps_self();
    struct uth *stack = self->uth;
    stack->wait.left = left;
    ps_block(self, PS_WAIT_WORD, word);
    stack->wait.left = NULL;
}

/* Signals are blocked from before the caller is queued up until it has a point. */
static PS_NOINLINE void block_alone_on_word(struct vp *vp, _Atomic uint32_t *word, bool (*queue_up)(void *what),
                                            void *what, const struct uth_left *left)
{
    struct vp_directed *d = vp_directed(vp);
    if (!vp_run(vp)->alone_for) { /* not while signals are blocked: these may start kernel threads */
        vp_leave_waiters(vp);
        lone_root_call_stand_in();
    }
    block_all(d);
    if (queue_up(what))
        block_on_word(word, left);
    unblock(d);
}

void ps_block_on_word(_Atomic uint32_t *word, bool (*queue_up)(void *what), void *what, const struct uth_left *left)
{
    struct vp *vp = ps_vp_now();
    if (PS_UNLIKELY(waits_alone(vp)))
        block_alone_on_word(vp, word, queue_up, what, left);
    else if (queue_up(what))
        block_on_word(word, left);
}
