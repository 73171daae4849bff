/* Areas: places at the far end of a stack, for handlers of threads that stand on it below another one.
 *
 * The lowest sixteenth of a stack is cut into up to UTH_AREAS areas. A thread whose signal is to be handled while
 * another one runs above it on the same stack gets one (thread_signal.h, in the room psthreads). The one above goes on
 * meanwhile, and so has that much less of its stack.
 *
 * u.areas has a bit for each area that is taken: set by compare-and-swap (acquire), cleared by its owner (release).
 * An area is given out where nothing has been on its pages, as far as the system tells (os_memory_untouched), so that
 * it lies below whatever runs there. Pages that an area has used stay touched. So the first area sets `area_used`,
 * which is never cleared, and from then on the pages are not looked at again.
 *
 * Callers: any kernel thread, while something below keeps the stack from being given back. Failures: false. Cost: two
 * system calls where no thread has used an area of the stack yet.
 * Rejected: memory of its own (a collector looks at all between the handler's stack pointer and the stack's bottom).
 * Rejected: to stop the thread above (the handler may wait for that thread). */
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

/* Whether nothing stands there, as far as can be seen. */
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
