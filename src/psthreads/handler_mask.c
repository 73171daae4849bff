/* Masks that handlers leave to what they have interrupted: see handler_mask.h. */
#include "handler_mask.h"

#include "current.h"
#include "inherited.h"
#include "promote.h"
#include "race.h"
#include "run.h"
#include "stray.h"
#include "thread.h"
#include "vp_tls.h"

static void post_mask(struct vp *to, uint64_t mask)
{
    ps_store_seq(&vp_alone(to)->new_mask, mask);
    ps_add_seq(&vp_alone(to)->masks_posted, 1);
}

static void want_thread(struct vp *to)
{
    ps_or_seq(&vp_run(to)->lone, PS_LONE_WANTS);
    ps_wake_alone(to);
}

/* The thread that was interrupted; NULL: it cannot be left here. */
static struct psthread *to_be_moved(const struct vp *vp, const void *frame)
{
    struct psthread *self = vp_run(vp)->current;
    const struct uth *stack = vp_run(vp)->uth;
    bool may = self && !vp_run(vp)->held && self->uth == stack && !(self->flags & PS_T_NOSTACK) && !PS_TSAN &&
               !ps_race_enabled() && !san_valgrind() && !os_frame_is_apart(frame) &&
               os_interrupted_program(frame, stack->stack, stack->stack ? stack->stack_bytes : SIZE_MAX);
    return may ? self : NULL;
}

/* vp's kernel thread has this mask when the thread has gone. No handler comes before. */
static void keep_mask(struct vp *vp, uint64_t mask)
{
    os_set_signal_mask(OS_ALL_SIGNALS);
    vp_run(vp)->deaf_mask = ps_mask_to_leave(vp, mask);
    vp_run(vp)->is_deaf = true;
}

static void give_to_member(struct vp *vp, struct uth_tls *block, void *frame, uint64_t before)
{
    struct vp *to = ps_carrier_soon(block);
    if (!to || to == vp)
        return;
    /* What the handler has sent to its own thread is pending here, and is handled as it returns. */
    bool pending = os_signals_pending() & ~before;
    struct psthread *self = vp && !pending ? to_be_moved(vp, frame) : NULL;
    uint64_t mask = os_frame_mask(frame);
    if (!self) {
        os_frame_set_mask(frame, before);
        post_mask(to, mask);
        want_thread(to);
        return;
    }
    keep_mask(vp, before);
    post_mask(to, OS_ALL_SIGNALS); /* until the frame's mask is restored */
    ps_move_alone(vp, self, to);
    ps_store_seq(&vp_outer(to)->inner_mask, mask);
    os_frame_returns_here(frame);
}

/* vp's kernel thread is the thread's own; block: where it is, NULL: in no member's. */
static bool is_in_own(const struct vp *vp, const struct uth_tls *block)
{
    return block ? block == vp_run(vp)->alone_for : vp_is_roots(vp) || vp_run(vp)->alone_for;
}

bool ps_handler_may_leave_mask(void) { return ps_vp() != NULL; }

/* Whatever kernel thread runs it; `own` is its own, or NULL. */
static uint64_t mask_of_member(const struct uth_tls *block, const struct vp *own)
{
    if (own && (vp_mask_is_new(own) || ps_load_seq(&vp_run(own)->lone) & PS_LONE_WANTS))
        return ps_load_seq(&vp_alone(own)->new_mask);
    if (!own || ps_load_seq(&vp_alone(own)->state) == PS_ALONE_STARTS)
        return ps_mask_to_begin_with(block);
    return ps_load_seq(&vp_outer(own)->inner_mask);
}

uint64_t ps_handler_is_shown(void *frame)
{
    const struct vp *vp = ps_vp();
    struct uth_tls *block = uth_tls_current();
    if (!block || is_in_own(vp, block) || ps_in_vfork_child())
        return os_frame_mask(frame);
    uint64_t mask = mask_of_member(block, ps_load_seq(&block->alone));
    if (PS_UNLIKELY(mask != os_frame_mask(frame)) && !os_interrupted_handler())
        os_frame_set_mask(frame, mask);
    return os_frame_mask(frame);
}

void ps_handler_left_mask(void *frame, uint64_t before, uint64_t shown)
{
    struct vp *vp = vp_in_own_block() ? ps_vp() : NULL;
    struct uth_tls *block = uth_tls_current();
    uint64_t mask = os_frame_mask(frame);
    if (mask == shown)
        os_frame_set_mask(frame, before);
    if (mask == shown || (!vp && !block) || !ps_tls_on() || ps_in_vfork_child() || os_interrupted_handler())
        return;
    if (!vp || !is_in_own(vp, block)) {
        if (block)
            give_to_member(vp, block, frame, before);
        else if (!vp_run(vp)->current)
            os_frame_set_mask(frame, before); /* a worker that searches: no thread has it */
        return;
    }
    ps_own_mask_becomes(vp, mask);
    if (vp_run(vp)->alone_for && !vp_run(vp)->current) {
        ps_store_seq(&vp_alone(vp)->new_mask, mask);
        want_thread(vp);
    }
}
