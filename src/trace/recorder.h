/* The recorder's own parts: a tool of the OpenMP core's tool interface, which writes a recording (recording.h).
 *
 *   recorder.c  the tool: how it begins, finds the scheduler's table (ps_layer), and ends
 *   events.c    turns callbacks of the tool interface into events and sums
 *   watched.c   turns what the scheduler reports into events
 *   file.c      the recording's file; tracks and segments are added to it
 *   codes.c     addresses in the program
 *
 * The library is loaded into programs. So it has no thread-local variables, for which the runtime would give every
 * OpenMP thread a block. On its usual path an event calls nothing of the C library but clock_gettime. Where the file
 * grows, errno is kept. System calls bypass the C library's functions that the runtime interposes (read and the like).
 *
 * Threads: a track is written only by the kernel thread that carries its vp. So nothing in it is locked, and no
 * addition is a read-modify-write. There are two exceptions. wait_over is stored by the kernel thread on which the wait
 * ended. The last track has several writers, which take a lock (watched.c).
 * From its begin to its end a task has a frame, to which its tool data points; the frame moves with the task from vp to
 * vp. Before and afterwards the tool data of an explicit task has its id. Frames and regions are never unmapped: a
 * stale pointer finds wrong numbers at worst.
 *
 * Forks: what belongs to one process is in memory that is zero in a child (struct own). A child finds no track there,
 * and begins its own recording at its first event, whatever way it was forked. */
#ifndef PS_RECORDER_H
#define PS_RECORDER_H

#include "abi/ompt/ompt.h"
#include "psthreads/data/layer.h"
#include "recording.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif
#include <time.h>

#define MAX_VPS 16384
#define ELSEWHERE MAX_VPS /* the last track: events of kernel threads without a vp */

/* --- time --- */

extern bool recorder_has_counter; /* true: time is x86-64's counter (rdtsc), whose rate is constant */

static inline uint64_t recorder_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline uint64_t recorder_ticks(void)
{
#if defined(__x86_64__)
    if (PS_LIKELY(recorder_has_counter))
        return __rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
    return recorder_ns();
}

/* Returns about how many ticks a microsecond has. The rate of x86-64's counter is a guess, 2.5 GHz. */
static inline uint64_t recorder_ticks_per_us(void)
{
#if defined(__x86_64__)
    if (recorder_has_counter)
        return 2500;
#elif defined(__aarch64__)
    uint64_t hz;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
    return hz / 1000000 + 1;
#endif
    return 1000;
}

/* --- what a task or a region has while it runs --- */

enum { HELD = 2 };
/* A task's frame. Written by the thread that runs the task. */
struct frame {
    uint64_t id;
    uint64_t own; /* useful ticks of the task itself */
    /* In a member's or root's frame: all its useful ticks. These are its own, those of the tasks that it ran, and those
     * of the inner regions in which it was member 0. */
    uint64_t total;
    struct frame *member;   /* the frame of the member that runs the task; in a member's or root's frame: itself */
    struct region *region;  /* of a member: its region; of a root or an explicit task: NULL */
    uint64_t wait_since;    /* in ticks: when the task last began to wait for a lock */
    struct track *waits_at; /* the track where the task's wait began; NULL: the task does not wait */
    uint16_t state, work;   /* state: the task's present recording_state; work: that when it works */
    uint16_t next_held;
    bool is_other; /* a member other than the region's first */
    struct {
        uint64_t lock, since;
        uint32_t code;
    } held[HELD];       /* the locks that the task took last and still holds; lock 0: a free place */
    struct frame *next; /* links free frames */
};

/* A region. The parent writes it, except the atomic fields, which members write. A region reuses the memory of a frame.
 * A track may still point to that frame and add ticks to it: then it adds them to `unused`, which nothing reads. */
struct region {
    uint64_t id, unused[2];
    struct frame *member; /* points to itself */
    uint64_t begin;
    struct frame *parent;
    _Atomic uint64_t useful, longest; /* useful: ticks of all members that have ended; longest: the most of one */
    _Atomic uint32_t members;
};

/* A task's tool data holds a frame, or an id with this bit. */
#define IS_ID (UINT64_C(1) << 63)
static inline struct frame *frame_of(const ompt_data_t *task)
{
    return task == NULL || (task->value & IS_ID) ? NULL : task->ptr;
}
/* Returns the task's id. Meanwhile the tool data may turn from a frame into an id, and the frame may become another
 * task's: then the function reads again. */
static inline uint64_t id_of_task(const ompt_data_t *task)
{
    for (;;) {
        uint64_t value = __atomic_load_n(&task->value, __ATOMIC_ACQUIRE);
        if (value == 0 || (value & IS_ID))
            return value & ~IS_ID;
        uint64_t id = __atomic_load_n(&((struct frame *)task->ptr)->id, __ATOMIC_ACQUIRE);
        if (value == __atomic_load_n(&task->value, __ATOMIC_RELAXED))
            return id;
    }
}

/* --- tracks --- */

/* The private part of a track: used by the kernel thread that writes the track. */
struct track {
    struct recording_event *next, *end; /* the next event's place, and the segment's end */
    struct recording_track *shared;
    struct recording_sums *sums; /* sums for the code at which the vp is */
    /* The frame that runs or waits here; NULL: none, or unknown. Other threads only compare the pointer. */
    _Atomic(struct frame *) frame;
    uint64_t written, last;
    uint32_t state;
    uint16_t number;
    bool full; /* it gets no more segments */
    uint64_t serial, serial_end;
    struct frame *free;
    unsigned num_free;
    const void *code_address; /* the address that was looked up last */
    unsigned code;
    unsigned num_segments;
    struct recording_event *segment[];
};

