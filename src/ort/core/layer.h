/* What a layer over a foreign interface (src/mpi) needs of tasks: that a task is complete only when something outside
 * of the program has come, too.
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
 *            order then: with two threads, two receivers would wait for senders that no thread is left to run. */
#ifndef PS_ORT_LAYER_H
#define PS_ORT_LAYER_H

#include <stdbool.h>
#include <stddef.h>

struct ort_layer {
    size_t bytes;
    void *(*hold)(void);
    void (*release)(void *task);
    void (*in_order)(bool yes);
};
extern const struct ort_layer ort_layer;

#endif
