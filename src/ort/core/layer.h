/* What layers over foreign interfaces need of the core. src/mpi: that a task is complete only when something outside of
 * the program has come, too. src/pools: regions for the jobs of other libraries.
 *
 * Found in the process as `ort_layer`, in a drop-in. The table's layout stays; new entries go to its end.
 *   hold     The calling task does not complete before one release more. NULL: the caller is in no explicit task that
 *            can be left so (an implicit one, one that its creator waits for, one outside of every region). The layer
 *            has to wait itself then.
 *   release  Takes back what hold returned, once for each. Any kernel thread may call it, and becomes one that the
 *            runtime knows; but not where no thread runs (psthreads/data/layer.h, poll_by).
 *   in_order Whether a member that is in no explicit task runs its tasks in the order of their making. As a rule the
 *            task that was made last goes first, which is cheaper. But tasks may wait for one another outside of the
 *            program (a message's sender and its receiver). A program that works under libgomp relies on libgomp's
 *            order then: with two threads, two receivers would wait for senders that no thread is left to run.
 *   run      Runs job(data, id) for each id below n, and returns when all have returned. A region of n members: jobs
 *            may wait for one another, as often and as long as they like. The program's limits on regions (levels,
 *            threads, dyn-var) do not count. From any thread, in any region; n > 0. [switches]
 *   num_vps  How many virtual processors there are. Starts the runtime where it has not begun.
 *   bodies   A tool is told from now on where the bodies of regions and tasks are, as their places, instead of where
 *            they were called: ort_tool_place. For the recorder (src/trace), which shows source lines. */
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
    unsigned (*num_vps)(void); /* starts the runtime */
    void (*bodies)(void);
};
extern const struct ort_layer ort_layer;

#endif
