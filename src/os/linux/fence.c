/* A fence for all kernel threads of the process: membarrier, the private expedited kind.
 *
 * A process must register with the kernel before it may use this fence. In a process of one kernel thread that costs
 * nothing, so such a process registers when this library is loaded. With several kernel threads it takes some
 * milliseconds. Then the process registers at the first os_fence_all, or once fast paths have asked for the fence more
 * than ENOUGH_WISHES times. A forked child keeps its parent's registration.
 * States of `arranged`: UNKNOWN -> ARRANGED or REFUSED, once; written by the thread that registers, read by all
 * (relaxed: the value publishes nothing else).
 * Failures: an old system or a sandbox refuses: the fence is never ready, and callers use fences of their own. Callers:
 * any thread. */
#include "os.h"

#include "atomic.h"
#include "raw.h"

/* As in <linux/membarrier.h>, which some supported systems do not have yet. */
enum { FENCE_ALL = 1 << 3, ARRANGE = 1 << 4 };
enum { UNKNOWN, ARRANGED, REFUSED };
#define ENOUGH_WISHES 500

static _Atomic uint32_t arranged, wishes;

static void arrange(void)
{
    ps_store_relaxed(&arranged, raw_call(SYS_membarrier, ARRANGE, 0, 0, 0) == 0 ? ARRANGED : REFUSED);
}

__attribute__((constructor)) static void arrange_early(void)
{
    if (os_count_kernel_threads() == 1)
        arrange();
}

bool os_fence_all_ready(void)
{
    uint32_t now = ps_load_relaxed(&arranged);
    if (PS_UNLIKELY(now == UNKNOWN) && ps_add_relaxed(&wishes, 1) == ENOUGH_WISHES)
        arrange();
    return now == ARRANGED;
}

static bool fence_all(void) { return raw_call(SYS_membarrier, FENCE_ALL, 0, 0, 0) == 0; }

bool os_fence_all(void)
{
    if (PS_LIKELY(fence_all()))
        return true;
    uint32_t now = ps_load_relaxed(&arranged); /* another thread may have registered the process meanwhile */
    if (now == REFUSED)
        return false;
    if (now == UNKNOWN)
        arrange();
    return fence_all();
}
