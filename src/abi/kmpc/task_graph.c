/* LLVM entry points: graphs of tasks that are recorded once and replayed (LLVM 18 and later, -fopenmp-taskgraph or
 * calls by hand).
 *
 * Compiled code asks at a taskgraph whether to run its body. start_record answers 1 the first time, and what the task
 * does until end_record is recorded. From then on start_record submits the recorded tasks itself and answers 0. Either
 * way the construct is a taskgroup. What is recorded: tasks with their data as it is when they are submitted, taskloops
 * as the tasks they became, taskwait, taskgroup, task reductions. Only what the task does that opened the graph: what
 * its tasks create is created by their bodies at each replay.
 * A graph is known by its number and the place in the source, for parts of a program count from 0 each (libomp knows
 * the number alone).
 *
 * States of a graph: RECORDING (by the thread that put it into the table) -> READY or ANEW. A graph becomes ANEW if it
 * has something that cannot be replayed: a task with an event or destructors (its copies are gone after the first run),
 * a cancellation, or tasks of the GNU compilers' entry points. A graph that the program wants recorded again becomes
 * ANEW too, because other threads may be in the middle of it. In any state but READY the body runs, which is always
 * right. The body also runs where a tool listens, and for a graph inside of one that is being recorded: the outer graph
 * then has its tasks. At a replay, tasks with dependences wait for what came before the graph; a waiting for
 * dependences is one for all.
 *
 * Shared fields      written by                                                   read by
 *   table            the thread that adds a graph (compare-and-swap, release)     any thread (acquire)
 *   state            READY: the recording thread (compare-and-swap, release)      any thread (acquire): then the steps
 *                                                                                 and their order are whole
 *                    ANEW: any thread, from any state, for ever
 *   a graph's rest   the recording thread, before READY                           any thread, after READY
 *   a run            the thread that opened it
 * Failures: no memory for a record or a replay: the body runs; for a run: aborts with one line. Cost of a replay:
 * graph.h, and a copy of each task's data.
 * Rejected: to replay the descriptors themselves, as libomp does: see graph.h. Graphs are never freed. Not here:
 * libomp's limit on their number and its picture of them (KMP_MAX_TDGS, KMP_TDG_DOT). OpenMP 6.0 section 14.3. */
#include <stdlib.h>
#include <string.h>

#include "emergency_pool.h"
#include "kmpc_task.h"

enum { RE_RECORD = 2 }; /* kmp_taskgraph_flags_t; 1, nowait, is not looked at by libomp either: the end waits */
enum state { RECORDING, READY, ANEW };

struct step {
    enum kmpc_step kind;
    union {
        struct kmpc_task_head *model; /* a copy */
        const struct kmpc_reduction *reduction;
    };
    size_t bytes, shareds_at; /* of the copy; where in its kmp_task_t, 0: there are none */
    struct ort_task_args args;
    size_t first, depends; /* of the graph's dependences */
};

struct graph {
    struct graph *next; /* in its list of the table */
    int32_t id;
    const void *at;
    _Atomic uint32_t state;
    unsigned n, capacity, tasks;
    struct step *steps;
    size_t n_all, capacity_all; /* dependences of all tasks */
    struct ort_depend *all;
    struct ort_graph *order; /* of all tasks, as their steps come */
};

/* Between start and end. */
struct kmpc_graph_run {
    struct kmpc_graph_run *outer;
    struct ort_task *task;
    struct graph *graph;
    bool records;
    struct ort_graph_play *play; /* NULL: the body runs */
};

#define LISTS 64
static _Atomic(struct graph *) table[LISTS];

/* --- the table --- */

/* *mine: the caller has put it there, to record it. NULL: no memory. */
static struct graph *find_graph(int32_t id, const void *at, bool *mine)
{
    _Atomic(struct graph *) *list = &table[((uint32_t)id + ((uintptr_t)at >> 4)) % LISTS];
    struct graph *added = NULL, *first = ps_load_acquire(list);
    for (*mine = false;;) {
        for (struct graph *g = first; g != NULL; g = g->next)
            if (g->id == id && g->at == at) {
                free(added);
                return g;
            }
        if (added == NULL && (added = calloc(1, sizeof *added)) == NULL)
            return NULL;
        *added = (struct graph){.next = first, .id = id, .at = at, .state = RECORDING};
        if (ps_cas_acq_rel(list, &first, added)) {
            *mine = true;
            return added;
        }
    }
}

/* --- recording --- */

static struct graph *recorded(struct ort_thread *t)
{
    struct kmpc_graph_run *run = kmpc_thread(t)->graphs;
    while (!run->records || run->task != t->task)
        run = run->outer;
    return run->graph;
}

