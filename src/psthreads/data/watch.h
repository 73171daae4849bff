/* Events that the scheduler reports to a watcher. The one watcher is the recorder of timelines (src/trace), which
 * registers through ps_layer. Events happen on slow paths only. Which thread runs on which vp is not an event; the
 * OpenMP core's tool interface reports that.
 *
 * The watcher is called on the kernel thread on which the event happens. The runtime may hold locks at that time, and
 * the kernel thread may run no user-level thread. So the watcher may not wait, allocate or call the library. Without a
 * watcher an event costs a load, a branch and a probe's instruction (probe.h). */
#ifndef PS_WATCH_H
#define PS_WATCH_H

#include "atomic.h"
#include "compiler.h"
#include "probe.h"

enum ps_watched {
    PS_WATCH_PARK = 1,   /* vp begins to sleep */
    PS_WATCH_UNPARK = 2, /* vp is awake again */
    /* The vp took work from another vp; value: that vp's level of distance (from 0) << 32 | its number. */
    PS_WATCH_STEAL = 3,
    PS_WATCH_SPARE_BEGIN = 4, /* the spare vp begins to work */
    PS_WATCH_SPARE_END = 5,   /* the spare vp has nothing to do, and stands by */
    PS_WATCH_ROOT_LEAVES = 6, /* the root of vp may run on other vps now; reported by the thread that released it */
    PS_WATCH_ROOT_HOME = 7,   /* the root of vp has come home; reported on vp */
    /* Reported by the watchdog: vp passed no scheduling point for `value` ns, while work waited behind it. */
    PS_WATCH_STALL = 8,
    PS_WATCH_WAIT_BEGIN = 9, /* a thread begins to wait for a foreign interface (MPI); value identifies the thread */
    PS_WATCH_WAIT_END = 10,  /* that thread waits no longer; vp: the vp on which it goes on */
};
/* A watcher's function. ps_watch: the function that is registered; NULL: none is. */
typedef void (*ps_watch_fn)(enum ps_watched what, unsigned vp, uint64_t value);
extern _Atomic(ps_watch_fn) ps_watch __attribute__((visibility("hidden")));

/* Reports an event to the watcher, and to the static probe with the name `probe`. */
#define PS_WATCHED(probe, what, vp, value)                   \
    do {                                                     \
        PS_PROBE2(probe, (unsigned)(vp), (uint64_t)(value)); \
        ps_watch_fn watch_ = ps_load_acquire(&ps_watch);     \
        if (PS_UNLIKELY(watch_ != NULL))                     \
            watch_(what, (unsigned)(vp), (uint64_t)(value)); \
    } while (0)

#endif
