/* Events that the scheduler reports to a watcher: a recorder of timelines (src/trace), which registers through
 * ps_layer. They are on slow paths only, where a vp has nothing to run or takes work from another vp. The OpenMP core's
 * tool interface tells the watcher what a vp runs.
 *
 * The watcher is called on the kernel thread that the event happens on, with locks of the runtime held, and perhaps
 * while that kernel thread runs no user-level thread. So it may not wait, allocate or call the library. Without a
 * watcher an event costs a load and a branch, and a probe's instruction (probe.h). */
#ifndef PS_WATCH_H
#define PS_WATCH_H

#include "atomic.h"
#include "compiler.h"
#include "probe.h"

enum ps_watched {
    PS_WATCH_PARK = 1,        /* vp sleeps */
    PS_WATCH_UNPARK = 2,      /* vp is awake again */
    PS_WATCH_STEAL = 3,       /* vp took work; value: level of distance (from 0) << 32 | the victim's number */
    PS_WATCH_SPARE_BEGIN = 4, /* the spare vp begins to work */
    PS_WATCH_SPARE_END = 5,   /* and ends */
    PS_WATCH_ROOT_LEAVES = 6, /* the root of vp may run on other vps; reported by the thread that lets it go */
    PS_WATCH_ROOT_HOME = 7,   /* the root of vp is back; reported at vp */
    PS_WATCH_STALL = 8,       /* the watchdog's: vp passed no scheduling point for value ns, with work waiting */
    PS_WATCH_WAIT_BEGIN = 9,  /* a thread begins to wait for a foreign interface (MPI); value: the thread's id */
    PS_WATCH_WAIT_END = 10,   /* it waits no longer; vp: where it goes on */
};
typedef void (*ps_watch_fn)(enum ps_watched what, unsigned vp, uint64_t value);
extern _Atomic(ps_watch_fn) ps_watch __attribute__((visibility("hidden")));

/* probe: the static probe's name. */
#define PS_WATCHED(probe, what, vp, value)                   \
    do {                                                     \
        PS_PROBE2(probe, (unsigned)(vp), (uint64_t)(value)); \
        ps_watch_fn watch_ = ps_load_acquire(&ps_watch);     \
        if (PS_UNLIKELY(watch_ != NULL))                     \
            watch_(what, (unsigned)(vp), (uint64_t)(value)); \
    } while (0)

#endif