/* Room for one more, in an array that doubles. */
static bool grow_array(void **array, size_t n, size_t *capacity, size_t bytes)
{
    if (n < *capacity)
        return true;
    size_t more = *capacity == 0 ? 16 : 2 * *capacity;
    void *p = realloc(*array, more * bytes);
    if (p == NULL)
        return false;
    *array = p;
    *capacity = more;
    return true;
}

/* NULL: no memory; nothing is recorded any more. */
static struct step *add_step(struct ort_thread *t, struct graph *g, enum kmpc_step kind)
{
    size_t capacity = g->capacity;
    void *steps = g->steps;
    bool room = grow_array(&steps, g->n, &capacity, sizeof *g->steps);
    g->steps = steps;
    g->capacity = (unsigned)capacity;
    if (!room) {
        ort_graph_spoil(t);
        return NULL;
    }
    struct step *s = &g->steps[g->n++];
    *s = (struct step){.kind = kind};
    return s;
}

void kmpc_record_step(struct ort_thread *t, enum kmpc_step step, const struct kmpc_reduction *reduction)
{
    struct step *s = add_step(t, recorded(t), step);
    if (s != NULL)
        s->reduction = reduction;
}

/* As in a task (kmpc_task_new): the shared variables' block behind what compiled code has written. */
static struct kmpc_task_head *keep_task_data(struct step *s, const struct kmpc_task_head *head)
{
    const void *shareds = head->task.shareds;
    size_t before = offsetof(struct kmpc_task_head, task), at = (head->bytes + 15) & ~(size_t)15;
    s->bytes = (before + (shareds != NULL ? at + head->shareds_bytes : head->bytes) + 7) & ~(size_t)7;
    struct kmpc_task_head *model = aligned_alloc(16, (s->bytes + 15) & ~(size_t)15);
    if (model == NULL)
        return NULL;
    memset(model, 0, s->bytes);
    memcpy(model, head, before + head->bytes);
    if (shareds != NULL) {
        s->shareds_at = at;
        memcpy((char *)&model->task + at, shareds, head->shareds_bytes);
    }
    return model;
}

static bool keep_depends(struct graph *g, struct step *s, const struct ort_depend_list *depend)
{
    s->first = g->n_all;
    for (size_t i = 0; depend != NULL && i < depend->n; i++) {
        void *all = g->all;
        bool room = grow_array(&all, g->n_all, &g->capacity_all, sizeof *g->all);
        g->all = all;
        if (!room)
            return false;
        g->all[g->n_all++] = depend->get(depend->list, i);
        s->depends++;
    }
    return true;
}

void kmpc_record_task(struct ort_thread *t, const struct kmpc_task_head *head, const struct ort_depend_list *depend,
                      bool undeferred)
{
    const int32_t once = KMPC_TASK_DESTRUCTORS | KMPC_TASK_PROXY | KMPC_TASK_DETACHABLE;
    struct graph *g = recorded(t);
    struct step *s =
        (head->flags & KMPC_TASK_HAS_EVENT) || (head->flags & once) ? NULL : add_step(t, g, KMPC_STEP_TASK);
    if (s == NULL || (s->model = keep_task_data(s, head)) == NULL || !keep_depends(g, s, depend)) {
        ort_graph_spoil(t);
        return;
    }
    s->args = kmpc_task_args(t, head);
    if (undeferred)
        s->args.flags |= ORT_TASK_UNDEFERRED;
    g->tasks++;
}

static struct ort_depend recorded_depend_at(const void *list, size_t i) { return ((const struct ort_depend *)list)[i]; }

/* The order of the graph's tasks; false: no memory. */
static bool find_order(struct ort_thread *t, struct graph *g)
{
    struct ort_depend_list *lists = calloc(g->tasks + 1, sizeof *lists);
    if (lists == NULL)
        return false;
    unsigned n = 0;
    for (unsigned i = 0; i < g->n; i++) {
        const struct step *s = &g->steps[i];
        if (s->kind == KMPC_STEP_TASK)
            lists[n++] =
                (struct ort_depend_list){.n = s->depends, .get = recorded_depend_at, .list = g->all + s->first};
    }
    g->order = ort_graph_new(t, n, lists);
    free(lists);
    return g->order != NULL;
}

/* The graph will not be replayed; what tasks may still name (reductions) stays. */
static void forget(struct graph *g)
{
    for (unsigned i = 0; i < g->n; i++)
        if (g->steps[i].kind == KMPC_STEP_TASK)
            free(g->steps[i].model);
    free(g->steps);
    free(g->all);
    ort_graph_free(g->order);
    g->order = NULL;
    g->steps = NULL;
    g->all = NULL;
    g->n = 0;
}

