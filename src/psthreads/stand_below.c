/* A kernel thread stands on a stack that is not its own: see stand_below.h. */
#include "stand_below.h"

#include "cpu.h"
#include "run.h"
#include "uth.h"

#define SPARE_BYTES 256                   /* between what is saved and what is called below it */
#define UNKNOWN_BYTES ((size_t)64 * 1024) /* of a stack that is not ours, what is surely there below */

#if defined(CPU_SAVED_SP)
struct below {
    struct uth uth;
    struct uth *from;
    void (*meanwhile)(struct vp *vp);
};

static void begin_below(void *transfer, void *arg)
{
    struct vp *vp = transfer;
    struct below *below = arg;
    uth_switched(below->from, &below->uth);
    below->meanwhile(vp);
    uth_switch(&below->uth, below->from, vp, true);
    __builtin_unreachable();
}

static bool stand_at(struct vp *vp, struct uth *from, uintptr_t start, uintptr_t end, void (*meanwhile)(struct vp *vp))
{
    struct below below = {.uth = {.flags = UTH_ADOPTED}, .from = from, .meanwhile = meanwhile};
    if (end < start + CPU_STACK_MIN ||
        cpu_context_init(&below.uth.ctx, (void *)start, end - start, begin_below, &below) != 0)
        return false;
    vp_run(vp)->uth = &below.uth;
    uth_switch(from, &below.uth, vp, false);
    uth_switched(&below.uth, from);
    vp_run(vp)->uth = from;
    return true;
}

bool stand_below_saved(struct vp *vp, struct uth *from, struct uth *u, void (*meanwhile)(struct vp *vp))
{
    uintptr_t end = (CPU_SAVED_SP(&u->ctx) - SPARE_BYTES) & -(uintptr_t)PS_CACHE_LINE;
    return stand_at(vp, from, u->stack ? (uintptr_t)u->stack : end - UNKNOWN_BYTES, end, meanwhile);
}
#else
static bool stand_at(struct vp *vp, struct uth *from, uintptr_t start, uintptr_t end, void (*meanwhile)(struct vp *vp))
{
    (void)vp, (void)from, (void)start, (void)end, (void)meanwhile;
    return false;
}

bool stand_below_saved(struct vp *vp, struct uth *from, struct uth *u, void (*meanwhile)(struct vp *vp))
{
    (void)vp, (void)from, (void)u, (void)meanwhile;
    return false;
}
#endif

bool stand_below_running(struct vp *vp, struct uth *from, struct uth *u, void (*meanwhile)(struct vp *vp))
{
    struct uth_area area;
    if (!uth_area_take(u, &area))
        return false;
    bool visited = stand_at(vp, from, area.start, area.start + area.bytes, meanwhile);
    uth_area_put(&area);
    return visited;
}
