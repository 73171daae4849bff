/* Arrows: see timeline_arrows.h. The arrow from a task's making has the task's number; that of a dependence a new
 * number. */
#include "timeline_arrows.h"

#include "memory.h"

#define DEPENDENCE_FLOW (UINT64_C(1) << 63)

/* The tasks that wait for one task. */
struct dependents {
    unsigned num;
    uint64_t task[];
};

/* The arrows that will end at a task which has not begun. */
struct arrivals {
    unsigned num;
    uint64_t flow[TRACE_MOST_FLOWS - 1]; /* its last place is for the arrow from the task's making */
};

static char present; /* `open` and `made` are sets: each id in them has this variable's address as its value */

void arrows_see_making(struct arrows *a, uint64_t task) { id_table_put(&a->open, task, &present); }
void arrows_see_begin(struct arrows *a, uint64_t task) { id_table_take(&a->open, task); }

void arrows_task_made(struct arrows *a, uint64_t task, struct trace_event *e)
{
    if (id_table_get(&a->open, task))
        return;
    id_table_put(&a->made, task, &present);
    e->flow[e->num_flows++] = task;
}

void arrows_dependence(struct arrows *a, uint64_t first, uint64_t second)
{
    if (!id_table_get(&a->made, second))
        return;
    struct dependents *d = id_table_get(&a->earlier, first);
    unsigned num = d ? d->num : 0;
    if ((num & (num - 1)) == 0) { /* num is 0 or a power of two: d is full */
        d = memory_more(d, sizeof *d + 2 * (num + 1) * sizeof *d->task);
        id_table_put(&a->earlier, first, d);
    }
    d->task[num] = second;
    d->num = num + 1;
    if (!id_table_get(&a->arriving, second))
        id_table_put(&a->arriving, second, memory_new(1, sizeof(struct arrivals)));
}

void arrows_task_ends(struct arrows *a, uint64_t task, struct trace_event *e)
{
    struct dependents *d = id_table_take(&a->earlier, task);
    for (unsigned i = 0; d && i < d->num && e->num_flows < TRACE_MOST_FLOWS; i++) {
        struct arrivals *to = id_table_get(&a->arriving, d->task[i]);
        if (!to || to->num == TRACE_MOST_FLOWS - 1)
            continue;
        uint64_t flow = DEPENDENCE_FLOW | ++a->num;
        e->flow[e->num_flows++] = flow;
        to->flow[to->num++] = flow;
    }
    free(d);
}

void arrows_task_begins(struct arrows *a, uint64_t task, struct trace_event *e)
{
    if (id_table_take(&a->made, task))
        e->end[e->num_ends++] = task;
    struct arrivals *from = id_table_take(&a->arriving, task);
    for (unsigned i = 0; from && i < from->num; i++)
        e->end[e->num_ends++] = from->flow[i];
    free(from);
}

void arrows_free(struct arrows *a)
{
    for (size_t i = 0; i < a->earlier.capacity; i++)
        free(a->earlier.entry[i].value);
    for (size_t i = 0; i < a->arriving.capacity; i++)
        free(a->arriving.entry[i].value);
    id_table_free(&a->earlier);
    id_table_free(&a->arriving);
    id_table_free(&a->open);
    id_table_free(&a->made);
}
