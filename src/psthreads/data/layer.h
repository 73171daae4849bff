/* What layers over foreign interfaces need of threads. With src/mpi a thread waits for MPI without holding a vp, and
 * idle vps ask the layer whether a message has come. src/pools uses `objects_by`, src/trace `vp` and `watch_by`.
 *
 * The layer is a library of its own and finds this table by its name in the process, as `ps_layer`. The drop-in has
 * one, and so has libpsthreads.so; each knows its own threads only. The table's layout stays; new entries go to its
 * end, and `bytes` tells how many there are.
 *
 *   thread = layer->self();        NULL: no thread of this library's, or one that may not wait; then the layer waits
 *                                  in its own way
 *   ... publishes itself ...
 *   layer->wait(thread, object);   until a thread calls layer->ready(thread), which may come first; meanwhile the vp
 *                                  runs others
 *
 * ready may be called on any kernel thread, also on one that is none of this library's. Exactly one ready for each
 * wait. poll_by(f): a vp that finds nothing to do calls f repeatedly while it searches; several vps may call f at once.
 * f returns true if it has made something ready. f runs in no thread, on a stack of the library's, and may not wait. */
#ifndef PS_LAYER_H
#define PS_LAYER_H

#include "atomic.h"
#include "compiler.h"
#include "watch.h"

struct ps_layer {
    size_t bytes;
    void *(*self)(void);
    void (*wait)(void *thread, const volatile void *object);
    void (*ready)(void *thread);
    bool (*yield)(void);      /* lets another ready thread of the caller's vp run; false: there is none */
    bool (*has_others)(void); /* whether the caller's vp has other ready threads */
    void (*poll_by)(bool (*poll)(void));
    /* Makes the calling thread dedicated (dedicated.h): whatever it does, it holds no vp. */
    bool (*apart)(void);
    /* Registers fn, one only: fn(p) is called for each shared object that is loaded later. p is an address in the
     * object's code, no constructor of it has run, and the dynamic linker's lock is held (identity/loader.c). */
    void (*objects_by)(void (*fn)(const void *code));
    unsigned (*vp)(void); /* the number of the vp that the calling kernel thread carries; PS_LAYER_NO_VP: none */
    /* Registers fn, one only, which is called with what the scheduler does (watch.h); NULL: none. The previous fn may
     * still be called for a while. */
    void (*watch_by)(ps_watch_fn fn);
};
#define PS_LAYER_NO_VP (~0U)
extern const struct ps_layer ps_layer;

/* Called by a vp that searches (search.c): poll_by's function; NULL: none is registered. */
extern _Atomic(bool (*)(void)) ps_layer_poll;
/* The layer's function that is told of objects that begin; NULL: none. */
extern _Atomic(void (*)(const void *code)) ps_layer_object;

#endif
