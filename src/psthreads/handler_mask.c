/* Masks that handlers leave to the threads that they have interrupted: see handler_mask.h. */
#include "handler_mask.h"

#include "current.h"
#include "inherited.h"
#include "promote.h"
#include "race.h"
#include "run.h"
#include "stray.h"
#include "thread.h"
#include "vp_tls.h"

__thread struct ps_handler ps_handler __attribute__((tls_model("initial-exec")));

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

static void want_with_mask(struct vp *to, uint64_t mask)
{
    post_mask(to, mask);
    want_thread(to);
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
    vp_run(vp)->deaf_mask = mask;
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
        want_with_mask(to, mask);
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
    uint64_t before = os_frame_mask(frame), mask = before;
    if (ps_handler.frame && os_interrupted_handler())
        return before;
    if (block && !is_in_own(vp, block) && !ps_in_vfork_child())
        mask = mask_of_member(block, ps_load_seq(&block->alone));
    if (PS_UNLIKELY(mask != before))
        os_frame_set_mask(frame, mask);
    struct ps_handler this = {.frame = ps_tls_on() ? frame : NULL, .vp = vp, .before = before, .shown = mask};
    ps_handler = this;
    ps_fence_compiler();
    ps_handler = this; /* a handler in between has written its own */
    return mask;
}

void ps_handler_left_mask(void *frame, uint64_t before, uint64_t shown)
{
    struct vp *vp = vp_in_own_block() ? ps_vp() : NULL;
    struct uth_tls *block = uth_tls_current();
    uint64_t mask = os_frame_mask(frame);
    bool inside = ps_handler.frame && ps_handler.frame != frame;
    if (!inside)
        ps_handler.frame = NULL;
    if (mask == shown)
        os_frame_set_mask(frame, before);
    if (mask == shown || (!vp && !block) || !ps_tls_on() || ps_in_vfork_child() || inside)
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

/* --- left by a jump --- */

void ps_handler_is_left(void)
{
    struct vp *vp = ps_handler.frame ? ps_vp() : NULL;
    ps_handler.frame = NULL;
    if (vp)
        ps_store_seq(&vp_run(vp)->in_handler, false);
}

/* From the frame `here`, of a thread that has an outermost handler, to a frame at `to`. */
enum { STAYS_INSIDE, LEAVES, IS_OUTSIDE };
static int way_of_jump(uintptr_t here, uintptr_t to)
{
    uintptr_t handler = (uintptr_t)ps_handler.frame;
    bool apart = os_on_alternate_stack(handler), here_apart = os_on_alternate_stack(here);
    if (apart == here_apart && here >= handler)
        return IS_OUTSIDE;
    if (apart)
        return !here_apart ? IS_OUTSIDE : to < handler && os_on_alternate_stack(to) ? STAYS_INSIDE : LEAVES;
    return to < handler && (here_apart || to >= here) ? STAYS_INSIDE : LEAVES; /* below `here`: another stack */
}

/* Block's thread has left a handler with this mask. vp had another one before. brings: the jump sets the mask. */
static void give_by_jump(struct vp *vp, struct uth_tls *block, const struct ps_handler *left, uint64_t mask,
                         bool brings)
{
    struct vp *to = ps_carrier_soon(block);
    if (!to)
        return;
    bool apart = os_on_alternate_stack((uintptr_t)__builtin_frame_address(0));
    struct psthread *self = apart ? NULL : to_be_moved(vp, left->frame);
    if (!self) {
        want_with_mask(to, mask);
        if (!brings)
            os_set_signal_mask(left->before);
        return;
    }
    keep_mask(vp, left->before);
    post_mask(to, mask);
    ps_move_alone(vp, self, to);
    os_frame_returns_here(left->frame); /* where the thread jumps from coroutine to coroutine it may come back */
}

/* The running thread, whose block this is, sets its mask. */
static void note_mask(struct vp *vp, const struct uth_tls *block, uint64_t mask)
{
    bool is_own = is_in_own(vp, block);
    struct vp *own = is_own ? vp : block ? ps_load_seq(&block->alone) : NULL;
    uint64_t known = is_own ? ps_load_seq(&vp_outer(vp)->inner_mask) : own ? mask_of_member(block, own) : mask;
    if (PS_LIKELY(known == mask) || ps_in_vfork_child())
        return;
    if (is_own)
        ps_own_mask_becomes(vp, mask);
    else
        want_with_mask(own, mask);
}

void ps_handler_jumps(uintptr_t to, const void *brings)
{
    int way = ps_handler.frame ? way_of_jump((uintptr_t)__builtin_frame_address(0), to) : IS_OUTSIDE;
    struct vp *vp = way != LEAVES || vp_in_own_block() ? ps_vp() : NULL;
    struct uth_tls *block = uth_tls_current();
    const struct ps_handler left = ps_handler;
    if (way == STAYS_INSIDE)
        return;
    ps_handler_is_left();
    if (!vp || !ps_tls_on() || (way == IS_OUTSIDE && !brings))
        return;
    uint64_t mask = brings ? *(const uint64_t *)brings : os_signal_mask();
    if (!block || is_in_own(vp, block) || mask == left.before || vp != left.vp || way == IS_OUTSIDE) {
        if (brings || is_in_own(vp, block))
            note_mask(vp, block, mask);
    } else if (!ps_in_vfork_child()) {
        give_by_jump(vp, block, &left, (left.shown | (mask & ~left.before)) & ~(left.before & ~mask), brings);
    }
}
