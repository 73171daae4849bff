/* The table that the core exports for layers over foreign interfaces. src/mpi lets a task complete only when its
 * message has come. src/pools runs the jobs of other libraries as regions. src/trace names constructs by the addresses
 * of their bodies.
 *
 * A layer finds the table in the process by the symbol `ort_layer` of a drop-in. The layout stays; new entries go to
 * its end. `bytes` is the table's size, by which a layer sees which entries there are.
 *   hold     The calling task completes only after one further release. Returns the handle for that release. Returns
 *            NULL if the caller's task cannot be held: it is implicit, undeferred, final, or outside of every region.
 *            The layer must then wait by itself.
 *   release  Ends one hold; called once for each hold. Any kernel thread may call it; one that is no OpenMP thread yet
 *            becomes a root. Exception: a function that poll_by calls (psthreads/data/layer.h) may not call it.
 *   in_order true: a member that is in no explicit task runs its tasks in the order in which they were made. By
 *            default the task that was made last runs first, which is cheaper. But tasks may wait for one another
 *            outside of the program, as a message's sender and its receiver do. A program that works under libgomp
 *            relies on libgomp's order: with two threads, two receivers would otherwise run first and wait for
 *            senders that no thread is left to run.
 *   run      Runs job(data, id) for each id below n, and returns when all have returned. The jobs are the members of a
 *            region, so they may wait for one another. The program's limits on regions (levels, threads, dyn-var) do
 *            not apply. If memory or the system gives fewer than n members, a member runs several jobs in turn.
 *            Callable from any thread, in any region; n > 0. [switches]
 *   num_vps  Returns the number of virtual processors. Starts the runtime if it has not begun.
 *   bodies   From now on a tool is told, as a construct's place, where its body is, not where it was called
 *            (ort_tool_place). For the recorder (src/trace), which shows source lines. */
#ifndef PS_ORT_LAYER_H
#define PS_ORT_LAYER_H

#include <stdbool.h>
#include <stddef.h>

struct ort_layer {
    size_t bytes;
    void *(*hold)(void);
    void (*release)(void *task);
    void (*in_order)(bool yes);
    void (*run)(unsigned n, void (*job)(void *data, unsigned id), void *data);
    unsigned (*num_vps)(void);
    void (*bodies)(void);
};
extern const struct ort_layer ort_layer;

#endif
