/* Ranges: one descriptor for many tasks of a taskloop. See task_range.c. */
#ifndef PS_ORT_TASK_RANGE_H
#define PS_ORT_TASK_RANGE_H

#include "task_internal.h"

/* The n chunks of a loop that no task has taken yet. The first chunk begins at the value `from`. Each chunk has
 * `iterations` iterations, and the first `longer` chunks have one more. All chunks together have `left`, so the last
 * chunk may have fewer. */
struct ort_chunks {
    uint64_t n, from, step;
    uint64_t iterations, longer, left;
};

/* Takes the next chunk out of c, and writes its two bounds to data. */
static inline void ort_chunk_next(struct ort_chunks *c, void *data)
{
    uint64_t *bounds = data, count = c->iterations;
    if (c->longer > 0) {
        c->longer--;
        count++;
    }
    if (count > c->left)
        count = c->left;
    c->left -= count;
    c->n--;
    bounds[0] = c->from;
    bounds[1] = c->from += count * c->step;
}

/* Takes chunks, and calls fn(data) as a task for each, at least for one (task_call.c). Returns when no chunk is left,
 * when a thief has stolen from the caller's deque, or when a task has left something behind (task_frame.h). Without a
 * frame returns after one chunk. Tasks must not be traced. [switches] */
void ort_task_call_chunks(struct ort_thread *thread, void (*fn)(void *), void *data, unsigned flags,
                          struct ort_chunks *chunks);

/* Makes and queues one descriptor for the tasks of all these chunks, as args says; or runs the tasks at once, if the
 * team has one member or tasks are undeferred now. Each task's data begins with two bounds, which are filled in. (Tasks
 * that run at once use args->data itself.) False: nothing was done, and the caller must make the tasks one by one.
 * [switches] */
bool ort_task_range(struct ort_thread *thread, const struct ort_task_args *args, const struct ort_chunks *chunks,
                    bool nogroup);

#endif
