/* The table ps_layer: what libraries outside of the runtime (*layers*) need of threads. src/mpi lets a thread wait for
 * MPI without holding a vp, and is called by idle vps to ask whether a message has come. src/pools uses `objects_by`,
 * src/trace uses `vp` and `watch_by`.
 *
 * A layer is a library of its own. It finds this table in the process by the name `ps_layer`. The drop-in runtime has
 * such a table, and so has libpsthreads.so; each table knows the threads of its own library only. Entries never move.
 * New entries are added at the end, and `bytes`, the size of the table, tells a layer which entries exist.
 *
 *   thread = layer->self();        NULL: the caller is no thread of this library, or it may not wait here. The layer
 *                                  then waits in its own way
 *   ... the layer publishes the thread where the event that it waits for finds it ...
 *   layer->wait(thread, object);   returns after a call of layer->ready(thread), which may come before the wait. The vp
 *                                  runs other threads meanwhile
 *
 * Any kernel thread may call `ready`, also one that the library does not know. Each `wait` gets exactly one `ready`.
 * poll_by(f): a vp that finds nothing to run calls f again and again while it searches, and several vps may call f at
 * once. f returns true if it has made a thread ready. f runs in no thread, on a stack of the library's, and may not
 * wait. */
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
    /* puts the caller behind its vp's other ready threads; returns false if there are none, or if the caller may not
     * switch */
    bool (*yield)(void);
    /* returns true if the caller should not spin: its vp has other ready threads, or the user wants no spinning */
    bool (*has_others)(void);
    void (*poll_by)(bool (*poll)(void));
    /* Makes the calling thread dedicated (dedicated.h). Then it may block its kernel thread, since no other thread
     * needs that kernel thread's vp. Returns false if that is not possible. */
    bool (*apart)(void);
    /* Registers fn; there is one such function at a time. fn(p) is called for each shared object that is loaded from
     * then on, before the object's constructors run. p is an address in the object's code. The caller of fn holds the
     * dynamic linker's lock (identity/loader.c). */
    void (*objects_by)(void (*fn)(const void *code));
    unsigned (*vp)(void); /* the number of the vp that the calling kernel thread carries, or PS_LAYER_NO_VP */
    /* Registers fn, which the scheduler calls at its events (watch.h); there is one such function at a time. NULL: no
     * function is called any more. For a short while, vps may still call the function that was registered before. */
    void (*watch_by)(ps_watch_fn fn);
};
#define PS_LAYER_NO_VP (~0U)
extern const struct ps_layer ps_layer;

/* The function that was registered by poll_by, or NULL. Vps that search call it (search.c). */
extern _Atomic(bool (*)(void)) ps_layer_poll;
/* The function that was registered by objects_by, or NULL. identity/loader.c calls it. */
extern _Atomic(void (*)(const void *code)) ps_layer_object;

#endif
