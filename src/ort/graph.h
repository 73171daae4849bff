/* Graphs of tasks: what a task creates is recorded once; replays submit tasks in the recorded order of their
 * dependences, without asking for addresses again.
 *
 * Does: finds the order of a record's tasks, and links a replay's tasks accordingly. Does not know what a task is: each
 * replay brings its tasks, in the record's order. Does not record: an entry point does, while ORT_TASK_RECORDS is set
 * in the task that creates. Does not wait for a replay's end: its maker does, in a taskgroup.
 * Callers: a member on its own behalf. A graph is never changed once it is made: any number of replays may go on at
 * once, each with nodes of its own.
 *
 * A replay: start -> submit, each task in turn -> all complete -> end. At the start every node misses its predecessors
 * and one unit more, its maker's. Submitting takes the maker's unit away. The thread that brings `missing` to zero
 * makes the task ready.
 *
 * Shared fields    written by                                    read by
 *   spare          the end of a replay (CAS, release)            the start of one (exchange, acquire)
 *   a node's task  the maker, before its own decrement           the thread that brings `missing` to zero, after that
 *   missing        maker and finishers (depend.c)
 * Ordering: `missing` is decreased sequentially consistent, so that the last decrement has seen the maker's write of
 * `task`, and a task begins behind its predecessors. The nodes of an ended replay are written anew by the next one
 * only: its tasks are complete, and a task is through with its node before it is (ort_task_complete).
 * Failures: no memory for a replay: NULL, the caller creates the tasks anew. Cost: for each task an atomic decrement,
 * and one for each recorded predecessor; no lock.
 * Rejected: to keep the descriptors (libomp): replays at the same time would need others, and bodies change their
 * private copies. Rejected: to record the predecessors that the first run met: those that had finished would be
 * missing.
 * OpenMP 6.0 section 14.3 (taskgraph). */
#ifndef PS_ORT_GRAPH_H
#define PS_ORT_GRAPH_H

#include "ort.h"

struct ort_graph;
struct ort_graph_play;

/* Of n tasks with these lists of dependences (one without any has n 0), in the order of their creation. NULL: no
 * memory. */
struct ort_graph *ort_graph_new(struct ort_thread *thread, unsigned n, const struct ort_depend_list *lists);
/* One that was never started; NULL: nothing. */
void ort_graph_free(struct ort_graph *graph);

/* NULL: no memory. */
struct ort_graph_play *ort_graph_start(struct ort_thread *thread, struct ort_graph *graph);
/* Number i's turn: t is made as for ort_task_submit; args: without depend. [switches] */
void ort_graph_submit(struct ort_thread *thread, struct ort_graph_play *play, unsigned i, struct ort_task *t,
                      const struct ort_task_args *args);
/* All of its tasks are complete. */
void ort_graph_end(struct ort_graph *graph, struct ort_graph_play *play);

/* The thread's task has done something that a record of its children cannot show again. */
static inline void ort_graph_spoil(struct ort_thread *thread) { thread->task->flags &= (uint16_t)~ORT_TASK_RECORDS; }

/* Between graph.c and task_create.c. Waits in place for what comes before node's task. [switches] */
void ort_graph_wait(struct ort_thread *thread, struct ort_depend_node *node);
/* True: t, which is node's task, may begin. False: the thread that completes its last predecessor queues it. */
bool ort_graph_ready(struct ort_depend_node *node, struct ort_task *t);

#endif
