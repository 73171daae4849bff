/* Threads that jump out of handlers: see leave.h. */
#include "leave.h"

#include "address_wait.h"
#include "current.h"
#include "directed.h"
#include "inherited.h"
#include "os.h"
#include "promote.h"
#include "run.h"
#include "sched.h"
#include "switch.h"

#define SPARE_BYTES 256 /* between what is saved and what stands below it */
#define ROOM_BYTES 8192 /* for leave_main and what it calls */

/* Stands on the thread's stack, below what was saved. */
struct pending {
    struct ps_jump jump;
    _Atomic uint32_t *hand_on; /* the word of which the thread has used up a wake */
};

/* vp's kernel thread has blocked all signals, and has another mask else. So a worker that is started by what follows
 * begins with that one. Ends with end_deaf(vp, what this returned). */
static bool begin_deaf(struct vp *vp, uint64_t mask)
{
    if (vp_run(vp)->is_deaf)
        return false;
    vp_run(vp)->deaf_mask = mask;
    vp_run(vp)->is_deaf = true;
    return true;
}

static void end_deaf(struct vp *vp, bool begun)
{
    if (begun)
        vp_run(vp)->is_deaf = false;
}

static void give_up(const struct uth_left *left, _Atomic uint32_t *hand_on)
{
    if (hand_on)
        ps_wake_on(hand_on, 1);
    if (left)
        left->fn(left->arg);
}

static void leave_main(void *transfer, void *arg)
{
    struct vp *vp = transfer;
    struct pending *pending = arg;
    struct uth *context = vp_run(vp)->uth;
    vp_arrived(vp, context);
    struct psthread *self = vp_run(vp)->current;
    const struct uth_left *left = context->wait.left;
    struct uth_tls *block = vp_run(vp)->tls;
    struct vp *own = block ? ps_load_acquire(&block->alone) : NULL;
    context->wait.thread = NULL;
    context->wait.left = NULL;
    context->left_by = NULL;
    if (own && own == vp)
        directed_runs(vp);
    else if (own && !context->vp)
        ps_move_alone(vp, self, own);
    give_up(left, pending->hand_on);
    cpu_float_set(&pending->jump.floats);
    pending->jump.make(&pending->jump);
    __builtin_unreachable();
}

#if defined(CPU_SAVED_SP)
/* The context u, which is visited, goes on with the jump. NULL: there is no room. */
static struct pending *redirect(struct uth *u, const struct ps_jump *jump)
{
    uintptr_t end = (CPU_SAVED_SP(&u->ctx) - SPARE_BYTES - sizeof(struct pending)) & -(uintptr_t)PS_CACHE_LINE;
    uintptr_t start = u->stack ? (uintptr_t)u->stack : end - LEAVE_UNKNOWN_BYTES;
    struct pending *pending = (struct pending *)end;
    if (end < start + ROOM_BYTES || cpu_context_init(&u->ctx, (void *)start, end - start, leave_main, pending) != 0)
        return NULL;
    pending->jump = *jump;
    pending->hand_on = NULL;
    return pending;
}
#else
static struct pending *redirect(struct uth *u, const struct ps_jump *jump)
{
    (void)u, (void)jump, (void)leave_main;
    return NULL;
}
#endif

/* NULL: it does not wait on a word. */
static _Atomic uint32_t *awaited_word(const struct uth_wait *wait)
{
    return wait->thread && wait->kind == PS_WAIT_WORD ? (_Atomic uint32_t *)(uintptr_t)wait->object : NULL;
}

/* Else the handler counts as returned. */
static bool makes_jump(const struct uth_wait *wait)
{
    return !wait->thread || wait->kind == PS_WAIT_NOTHING || wait->kind == PS_WAIT_WORD ||
           wait->kind == PS_WAIT_TEAM_BARRIER;
}

void ps_leave_saved(struct vp *vp, struct uth *saved, const struct ps_jump *jump, uint64_t *mask)
{
    struct psthread *t = saved ? vp_left_by(saved) : NULL;
    struct pending *pending = t && makes_jump(&saved->wait) ? redirect(saved, jump) : NULL;
    if (!pending) {
        *mask = ps_load_seq(&vp_outer(vp)->inner_mask);
        return;
    }
    _Atomic uint32_t *word = awaited_word(&saved->wait);
    if (!word || !ps_wait_give_up(t, word)) {
        pending->hand_on = word;
        return;
    }
    bool begun = begin_deaf(vp, *mask);
    ps_ready(t, PS_FRONT);
    end_deaf(vp, begun);
}

bool ps_leave_wait(struct vp *vp, struct psthread *self, struct ps_jump *jump, bool woken)
{
    struct uth_wait *wait = &vp_run(vp)->uth->wait;
    const struct uth_left *left = wait->left;
    _Atomic uint32_t *word = awaited_word(wait);
    if (!makes_jump(wait)) {
        jump->mask = ps_load_seq(&vp_outer(vp)->inner_mask);
        return false;
    }
    if (!woken && !(word && ps_wait_give_up(self, word)))
        return true;
    wait->thread = NULL;
    wait->left = NULL;
    if (vp_run(vp)->alone_for)
        directed_runs(vp);
    bool begun = begin_deaf(vp, jump->mask);
    give_up(left, woken ? word : NULL);
    end_deaf(vp, begun);
    os_set_signal_mask(jump->mask);
    cpu_float_set(&jump->floats);
    jump->make(jump);
    __builtin_unreachable();
}
