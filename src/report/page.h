/* The command page: makes of traces one page of HTML, which shows a timeline, tables and plots without a network.
 *
 * page_read.c reads the packets of a trace, and tells page_model.c which slices begin and end. The model keeps what a
 * page can show, however long the run was: for each track bins of equal width with the time in each state, the longest
 * intervals, and sums by place. page_write.c writes the model as JSON into the page. The program carries the page's
 * files (page.html, page.css, page_*.js: page_files.S). The page's own JavaScript draws it.
 *
 * Limits: PAGE_BINS bins for each track; PAGE_INTERVALS intervals and PAGE_MARKS marks in all. If a limit would be
 * exceeded, bins become twice as wide, the shortest intervals remain only in the bins, and later marks are only
 * counted. Only the parts of tasks and regions (struct page_part, 56 bytes each) have no limit. A task may run in parts
 * on several tracks, so the parts are kept until all are there, and then summed. */
#ifndef PS_REPORT_PAGE_H
#define PS_REPORT_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "id_table.h"
#include "memory.h"

#define PAGE_BINS 4096
#define PAGE_INTERVALS 100000
#define PAGE_MARKS 2000
#define PAGE_SIZES 36     /* slot n: tasks of 2^n to 2^(n+1) ns; slot 0 also has 0 ns, the last slot all longer ones */
#define PAGE_DISTANCES 10 /* as many as PROFILE_DISTANCES */
#define PAGE_NONE UINT32_MAX

/* The states of a track's time; page_states.js has their names and colours in this order. Time without a slice is in
 * none of them: the program outside of regions, or a search for work. */
enum page_state { PAGE_USEFUL, PAGE_BARRIER, PAGE_TASKS, PAGE_LOCKS, PAGE_MPI, PAGE_RUNTIME, PAGE_PARKED, PAGE_STATES };

enum page_kind { PAGE_REGION, PAGE_MEMBER, PAGE_TASK, PAGE_LOOP, PAGE_WAIT, PAGE_SCHEDULER, PAGE_OTHER };

/* A place in the program. Its label is a file's name and line, or the text that the trace has instead. */
struct page_place {
    char *label, *file, *function; /* file, function: NULL: unknown */
    uint32_t line, index;
    uint64_t regions, wall, threads;
    uint64_t capacity;                  /* wall times the number of threads, at most that of vps */
    uint64_t region_state[PAGE_STATES]; /* time of members and their tasks, without inner regions */
    uint64_t tasks, short_tasks, task_useful, sizes[PAGE_SIZES];
};

/* A slice's name, kind and place. For a lock also the waits for it. */
struct page_name {
    char *text;
    enum page_kind kind;
    enum page_state state;
    struct page_place *place;
    uint64_t waits, wait_ns, longest;
    struct page_place *region; /* the first region in which a thread waited for the lock; NULL: none */
    bool elsewhere;            /* threads also waited in other regions */
    uint32_t index, shown;     /* shown: the name's number in the page; PAGE_NONE: not in the page */
};

/* A name with the names of the slices around it. */
struct page_path {
    struct page_path *parent; /* NULL: it is the outermost */
    struct page_name *name;
    struct page_place *region; /* the innermost region's place, which gets the time of this path; NULL: none */
    uint32_t shown;
};

struct page_interval {
    uint64_t begin, end;
    struct page_path *path;
};

struct page_list {
    struct page_interval *at;
    size_t num, room;
};

struct page_mark {
    uint64_t time;
    struct page_name *name;
};

/* A slice that has begun and not ended. */
struct page_slice {
    uint64_t begin, id, useful;
    struct page_path *path;
    uint32_t threads;
    bool inner, resumed; /* inner: another slice has begun inside; resumed: its thread left a track and came here */
};

struct page_track {
    char *name;
    uint64_t uuid, parent;
    int64_t rank; /* the track's position below its parent track */
    bool is_process, in_use, has_vp;
    unsigned vp;          /* the vp's number, if has_vp */
    uint64_t first, last; /* times of its first and last events; first UINT64_MAX: no events yet */
    uint64_t state[PAGE_STATES];
    uint64_t steals, parks, stalls;
    uint64_t (*bins)[PAGE_STATES];
    struct page_list leaves, outer; /* leaves: of innermost slices; outer: of slices with slices inside */
    uint64_t dropped;               /* number of intervals that are only in the bins */
    struct page_mark *marks;
    size_t num_marks, room_marks;
    struct page_slice *open;
    size_t num_open, room_open;
    struct page_process *process;
};

/* The last wait of a task for a lock. */
struct page_wait {
    uint64_t begin, end; /* end: until when the wait is known to last */
    struct page_name *name;
    bool has_left; /* the thread has left its vp at `end`, and still waits */
};

/* One input: the trace of one process. */
struct page_process {
    const char *file;
    char *name, *command, *version;
    int64_t pid, rank; /* rank -1: none */
    uint64_t wall_ns, mpi_init_ns, events, lost, processors, vps;
    uint64_t first, last;
    unsigned shift;    /* a bin is 2^shift ns wide */
    uint64_t bin_base; /* first >> shift: the first bin */
    struct page_track **tracks;
    size_t num_tracks, room_tracks;
    uint64_t packets, unmatched; /* unmatched: ends without a beginning */
    struct id_table lock_waits;  /* the last struct page_wait of each task, by the task's id */
};

/* A part of a task or region that ran on one track without a break. */
struct page_part {
    uint64_t id, begin, end, useful;
    struct page_name *name;
    uint32_t process, threads;
    bool resumed;
};

struct page_model {
    struct page_process **processes;
    size_t num_processes;
    struct page_name **names;
    size_t num_names, room_names;
    struct page_place **places;
    size_t num_places, room_places;
    void *names_tree, *places_tree, *paths_tree;
    uint64_t shortest; /* in ns; shorter intervals are only in the bins */
    size_t num_intervals, num_marks;
    uint64_t lost_marks;
    struct page_part *parts;
    size_t num_parts, room_parts;
    uint64_t distances[PAGE_DISTANCES];
};

/* page_model.c. If a slice begins or ends earlier than the track's last event, the last event's time counts. */
struct page_process *page_add_process(struct page_model *m, const char *file);
struct page_track *page_add_track(struct page_process *p, uint64_t uuid);
struct page_place *page_find_place(struct page_model *m, const char *label, const char *file, const char *function,
                                   uint32_t line);
struct page_name *page_find_name(struct page_model *m, const char *text, const char *category,
                                 struct page_place *place);
void page_begin(struct page_model *m, struct page_track *t, uint64_t time, struct page_name *name,
                const struct page_slice *more); /* of `more` id, threads and resumed are used */
void page_end(struct page_model *m, struct page_track *t, uint64_t time);
void page_mark(struct page_model *m, struct page_track *t, uint64_t time, struct page_name *name);
void page_close(struct page_model *m, struct page_process *p); /* the trace of p has ended */
void page_sum_parts(struct page_model *m);                     /* all traces have ended */

/* page_read.c. Returns false, after a message, if nothing of the file can be used. */
bool page_read(struct page_model *m, const char *file);

/* page_write.c */
void page_write(struct page_model *m, FILE *out);

/* Makes room for one more element after `num` elements. Returns the array, which may have moved. */
static inline void *page_grow(void *array, size_t num, size_t *room, size_t bytes)
{
    if (num < *room)
        return array;
    *room = *room ? 2 * *room : 16;
    return memory_more(array, *room * bytes);
}

#endif
