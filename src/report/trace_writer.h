/* Writes Perfetto's trace format (perfetto.proto), packet by packet: nothing is kept but the names.
 *
 * Tracks are numbered by the caller; number 0 is the process. Each is a sequence of packets of its own. The times of a
 * track's packets rise, which is the caller's part. Names, places and the words below are told once a track. */
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

/* What is told of an event beside its name. */
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
#define TRACE_MOST_FLOWS 64 /* of an event; more arrows than these are left out */

struct trace_event {
    enum trace_category category;
    uint64_t name;             /* of trace_writer_name */
    const struct place *place; /* NULL: none */
    unsigned code;             /* the place's number */
    unsigned num_notes, num_flows, num_ends;
    struct {
        enum trace_note note;
        uint64_t number;
        const char *text; /* instead of the number */
    } note[TRACE_MOST_NOTES];
    uint64_t flow[TRACE_MOST_FLOWS]; /* arrows that begin here */
    uint64_t end[TRACE_MOST_FLOWS];  /* arrows that end here */
};

struct trace_writer;

/* tracks: how many there are, the process among them. */
struct trace_writer *trace_writer_new(FILE *out, unsigned tracks);
void trace_writer_free(struct trace_writer *w);

void trace_writer_process(struct trace_writer *w, uint64_t ns, int pid, const char *command);
/* rank: the place among its siblings. tid 0: not known; a number that no thread has stands instead. */
void trace_writer_track(struct trace_writer *w, unsigned track, uint64_t ns, const char *name, int64_t tid);

/* The number of a name; `key` stands for it, so that it is made once (NULL: not yet made; then call it with a text). */
uint64_t trace_writer_name(struct trace_writer *w, uint64_t key, const char *text);

void trace_event_note(struct trace_event *e, enum trace_note note, uint64_t number);
void trace_event_text(struct trace_event *e, enum trace_note note, const char *text);

void trace_writer_begin(struct trace_writer *w, unsigned track, uint64_t ns, const struct trace_event *e);
void trace_writer_end(struct trace_writer *w, unsigned track, uint64_t ns, const uint64_t *flow, unsigned num_flows);
void trace_writer_instant(struct trace_writer *w, unsigned track, uint64_t ns, const struct trace_event *e);

#endif