/* What belongs to this process. In a forked child it is zero. */
struct own {
    struct recording *recording;
    _Atomic uint32_t lock; /* held while the recording, a track or a code is made */
    _Atomic uint32_t threads_lock;
    bool off; /* no more tracks are made: the recording could not be made (after a warning), or a track had no room */
    _Atomic uint32_t elsewhere_lock;
    _Atomic uint64_t num_segments;
    _Atomic int64_t spare_segments; /* segments that are not reserved for a vp */
    _Atomic uint64_t next_look;     /* in ticks: a region that ends after this time calls file_look */
    _Atomic(struct track *) tracks[MAX_VPS + 1];
};
extern struct own *recorder_own;
extern bool recorder_keeps_events;
extern const struct ps_layer *recorder_layer; /* NULL: OpenMP threads are kernel threads */
extern unsigned (*recorder_num_vps)(void);
extern int (*recorder_active_levels)(void);  /* omp_get_max_active_levels */
extern const uint64_t *recorder_mpi_init_ns; /* NULL: there is no layer over MPI */

/* file.c. file_settings returns whether PSTHREADS_RECORDING asks for a recording. file_begin makes it; it returns false
 * if that fails, after a warning. */
bool file_settings(const char *runtime);
bool file_begin(void);
struct track *file_open_track(unsigned number); /* NULL: there is no recording, or no room for the track */
/* Returns room for the next event, in a new segment or over old events. NULL: the recording has only sums, or there is
 * no room, and the event counts as lost. */
struct recording_event *file_more_room(struct track *k);
void file_look(void);    /* notes both clocks in the recording */
void file_num_vps(void); /* in the first region: notes the number of vps, and reserves segments for them */
void file_end(void);
void *file_private(size_t bytes); /* zeroed memory, never freed; NULL: none */
void recorder_lock(_Atomic uint32_t *word);
void recorder_unlock(_Atomic uint32_t *word);

/* codes.c */
unsigned codes_find(const void *address); /* the code's index; 0: unknown */
void codes_publish(struct recording *r);  /* copies all codes into a new recording; the caller holds the lock */
uint64_t codes_text(const char *text);    /* the text's offset; 0: no room; the caller holds the lock */

/* events.c */
struct track *recorder_here(void); /* the track of the calling kernel thread's vp; NULL: none */
void events_set(ompt_function_lookup_t lookup);
/* Returns the frame of the task that the caller runs; NULL: none. */
struct frame *events_current(void);
struct frame *events_more_frames(struct track *k); /* returns a free frame; NULL: no memory */
/* events_waits: the task with frame f begins to wait on track k. events_waits_no_longer: the task goes on, on track k;
 * if the wait began on another track, that track's wait_over is set. f may be NULL. */
void events_waits(struct track *k, struct frame *f, unsigned state);
void events_waits_no_longer(const struct track *k, struct frame *f, uint64_t now);
void watched_event(enum ps_watched what, unsigned vp, uint64_t value);

/* --- the path of an event --- */

static inline void track_add(_Atomic uint64_t *sum, uint64_t n) { ps_store_relaxed(sum, ps_load_relaxed(sum) + n); }

static inline void track_put(struct track *k, uint64_t time, unsigned kind, unsigned sub, unsigned vp, uint64_t number,
                             uint64_t id, uint64_t other)
{
    struct recording_event *e = k->next;
    if (PS_UNLIKELY(e == k->end) && (e = file_more_room(k)) == NULL)
        return;
    *e = (struct recording_event){.time = time,
                                  .kind = (uint8_t)kind,
                                  .sub = (uint8_t)sub,
                                  .vp = (uint16_t)vp,
                                  .number = (uint32_t)number,
                                  .id = id,
                                  .other = other};
    k->next = e + 1;
    ps_store_release(&k->shared->written, ++k->written);
}

/* Adds the time since the last event to the vp's present state. Returns the time now, or the last event's time if that
 * is later (processors' counters may differ). */
static inline uint64_t track_until_now(struct track *k)
{
    uint64_t now = recorder_ticks(), ticks = now - k->last;
    if (PS_UNLIKELY((int64_t)ticks < 0))
        return k->last;
    k->last = now;
    ps_store_relaxed(&k->shared->last, now);
    track_add(&k->sums->state[k->state], ticks);
    struct frame *f = ps_load_relaxed(&k->frame);
    if (k->state == REC_USEFUL && f != NULL) {
        f->own += ticks;
        f->member->total += ticks;
    }
    return now;
}

/* Sets what the vp does from now on: it is in `state`, in a frame (NULL: none) and at a code. */
static inline void track_is(struct track *k, struct frame *f, unsigned state, unsigned code)
{
    ps_store_relaxed(&k->frame, f);
    k->state = state;
    k->sums = &k->shared->sums[code];
    ps_store_relaxed(&k->shared->state, state);
    ps_store_relaxed(&k->shared->code, code);
}

static inline void track_runs(struct track *k, struct frame *f)
{
    if (f != NULL)
        track_is(k, f, f->state, REC_ID_CODE(f->id));
    else
        track_is(k, NULL, REC_IN_RUNTIME, 0);
}

#endif
