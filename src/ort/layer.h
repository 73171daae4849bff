/* What a layer over somebody else's interface (src/mpi) needs of tasks: that a task is complete only when something
 * outside of the program has come, too.
 *
 * Found in the process as `ort_layer`, in a drop-in. The table's layout stays; new entries go to its end.
 *   hold     the calling task shall not complete before one release more; NULL: the caller is in no explicit task
 *   that can be left so (an
 *            implicit one, one that its creator waits for, one outside of every region): the layer has to wait itself
 *   release  of what hold returned, once for each; from any kernel thread, which becomes one of the program's that
 *   the runtime knows; not where no
 *            thread runs (psthreads/layer.h, poll_by)
 *   in_order whether a member that is in no explicit task runs its tasks in the order of their making. As a rule the
 *   last one made goes first, which is
 *            cheaper; but where tasks wait for one another outside of the program (a message's sender and its
 *            receiver), a program that works under libgomp relies on its order without knowing: with two threads, two
 *            receivers would wait for senders that nobody is left to run */
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
