/* Writes Perfetto's trace format (perfetto.proto), packet by packet: it keeps only the names.
 *
 * The caller numbers the tracks; number 0 is the process. Each track is a sequence of packets of its own. The caller
 * sees to it that the times of a track's packets do not decrease. Each name, place, category and word for a note is
 * written once for each track that uses it. */
#ifndef PS_REPORT_TRACE_WRITER_H
#define PS_REPORT_TRACE_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "places.h"

enum trace_category {
    TRACE_REGION = 1,
    TRACE_MEMBER,
    TRACE_TASK,
    TRACE_WAIT,
    TRACE_LOOP,
    TRACE_SCHED,
    TRACE_RECORDING,
    TRACE_CATEGORIES
};

/* Facts about an event besides its name. */
enum trace_note {
    TRACE_ID = 1,
    TRACE_REGION_ID,
    TRACE_THREADS,
    TRACE_MEMBER_NUMBER,
    TRACE_ITERATIONS,
    TRACE_VICTIM,
    TRACE_DISTANCE,
    TRACE_LOCK,
    TRACE_RESUMED,
    TRACE_VP,
    TRACE_MS,
    TRACE_EVENTS,
    TRACE_LOST,
    TRACE_VPS,
    TRACE_PROCESSORS,
    TRACE_VERSION,
    TRACE_COMMAND,
    TRACE_WALL_NS,
    TRACE_RANK,
    TRACE_MPI_INIT_NS,
    TRACE_NOTES
};

#define TRACE_MOST_NOTES 10
#define TRACE_MOST_FLOWS 64 /* arrows of one event; further ones are left out */

struct trace_event {
    enum trace_category category;
    uint64_t name;             /* a number from trace_writer_name */
    const struct place *place; /* NULL: none */
    unsigned code;             /* the number of the place */
    unsigned num_notes, num_flows, num_ends;
    struct {
        enum trace_note note;
        uint64_t number;
        const char *text; /* NULL: the number is written; otherwise this text */
    } note[TRACE_MOST_NOTES];
    uint64_t flow[TRACE_MOST_FLOWS]; /* arrows that begin here */
    uint64_t end[TRACE_MOST_FLOWS];  /* arrows that end here */
};

struct trace_writer;

/* tracks: number of tracks, including the process. */
struct trace_writer *trace_writer_new(FILE *out, unsigned tracks);
void trace_writer_free(struct trace_writer *w);

void trace_writer_process(struct trace_writer *w, uint64_t ns, int pid, const char *command);
/* tid: the kernel thread's number; 0: unknown, then a number is written that no thread has. */
void trace_writer_track(struct trace_writer *w, unsigned track, uint64_t ns, const char *name, int64_t tid);

/* Returns the number of the name with this key. If it is new, it is made with this text; text NULL: returns 0
 * instead. */
uint64_t trace_writer_name(struct trace_writer *w, uint64_t key, const char *text);

void trace_event_note(struct trace_event *e, enum trace_note note, uint64_t number);
void trace_event_text(struct trace_event *e, enum trace_note note, const char *text);

void trace_writer_begin(struct trace_writer *w, unsigned track, uint64_t ns, const struct trace_event *e);
void trace_writer_end(struct trace_writer *w, unsigned track, uint64_t ns, const uint64_t *flow, unsigned num_flows);
void trace_writer_instant(struct trace_writer *w, unsigned track, uint64_t ns, const struct trace_event *e);

#endif
