/* Areas: places at the far end of a stack, on which signal handlers run.
 *
 * A thread may be suspended on a stack while another thread, which it has called, runs above it on the same stack. If a
 * signal to the suspended thread must be handled then, its handler runs in an area of that stack
 * (identity/thread_signal.h). Up to UTH_AREAS areas lie near the far end of a stack; together they take a sixteenth of
 * it at most. The thread above goes on meanwhile, and has that much less stack.
 *
 * u.areas has a bit for each area that is taken: set by compare-and-swap (acquire), cleared by the area's owner
 * (seq_cst, of which the release is needed). The first area is given out only if none of the areas' pages is in memory,
 * as far as the system tells (os_memory_untouched). Then no frame on the stack reaches into the areas. A handler in an
 * area touches its pages, so this cannot be tested again. The first area therefore sets `area_used`, which is never
 * cleared; from then on the pages are not looked at.
 *
 * Callers: any kernel thread, while something keeps the stack from being given back. Failure: uth_area_take returns
 * false. Cost: a system call for each page of the areas, until an area of the stack has been used.
 * Rejected: memory outside of the stack (a garbage collector looks at all between the handler's stack pointer and the
 * stack's bottom). To stop the thread above (the handler may wait for that thread). */
#include "uth.h"

#include "os.h"

#define AREA_MOST ((size_t)64 * 1024)
#define AREA_LEAST ((size_t)16 * 1024)
#define ALL_AREAS_SHARE 16

void uth_areas_at(struct uth *u, uintptr_t low, size_t stack_bytes)
{
    size_t bytes = stack_bytes / ALL_AREAS_SHARE / UTH_AREAS;
    bytes = bytes > AREA_MOST ? AREA_MOST : bytes < AREA_LEAST ? AREA_LEAST : bytes;
    u->area_low = low;
    u->area_bytes = (uint32_t)(bytes & -(size_t)PS_CACHE_LINE);
    size_t n = stack_bytes / ALL_AREAS_SHARE / bytes;
    u->areas_n = (uint32_t)(n > UTH_AREAS ? UTH_AREAS : n);
}

/* Returns true if area_used is set. Otherwise looks at the pages of u's areas: if all are untouched, sets area_used and
 * returns true. */
static bool is_free(struct uth *u)
{
    if (ps_load_relaxed(&u->area_used))
        return true;
    if (!os_memory_untouched((void *)u->area_low, (size_t)u->areas_n * u->area_bytes))
        return false;
    ps_store_relaxed(&u->area_used, true);
    return true;
}

bool uth_area_take(struct uth *u, struct uth_area *area)
{
    uint32_t taken = ps_load_relaxed(&u->areas);
    if (!is_free(u))
        return false;
    for (unsigned i = 0; i < u->areas_n; i++)
        while (!(taken >> i & 1))
            if (ps_cas_acquire(&u->areas, &taken, taken | 1u << i)) {
                *area = (struct uth_area){
                    .of = u, .number = i, .start = u->area_low + (size_t)i * u->area_bytes, .bytes = u->area_bytes};
                return true;
            }
    return false;
}

void uth_area_put(const struct uth_area *area) { ps_and_seq(&area->of->areas, ~(1u << area->number)); }
