/* The recorder's own parts: a tool of the OpenMP core's tool interface, which writes a recording (recording.h).
 *
 *   recorder.c  the tool: how it begins, finds the scheduler's table (ps_layer), and ends
 *   events.c    what the tool interface tells becomes events and sums
 *   watched.c   what the scheduler tells
 *   file.c      the recording's file; tracks and segments are added to it
 *   codes.c     addresses in the program
 *
 * Loaded into programs. So it has no thread-local variables: the runtime would give every OpenMP thread a block of its
 * own for them. It takes nothing of the C library on an event's path, and keeps errno. Its system calls go past what
 * the runtime interposes (the C library's read and its like).
 *
 * Threads: a track is written by the kernel thread that carries its vp. So nothing there is locked, and no addition is
 * a read-modify-write.
 * A task that runs has a frame, to which its tool data points; the frame goes with the task from vp to vp. A task that
 * does not run has its id there. Frames and regions are never unmapped: a stale pointer finds wrong numbers at worst.
 *
 * Forks: what belongs to one process stands in memory that is zero in a child (struct own). A child finds no track
 * there, and begins a recording of its own with its first event, whatever way it was forked in. */
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
#define ELSEWHERE MAX_VPS /* the last track */

/* --- time --- */

extern bool recorder_has_counter; /* the processor's counter is constant, and the same everywhere */

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

/* --- what a task or a region has while it runs --- */

enum { HELD = 2 };
/* Of a task. Written by the thread that runs it. */
struct frame {
    uint64_t id;
    uint64_t own;           /* ticks in which it ran */
    uint64_t total;         /* of a member: the same with its tasks, and with regions that it opened */
    struct frame *member;   /* the member that runs it; itself for a member, and for a root */
    struct region *region;  /* of a member; NULL: of a root */
    uint64_t wait_since;    /* for a lock */
    struct track *waits_at; /* where its wait began; NULL: it does not wait */
    uint16_t state, work;   /* recording_state; what it is when it works */
    uint16_t next_held;
    bool is_other; /* a member, and not the region's first */
    struct {
        uint64_t lock, since;
        uint32_t code;
    } held[HELD];       /* the locks that it took last */
    struct frame *next; /* free */
};

/* Of a region. The parent's, but for the atomic fields. It takes a frame's place: what a track with a stale frame adds
 * there does no harm. */
struct region {
    uint64_t id, unused[2];
    struct frame *member; /* itself */
    uint64_t begin;
    struct frame *parent;
    _Atomic uint64_t useful, longest; /* of members that have ended */
    _Atomic uint32_t members;
};

/* What tool data holds: a frame, or an id with this bit. */
#define IS_ID (UINT64_C(1) << 63)
static inline struct frame *frame_of(const ompt_data_t *task)
{
    return task == NULL || (task->value & IS_ID) ? NULL : task->ptr;
}
/* The data may become an id meanwhile, and its frame another task's. */
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

/* A track's private part, of the kernel thread that writes it. */
struct track {
    struct recording_event *next, *end; /* in the segment */
    struct recording_track *shared;
    struct recording_sums *sums;   /* of the code that the vp is at */
    _Atomic(struct frame *) frame; /* that runs, or waits; NULL: none, or not known. Others only compare it */
    uint64_t written, last;
    uint32_t state;
    uint16_t number;
    bool full; /* no more segments */
    uint64_t serial, serial_end;
    struct frame *free;
    unsigned num_free;
    const void *code_address; /* the last one that was looked up */
    unsigned code;
    unsigned num_segments;
    struct recording_event *segment[];
};

/* This process's; zero in a child. */
struct own {
    struct recording *recording;
    _Atomic uint32_t lock; /* of beginnings: of the recording, a track, a code */
    _Atomic uint32_t threads_lock;
    bool off; /* no recording can be made: it has been said */
    _Atomic uint32_t elsewhere_lock;
    _Atomic uint64_t num_segments;
    _Atomic int64_t spare_segments; /* those that no vp is sure of */
    _Atomic uint64_t next_look;     /* ticks */
    _Atomic(struct track *) tracks[MAX_VPS + 1];
};
extern struct own *recorder_own;
extern bool recorder_keeps_events;
extern const struct ps_layer *recorder_layer; /* NULL: OpenMP threads are kernel threads */
extern unsigned (*recorder_num_vps)(void);
extern int (*recorder_active_levels)(void);  /* omp_get_max_active_levels */
extern const uint64_t *recorder_mpi_init_ns; /* NULL: there is no layer over MPI */

/* file.c. The settings are there. False: no recording can be made, which has been said. */
bool file_settings(const char *runtime);
bool file_begin(void);
struct track *file_open_track(unsigned number); /* NULL: there is no recording */
/* Room for the next event; NULL: none, and the event is counted as lost. */
struct recording_event *file_more_room(struct track *k);
void file_look(void);    /* at both clocks */
void file_num_vps(void); /* asks, in the first region */
void file_end(void);
void *file_private(size_t bytes); /* zeroed memory, never given back; NULL: none */
void recorder_lock(_Atomic uint32_t *word);
void recorder_unlock(_Atomic uint32_t *word);

/* codes.c */
unsigned codes_find(const void *address); /* its index; 0: unknown */
void codes_publish(struct recording *r);  /* into a new recording, locked */
uint64_t codes_text(const char *text);    /* locked; 0: no room */

/* events.c */
struct track *recorder_here(void); /* the calling thread's; NULL: none */
void events_set(ompt_function_lookup_t lookup);
/* The frame of the task that the caller runs; NULL: none. */
struct frame *events_current(void);
struct frame *events_more_frames(struct track *k); /* takes one */
/* The thread in frame f begins to wait at k; it goes on at k. f may be NULL. */
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

/* The time goes to what the vp was in until now. Returns now, or the last time where clocks differ. */
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

/* From now on the vp is in `state`, in a frame or at a code. */
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
