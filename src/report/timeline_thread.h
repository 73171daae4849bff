/* The threads of a timeline, their open slices, and the tracks that show them.
 *
 * A thread is on one track or on none. A track shows one thread, or none, or that its vp sleeps. While a thread is on a
 * track, all its open slices are open on that track. When the thread leaves a track, its slices end there. When it
 * comes to a track, they begin again, marked "resumed". A thread is found by the tasks that run on it: its member's
 * implicit task, and tasks inside it. A thread is freed when its last slice ends. */
#ifndef PS_REPORT_TIMELINE_THREAD_H
#define PS_REPORT_TIMELINE_THREAD_H

#include "id_table.h"
#include "trace_writer.h"

enum timeline_kind {
    TIMELINE_REGION = 2, /* a name's key begins with the kind (name_of_slice) */
    TIMELINE_MEMBER,
    TIMELINE_TASK,
    TIMELINE_CREATE,
    TIMELINE_WAIT,
    TIMELINE_LOOP,
    TIMELINE_SCHEDULER,
};

struct timeline_slice {
    enum timeline_kind kind;
    unsigned sub, number, threads, code;
    uint64_t id, other;
};

struct timeline_thread {
    struct timeline_slice *slice;
    unsigned num, capacity;
    unsigned track; /* 0: it is on none */
    uint64_t task;  /* the first task that is known to run on the thread */
    struct timeline_thread *next, **at;
};

struct timeline_region {
    unsigned threads;
    struct timeline_thread *opener; /* the thread that has the region's slice */
};

struct timeline_board {
    const struct recording_file *file;
    struct trace_writer *writer;
    struct places *places;
    struct timeline_thread *threads;
    struct timeline_track {
        struct timeline_thread *thread;
        bool is_parked;
    } * track; /* [number of the track in the writer] */
    struct id_table by_task, regions;
};

void timeline_board_begin(struct timeline_board *b, const struct recording_file *f, FILE *out);
/* Ends all open slices. */
void timeline_board_end(struct timeline_board *b, uint64_t ns);
void timeline_board_free(struct timeline_board *b);

/* Returns the thread that runs the task; NULL: unknown. */
struct timeline_thread *timeline_thread_known(const struct timeline_board *b, uint64_t task);
/* Returns the thread that runs the task. If none is known, makes a thread. */
struct timeline_thread *timeline_thread_of(struct timeline_board *b, uint64_t task);
struct timeline_thread *timeline_thread_new(struct timeline_board *b, uint64_t task);
/* Notes that t runs the task. Called before the task's slice is pushed; the end of that slice removes the note. */
void timeline_thread_runs(struct timeline_board *b, struct timeline_thread *t, uint64_t task);

/* timeline_bring makes the track show thread t; NULL: none. timeline_leave takes t off its track. */
void timeline_bring(struct timeline_board *b, struct timeline_thread *t, unsigned track, uint64_t ns);
void timeline_leave(struct timeline_board *b, struct timeline_thread *t, uint64_t ns);

/* Begins a slice of the thread. ends: arrows that end at its begin; NULL: none. */
void timeline_push(struct timeline_board *b, struct timeline_thread *t, const struct timeline_slice *s, uint64_t ns,
                   const struct trace_event *ends);
/* Returns whether the thread has an open slice of this kind. `which`: a loop's or wait's sub, for other kinds the
 * id. */
bool timeline_has(const struct timeline_thread *t, enum timeline_kind kind, uint64_t which);
/* Ends the innermost slice of this kind, and the slices inside it; does nothing if there is none. begins: arrows that
 * begin at its end. Returns the thread, or NULL if it was freed. */
struct timeline_thread *timeline_pop(struct timeline_board *b, struct timeline_thread *t, enum timeline_kind kind,
                                     uint64_t which, uint64_t ns, const struct trace_event *begins);

void timeline_region_begin(struct timeline_board *b, uint64_t id, unsigned threads, struct timeline_thread *opener);
const struct timeline_region *timeline_region_of(const struct timeline_board *b, uint64_t id);

void timeline_park(struct timeline_board *b, unsigned track, uint64_t ns);
void timeline_unpark(struct timeline_board *b, unsigned track, uint64_t ns);

/* Returns whether a wait (recording_wait) is for something that one thread holds at a time. */
bool timeline_is_lock(unsigned wait);
/* Fills in *e with the name of a slice or instant, and the notes about it. */
void timeline_event(struct timeline_board *b, const struct timeline_slice *s, struct trace_event *e);

#endif