static void end_recording(struct ort_thread *t, struct graph *g, bool whole)
{
    uint32_t state = RECORDING;
    if (whole && find_order(t, g) && ps_cas_release(&g->state, &state, READY))
        return;
    ps_store_release(&g->state, ANEW);
    forget(g);
}

/* --- replaying --- */

/* Tasks from before the graph that its tasks depend on. */
static void wait_outside(struct ort_thread *t, const struct graph *g)
{
    struct ort_depend_list list = {.n = g->n_all, .get = recorded_depend_at, .list = g->all};
    if (g->n_all > 0 && t->task->count.own + ps_load_acquire(&t->task->count.others) != 0)
        ort_taskwait_depend(t, &list);
}

/* Some words: what memcpy and a call cost is more. */
static inline void copy_words(void *to, const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
        memcpy((char *)to + i, (const char *)from + i, sizeof(uint64_t));
        __asm__("" : "+r"(i));
    }
}

static inline void replay_task(struct ort_thread *t, struct ort_graph_play *play, const struct step *s, unsigned number)
{
    struct ort_task *core = ort_task_new(t, s->bytes, 16);
    struct kmpc_task_head *head = core->data;
    copy_words(head, s->model, s->bytes);
    head->core = core;
    if (s->shareds_at != 0)
        head->task.shareds = (char *)&head->task + s->shareds_at;
    ort_graph_submit(t, play, number, core, &s->args);
}

static void replay(struct ort_thread *t, const struct graph *g, struct ort_graph_play *play)
{
    unsigned number = 0;
    wait_outside(t, g);
    for (unsigned i = 0; i < g->n; i++) {
        const struct step *s = &g->steps[i];
        switch (s->kind) {
        case KMPC_STEP_TASK:
            replay_task(t, play, s, number++);
            break;
        case KMPC_STEP_WAIT:
            ort_taskwait(t);
            break;
        case KMPC_STEP_GROUP:
            ort_taskgroup_start(t);
            break;
        case KMPC_STEP_GROUP_END:
            kmpc_taskgroup_end(t);
            break;
        case KMPC_STEP_REDUCTION:
            kmpc_reduction_again(s->reduction);
            break;
        }
    }
}

/* --- entry points --- */

static struct kmpc_graph_run *open_run(struct ort_thread *t)
{
    struct kmpc_thread *k = kmpc_thread(t);
    struct kmpc_graph_run *run = ort_mem_get(sizeof *run);
    PS_CHECK(run != NULL, "out of memory for a graph of tasks");
    *run = (struct kmpc_graph_run){.outer = k->graphs, .task = t->task};
    k->graphs = run;
    return run;
}

/* 1: the body is to be run. */
PS_EXPORT int32_t __kmpc_start_record_task(struct kmpc_location *at, int32_t gtid, int32_t flags, int32_t id)
{
    void __kmpc_taskgroup(struct kmpc_location *, int32_t);
    __kmpc_taskgroup(at, gtid);
    struct ort_thread *t = ort_self();
    if (ort_tool_on())
        return 1;
    struct kmpc_graph_run *run = open_run(t);
    bool mine;
    if (kmpc_records(t) || (run->graph = find_graph(id, at, &mine)) == NULL)
        return 1;
    if (mine) {
        run->records = true;
        t->task->flags |= ORT_TASK_RECORDS;
        return 1;
    }
    if (flags & RE_RECORD)
        ps_store_release(&run->graph->state, ANEW);
    if (ps_load_acquire(&run->graph->state) == READY)
        run->play = ort_graph_start(t, run->graph->order);
    if (run->play == NULL)
        return 1;
    replay(t, run->graph, run->play);
    return 0;
}

PS_EXPORT void __kmpc_end_record_task(struct kmpc_location *at, int32_t gtid, PS_UNUSED int32_t flags,
                                      PS_UNUSED int32_t id)
{
    void __kmpc_end_taskgroup(struct kmpc_location *, int32_t);
    struct ort_thread *t = ort_self();
    struct kmpc_thread *k = kmpc_thread(t);
    struct kmpc_graph_run *run = k->graphs;
    if (run == NULL || run->task != t->task) { /* a tool listens, or there was no start */
        __kmpc_end_taskgroup(at, gtid);
        return;
    }
    bool whole = t->task->flags & ORT_TASK_RECORDS;
    if (run->records)
        ort_graph_spoil(t);
    __kmpc_end_taskgroup(at, gtid);
    k->graphs = run->outer;
    if (run->records)
        end_recording(t, run->graph, whole);
    if (run->play != NULL)
        ort_graph_end(run->graph->order, run->play);
    ort_mem_free(run);
}
