/* Arrows of a timeline: from where a task is made to where it begins, and from the end of a task to the begin of one
 * that waited for it. An arrow has both ends or is not drawn: Perfetto takes the half of one for an error. */
#ifndef PS_REPORT_TIMELINE_ARROWS_H
#define PS_REPORT_TIMELINE_ARROWS_H

#include "id_table.h"
#include "trace_writer.h"

struct arrows {
    struct id_table open;     /* tasks whose begin the recording does not have, though it has their making */
    struct id_table made;     /* the second reading: those on their way from their making to their begin */
    struct id_table earlier;  /* by task that comes first: struct dependents */
    struct id_table arriving; /* by task that waits: struct arrivals */
    uint64_t num;
};

/* The first reading. */
void arrows_see_making(struct arrows *a, uint64_t task);
void arrows_see_begin(struct arrows *a, uint64_t task);
/* The second reading. Adds the arrow that begins where the task is made to the event's flows. */
void arrows_task_made(struct arrows *a, uint64_t task, struct trace_event *e);
void arrows_dependence(struct arrows *a, uint64_t first, uint64_t second);
/* Adds the arrows that begin where this task ends to the event's flows. */
void arrows_task_ends(struct arrows *a, uint64_t task, struct trace_event *e);
/* Adds the arrows that end where this task begins to the event's ends. */
void arrows_task_begins(struct arrows *a, uint64_t task, struct trace_event *e);
void arrows_free(struct arrows *a);

#endif
