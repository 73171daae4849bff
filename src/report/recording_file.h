/* A recording, mapped for reading. Every offset in it is checked, because the recording may be of a killed program, cut
 * short, or no recording at all. Errors are one line, in `why`.
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
    unsigned num_tracks, num_codes; /* num_tracks: places for tracks; not all tracks exist */
    uint64_t first_ticks, first_ns; /* both clocks at the recording's begin */
    double ns_per_tick;
};

/* Returns false if the file cannot be used; `why` gets the reason, without a newline. */
bool recording_file_open(struct recording_file *f, const char *name, char why[256]);
void recording_file_close(struct recording_file *f);

/* Returns the track of this number; NULL: there is none. */
const struct recording_track *recording_file_track(const struct recording_file *f, unsigned number);

/* Returns the text at this offset; "" if there is none. */
const char *recording_file_text(const struct recording_file *f, uint64_t at);

/* recording_file_ns returns a moment in ns of CLOCK_MONOTONIC, recording_file_duration_ns a length of time in ns. */
uint64_t recording_file_ns(const struct recording_file *f, uint64_t ticks);
double recording_file_duration_ns(const struct recording_file *f, uint64_t ticks);

/* Returns the end of the run in ticks: when the program ended, otherwise the last moment that is known of it. */
uint64_t recording_file_end(const struct recording_file *f);

/* Reads all events of all tracks in the order of their times. A REC_TASK_RUN is returned as two events, its begin and
 * its end. */
struct recording_events {
    const struct recording_file *file;
    struct recording_ring *ring; /* one for each track */
    unsigned *heap, num_heap;    /* tracks with events left, the one with the earliest event first */
    uint64_t read;               /* number of events read; a REC_TASK_RUN counts once */
    uint64_t overwritten;        /* number of events that later ones replaced, or for which there was no room */
    uint64_t unreadable;         /* events outside of the file, of an unknown kind, or just being overwritten */
};
/* Returns false if there is no memory. */
bool recording_events_begin(struct recording_events *e, const struct recording_file *f);
/* Returns the next event and the number of its track; false: there are no more events. */
bool recording_events_next(struct recording_events *e, struct recording_event *event, unsigned *track);
void recording_events_end(struct recording_events *e);

#endif
