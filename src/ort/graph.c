/* Graphs of tasks: graph.h. The order is kept as numbers: `first[i]` to `first[i + 1]` in `successor` are those of task
 * i. */
#include "graph.h"

#include <stdlib.h>

#include "depend_node.h"
#include "race.h"

struct ort_graph {
    unsigned n;
    _Atomic(struct ort_graph_play *) spare; /* of an ended replay */
    unsigned *missing;                      /* [n] predecessors */
    unsigned *first;                        /* [n + 1] */
    unsigned *successor;
};

struct ort_graph_play {
    struct ort_graph *graph;
    struct ort_depend_node **successors; /* behind the nodes */
    struct ort_depend_node nodes[];      /* [n] */
};

/* --- a graph --- */

static size_t count_edges(unsigned n, struct ort_depend_node *const *nodes)
{
    size_t edges = 0;
    for (unsigned i = 0; i < n; i++)
        edges += nodes[i] ? nodes[i]->n : 0;
    return edges;
}

static void copy_edges(struct ort_graph *graph, struct ort_depend_node *const *nodes)
{
    unsigned at = 0;
    for (unsigned i = 0; i < graph->n; i++) {
        graph->first[i] = at;
        for (unsigned k = 0; nodes[i] && k < nodes[i]->n; k++) {
            unsigned successor = (unsigned)nodes[i]->successors[k]->number;
            graph->successor[at++] = successor;
            graph->missing[successor]++;
        }
    }
    graph->first[graph->n] = at;
}

struct ort_graph *ort_graph_new(struct ort_thread *thread, unsigned n, const struct ort_depend_list *lists)
{
    struct ort_depend_node **nodes = malloc((n ? n : 1) * sizeof(struct ort_depend_node *));
    if (!nodes)
        return NULL;
    ort_depend_link_all(thread, n, lists, nodes);
    size_t words = (size_t)n + n + 1 + count_edges(n, nodes);
    struct ort_graph *graph = calloc(1, sizeof *graph + words * sizeof(unsigned));
    if (graph) {
        graph->n = n;
        graph->missing = (unsigned *)(graph + 1);
        graph->first = graph->missing + n;
        graph->successor = graph->first + n + 1;
        copy_edges(graph, nodes);
    }
    for (unsigned i = 0; i < n; i++)
        ort_depend_drop(thread, nodes[i]);
    free(nodes);
    return graph;
}

void ort_graph_free(struct ort_graph *graph) { free(graph); }

/* --- a replay --- */

static struct ort_graph_play *new_play(struct ort_graph *graph)
{
    unsigned n = graph->n, edges = graph->first[n];
    struct ort_graph_play *play =
        calloc(1, sizeof *play + n * sizeof(struct ort_depend_node) + edges * sizeof(struct ort_depend_node *));
    if (!play)
        return NULL;
    play->graph = graph;
    play->successors = (struct ort_depend_node **)(void *)(play->nodes + n);
    for (unsigned i = 0; i < edges; i++)
        play->successors[i] = &play->nodes[graph->successor[i]];
    for (unsigned i = 0; i < n; i++) {
        struct ort_depend_node *node = &play->nodes[i];
        ps_spin_init(&node->lock);
        ps_store_relaxed(&node->refs, 1);
        node->replayed = true;
        node->successors = play->successors + graph->first[i];
        node->n = node->capacity = graph->first[i + 1] - graph->first[i];
    }
    return play;
}

struct ort_graph_play *ort_graph_start(struct ort_thread *thread, struct ort_graph *graph)
{
    struct ort_graph_play *play = ps_xchg_acquire(&graph->spare, NULL);
    bool edges = graph->first[graph->n] != 0; /* else no code looks at a node */
    if (!play && !(play = new_play(graph)))
        return NULL;
    for (unsigned i = 0; edges && i < graph->n; i++) {
        struct ort_depend_node *node = &play->nodes[i];
        ps_store_relaxed(&node->missing, graph->missing[i] + 1);
        node->team = thread->team;
        node->task = NULL;
    }
    return play;
}

void ort_graph_submit(struct ort_thread *thread, struct ort_graph_play *play, unsigned i, struct ort_task *t,
                      const struct ort_task_args *args)
{
    struct ort_depend_node *node = &play->nodes[i];
    if (node->n != 0 || play->graph->missing[i] != 0)
        ort_task_submit_linked(thread, t, args, node);
    else if ((args->flags & ~(unsigned)ORT_TASK_UNTIED) || args->priority != 0 ||
             !ort_task_submit_fast(thread, t, args->fn, args->flags))
        ort_task_submit(thread, t, args);
}

void ort_graph_wait(struct ort_thread *thread, struct ort_depend_node *node)
{
    if (ps_sub_seq(&node->missing, 1) != 1)
        ort_task_wait(thread, &(struct ort_wait){.kind = ORT_WAIT_NODE, .object = node, .within = thread->task});
}

bool ort_graph_ready(struct ort_depend_node *node, struct ort_task *t)
{
    node->task = t;
    return ps_sub_seq(&node->missing, 1) == 1;
}

static void free_play(struct ort_graph_play *play)
{
    for (unsigned i = 0; i < play->graph->n; i++)
        free(play->nodes[i].shown);
    ps_race_free(play);
}

void ort_graph_end(struct ort_graph *graph, struct ort_graph_play *play)
{
    struct ort_graph_play *none = NULL;
    if (!ps_cas_release(&graph->spare, &none, play))
        free_play(play);
}
