/* Runs functions on the stacks of suspended threads: see suspended_stack.h. */
#include "suspended_stack.h"

#include "run.h"

#define SPARE_BYTES 256 /* bytes left free between the saved context and the visitor's frames */
/* how many bytes a stack of the program's is taken to have for handlers, below a saved context */
#define UNKNOWN_BYTES ((uintptr_t)64 * 1024)

#if defined(CPU_SAVED_SP)
#define HAS_ROOM true
#else
#define HAS_ROOM false
#define CPU_SAVED_SP(context) ((void)(context), (uintptr_t)0)
#endif

struct visit {
    struct uth uth, *from;
    void (*meanwhile)(struct vp *vp);
};

static void stay_on_stack(void *transfer, void *arg)
{
    struct visit *below = arg;
    uth_switched(below->from, &below->uth);
    below->meanwhile(transfer);
    uth_switch(&below->uth, below->from, transfer, true);
    __builtin_unreachable();
}

static bool visit_at(struct vp *vp, uintptr_t start, uintptr_t end, void (*meanwhile)(struct vp *vp))
{
    struct uth *from = vp_run(vp)->uth;
    struct visit below = {.uth = {.flags = UTH_ADOPTED}, .from = from, .meanwhile = meanwhile};
    if (!HAS_ROOM || end < start + CPU_STACK_MIN ||
        cpu_context_init(&below.uth.ctx, (void *)start, end - start, stay_on_stack, &below) != 0)
        return false;
    vp_run(vp)->uth = &below.uth;
    uth_switch(from, &below.uth, vp, false);
    uth_switched(&below.uth, from);
    vp_run(vp)->uth = from;
    return true;
}

bool suspended_stack_run_saved(struct vp *vp, struct uth *u, void (*meanwhile)(struct vp *vp))
{
    uintptr_t end = (CPU_SAVED_SP(&u->ctx) - SPARE_BYTES) & -(uintptr_t)PS_CACHE_LINE;
    return visit_at(vp, u->stack ? (uintptr_t)u->stack : end - UNKNOWN_BYTES, end, meanwhile);
}

bool suspended_stack_run_called(struct vp *vp, struct uth *u, void (*meanwhile)(struct vp *vp))
{
    struct uth_area area;
    if (!uth_area_take(u, &area))
        return false;
    bool visited = visit_at(vp, area.start, area.start + area.bytes, meanwhile);
    uth_area_put(&area);
    return visited;
}
