/* A recording as a reader has it: mapped, and every offset in it checked, because a recording may be of a killed
 * program, cut short, or no recording at all. Errors are one line, in `why`.
 *
 * The program that writes the recording may still run. Fields are read as they are at that moment. */
#ifndef PS_REPORT_RECORDING_FILE_H
#define PS_REPORT_RECORDING_FILE_H

#include "recording.h"

struct recording_file {
    const char *name;
    const unsigned char *bytes;
    uint64_t size;
    const struct recording *head;
    const struct recording_code *codes;
    unsigned num_tracks, num_codes; /* places for tracks: not all are there */
    uint64_t first_ticks, first_ns; /* the clock's beginning; 0 ns if it is not known */
    double ns_per_tick;
};

/* False: `why` has the reason, without a newline. */
bool recording_file_open(struct recording_file *f, const char *name, char why[256]);
void recording_file_close(struct recording_file *f);

/* The track of this number; NULL: there is none. */
const struct recording_track *recording_file_track(const struct recording_file *f, unsigned number);

/* A text of the recording; "" if there is none at this offset. */
const char *recording_file_text(const struct recording_file *f, uint64_t at);

/* Ticks as nanoseconds of CLOCK_MONOTONIC, and a length of time. */
uint64_t recording_file_ns(const struct recording_file *f, uint64_t ticks);
double recording_file_duration_ns(const struct recording_file *f, uint64_t ticks);

/* The end of the run in ticks: when the program ended, else the last thing known of it. */
uint64_t recording_file_end(const struct recording_file *f);

/* All events that are there, of all tracks, in the order of their times. A REC_TASK_RUN is told as its begin and its
 * end. */
struct recording_events {
    const struct recording_file *file;
    struct recording_ring *ring; /* one a track */
    unsigned *heap, num_heap;    /* tracks with events left, the earliest first */
    uint64_t read;               /* events; a REC_TASK_RUN is one */
    uint64_t overwritten;        /* events that went for later ones */
    uint64_t unreadable;         /* those outside of the file, and those of no known kind */
};
bool recording_events_begin(struct recording_events *e, const struct recording_file *f);
/* False: there are no more. */
bool recording_events_next(struct recording_events *e, struct recording_event *event, unsigned *track);
void recording_events_end(struct recording_events *e);

#endif
