/* Arrows of a timeline: from where a task is made to where it begins, and from the end of a task to the begin of a task
 * that waited for it. An arrow is drawn only if both ends are in the recording: Perfetto reports half an arrow as an
 * error. */
#ifndef PS_REPORT_TIMELINE_ARROWS_H
#define PS_REPORT_TIMELINE_ARROWS_H

#include "id_table.h"
#include "trace_writer.h"

struct arrows {
    struct id_table open;     /* tasks that the recording shows being made, but not beginning */
    struct id_table made;     /* second reading: tasks that were made and have not begun */
    struct id_table earlier;  /* struct dependents, by the id of the task that comes first */
    struct id_table arriving; /* struct arrivals, by the id of the task that waits */
    uint64_t num;
};

/* First reading of the events. */
void arrows_see_making(struct arrows *a, uint64_t task);
void arrows_see_begin(struct arrows *a, uint64_t task);
/* Second reading. arrows_task_made adds the arrow that begins where the task is made to the event's flows. */
void arrows_task_made(struct arrows *a, uint64_t task, struct trace_event *e);
void arrows_dependence(struct arrows *a, uint64_t first, uint64_t second); /* `second` waits for `first` */
/* Adds the arrows that begin where this task ends to the event's flows. */
void arrows_task_ends(struct arrows *a, uint64_t task, struct trace_event *e);
/* Adds the arrows that end where this task begins to the event's ends. */
void arrows_task_begins(struct arrows *a, uint64_t task, struct trace_event *e);
void arrows_free(struct arrows *a);

#endif
