/* The threads of a timeline, their open slices, and the tracks that show them.
 *
 * A thread is on one track or on none; a track shows one thread or none, or that its vp sleeps. A thread on a track has
 * all its slices begun there. Leaving ends them; coming to a track begins them again, marked "resumed". A thread is
 * known by the tasks that run on it: that of its member, those within. A thread without slices is forgotten. */
#ifndef PS_REPORT_TIMELINE_THREAD_H
#define PS_REPORT_TIMELINE_THREAD_H

#include "id_table.h"
#include "trace_writer.h"

enum timeline_kind {
    TIMELINE_REGION = 2, /* 1: names that are made by hand */
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
    unsigned track; /* 0: none */
    uint64_t task;  /* the first that it was known by */
    struct timeline_thread *next, **at;
};

struct timeline_region {
    unsigned threads;
    struct timeline_thread *opener; /* has the region's slice */
};

struct timeline_board {
    const struct recording_file *file;
    struct trace_writer *writer;
    struct places *places;
    struct timeline_thread *threads;
    struct timeline_track {
        struct timeline_thread *thread;
        bool is_parked;
    } * track; /* by the writer's numbers */
    struct id_table by_task, regions;
};

void timeline_board_begin(struct timeline_board *b, const struct recording_file *f, FILE *out);
/* Ends what is open. */
void timeline_board_end(struct timeline_board *b, uint64_t ns);
void timeline_board_free(struct timeline_board *b);

/* The thread that runs the task; NULL: none is known. */
struct timeline_thread *timeline_thread_known(const struct timeline_board *b, uint64_t task);
/* The same; one is made where none is known. */
struct timeline_thread *timeline_thread_of(struct timeline_board *b, uint64_t task);
struct timeline_thread *timeline_thread_new(struct timeline_board *b, uint64_t task);
/* Call before the task's slice is pushed; the end of that slice forgets it. */
void timeline_thread_runs(struct timeline_board *b, struct timeline_thread *t, uint64_t task);

/* Afterwards the track shows this thread; NULL: none. */
void timeline_bring(struct timeline_board *b, struct timeline_thread *t, unsigned track, uint64_t ns);
void timeline_leave(struct timeline_board *b, struct timeline_thread *t, uint64_t ns);

/* ends: arrows that end at the slice's begin; NULL: none. */
void timeline_push(struct timeline_board *b, struct timeline_thread *t, const struct timeline_slice *s, uint64_t ns,
                   const struct trace_event *ends);
/* `which`: a loop's or a wait's sub, else the id. */
bool timeline_has(const struct timeline_thread *t, enum timeline_kind kind, uint64_t which);
/* Ends the innermost slice of this kind, and what is within; nothing if there is none. begins: arrows that begin at its
 * end. The answer is the thread, or NULL if it is forgotten. */
struct timeline_thread *timeline_pop(struct timeline_board *b, struct timeline_thread *t, enum timeline_kind kind,
                                     uint64_t which, uint64_t ns, const struct trace_event *begins);

void timeline_region_begin(struct timeline_board *b, uint64_t id, unsigned threads, struct timeline_thread *opener);
const struct timeline_region *timeline_region_of(const struct timeline_board *b, uint64_t id);

void timeline_park(struct timeline_board *b, unsigned track, uint64_t ns);
void timeline_unpark(struct timeline_board *b, unsigned track, uint64_t ns);

/* Whether a wait (recording_wait) is for what one thread holds at a time. */
bool timeline_is_lock(unsigned wait);
/* How a slice or an instant is called, and what is told of it. */
void timeline_event(struct timeline_board *b, const struct timeline_slice *s, struct trace_event *e);

#endif
