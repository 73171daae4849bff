/* Visits below saved contexts: see stand_below.h. */
#include "stand_below.h"

#include "above.h"
#include "current.h"
#include "leave.h"
#include "os.h"
#include "promote.h"
#include "run.h"

#define SPARE_BYTES 256 /* between what is saved and what is called below it */

#if defined(CPU_SAVED_SP)
struct below {
    struct uth uth;
    struct uth *from;
    void (*meanwhile)(struct vp *vp);
    uintptr_t low;
    uint64_t mask; /* in: which the kernel thread has meanwhile, if it is not deaf; out: which it is to have then */
    bool left;
    struct ps_jump jump;
};

/* From the first instruction to the last all signals are blocked but where the kernel thread hears: leave.h. */
static void hear_below(void *arg)
{
    struct below *below = arg;
    struct vp *vp = ps_vp();
    if (!vp_run(vp)->is_deaf)
        os_set_signal_mask(below->mask);
    below->meanwhile(vp);
    below->mask = os_swap_signal_mask(OS_ALL_SIGNALS);
}

static void stay_below(void *transfer, void *arg)
{
    struct vp *vp = transfer;
    struct below *below = arg;
    uth_switched(below->from, &below->uth);
    while (ps_leave_point(vp, below->low, hear_below, below, &below->jump)) {
        below->left = true;
        below->mask = below->jump.mask;
        ps_store_seq(&vp_alone(vp)->sleeps, 0); /* it may have been left in its sleep */
        if (!vp_run(vp)->alone_for)
            break; /* a root, for which no sender is counted in */
    }
    uth_switch(&below->uth, below->from, vp, true);
    __builtin_unreachable();
}

/* From the stack `from`, on which vp is; `saved`: the context below which it will be, or NULL. All signals are blocked.
 * False: there is no room. */
static bool visit_at(struct vp *vp, struct uth *from, struct uth *saved, uintptr_t start, uintptr_t end,
                     void (*meanwhile)(struct vp *vp), uint64_t *mask)
{
    struct below below = {
        .uth = {.flags = UTH_ADOPTED}, .from = from, .meanwhile = meanwhile, .low = start, .mask = *mask};
    if (end < start + CPU_STACK_MIN ||
        cpu_context_init(&below.uth.ctx, (void *)start, end - start, stay_below, &below) != 0)
        return false;
    vp_run(vp)->uth = &below.uth;
    uth_switch(from, &below.uth, vp, false);
    uth_switched(&below.uth, from);
    vp_run(vp)->uth = from;
    *mask = below.mask;
    if (PS_UNLIKELY(below.left))
        ps_above.leave_saved(vp, saved, &below.jump, mask);
    return true;
}

/* Below u's saved context. */
bool stand_below_saved(struct vp *vp, struct uth *from, struct uth *u, void (*meanwhile)(struct vp *vp), uint64_t *mask)
{
    uintptr_t end = (CPU_SAVED_SP(&u->ctx) - SPARE_BYTES) & -(uintptr_t)PS_CACHE_LINE;
    return visit_at(vp, from, u, u->stack ? (uintptr_t)u->stack : end - LEAVE_UNKNOWN_BYTES, end, meanwhile, mask);
}
#else
static bool visit_at(struct vp *vp, struct uth *from, struct uth *saved, uintptr_t start, uintptr_t end,
                     void (*meanwhile)(struct vp *vp), uint64_t *mask)
{
    (void)vp, (void)from, (void)saved, (void)start, (void)end, (void)meanwhile, (void)mask;
    return false;
}

bool stand_below_saved(struct vp *vp, struct uth *from, struct uth *u, void (*meanwhile)(struct vp *vp), uint64_t *mask)
{
    (void)vp, (void)from, (void)u, (void)meanwhile, (void)mask;
    return false;
}
#endif

/* In an area of u's stack, above which something goes on. */
bool stand_below_running(struct vp *vp, struct uth *from, struct uth *u, void (*meanwhile)(struct vp *vp),
                         uint64_t *mask)
{
    struct uth_area area;
    if (!uth_area_take(u, &area))
        return false;
    bool visited = visit_at(vp, from, NULL, area.start, area.start + area.bytes, meanwhile, mask);
    uth_area_put(&area);
    return visited;
}
