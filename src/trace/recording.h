/* A recording: the recorder (recorder.c) writes it while a program runs; psthreads-report reads it, during the run or
 * after it. Both map the file. Each process writes its own file, and after an exec a further one. A killed program
 * leaves what it had written.
 *
 * Layout: struct recording, the codes, the texts, the offsets of tracks and the table of segments, all at fixed places;
 * then tracks and segments of events, in the order in which they were needed. Offsets count from the file's start.
 * Numbers have the machine's own byte order.
 *
 * A track belongs to a vp, or to an OpenMP thread where OpenMP threads are kernel threads. The last track has what
 * happens on kernel threads without a vp (the watchdog's); several threads write it, under a lock that readers need not
 * know. Event n of a track (from 0) is number n % segment_events of its segment number (n % capacity) / segment_events.
 * So at most the last `capacity` events are there, and older ones are lost. A track without a segment has no events.
 *
 * Ordering: a writer fills in an event, then adds one to `written` (release). A reader reads `written` (acquire) before
 * and after, and leaves out events that may have been overwritten meanwhile. A track's last event may still change:
 * from REC_TASK_BEGIN to REC_TASK_RUN, from REC_WAIT_BEGIN to REC_LOCK_HELD. Offsets of tracks and segments are stored
 * last (release). Time is in ticks: see struct recording_clock. Within a track it never decreases. */
#ifndef PS_RECORDING_H
#define PS_RECORDING_H

#include "atomic.h"
#include "compiler.h"

#define RECORDING_MAGIC UINT64_C(0x3243455253485450) /* "PTHSREC2" */
#define RECORDING_VERSION 3

enum recording_kind {
    REC_NONE,
    /* id: region, other: the task that opens it, number: threads. In the parent's track. */
    REC_REGION_BEGIN,
    REC_REGION_END,   /* id: region, other: the task that opened it. Perhaps in another track than the begin. */
    REC_MEMBER_BEGIN, /* id: task, other: region, number: the member's, sub 1: a team of a league */
    REC_MEMBER_END,   /* id: task, other: region */
    /* id: task, other: the task that makes it, number: ompt_task_flag_t. Only for deferred tasks: any other task begins
     * at once, inside the task that makes it. */
    REC_TASK_CREATE,
    REC_TASK_BEGIN, /* id: task, other: the task that it interrupts */
    REC_TASK_END,   /* id: task, other: the task that goes on, sub: ompt_task_status_t */
    /* REC_TASK_BEGIN, and `number` ticks later the same task's REC_TASK_END, with no event of this track between them.
     * sub: as in REC_TASK_END. */
    REC_TASK_RUN,
    REC_DEPENDENCE, /* id: the task that comes first, other: the task that waits for it */
    /* id: task, sub: recording_wait, other: REC_ID(code, 0). For a lock (REC_WAIT_LOCK to REC_WAIT_ORDERED) other: the
     * lock, number: the code. For REC_WAIT_OUTSIDE other: the thread. */
    REC_WAIT_BEGIN,
    /* As REC_WAIT_BEGIN, perhaps in another track. For a lock: the task holds the lock from here on. */
    REC_WAIT_END,
    /* As REC_WAIT_END, but without a REC_WAIT_BEGIN before: the task got the lock at once or within about a
     * microsecond, or by omp_test_lock. */
    REC_LOCK_HELD,
    REC_LOCK_FREE, /* as REC_WAIT_BEGIN; number: the code that took the lock */
    /* id: task, other: REC_ID(code, 0), sub: ompt_work_t, number: iterations (2^32-1: as many, or more). */
    REC_WORK_BEGIN,
    REC_WORK_END, /* as REC_WORK_BEGIN */
    REC_CANCEL,   /* id: task, number: ompt_cancel_flag_t */
    /* Events of the scheduler (psthreads/data/watch.h). */
    /* sub 1: the thread that the vp ran waits: the vp's time counts as that wait until its next event. */
    REC_PARK,
    REC_UNPARK,
    REC_STEAL, /* vp: the victim, sub: level of distance */
    REC_SPARE_BEGIN,
    REC_SPARE_END,
    REC_ROOT_LEAVES, /* vp: the root's home */
    REC_ROOT_HOME,
    REC_STALL, /* vp: the vp that stalls, id: for how many ns. In the last track */
    REC_KINDS
};

enum recording_wait {
    REC_WAIT_BARRIER = 1, /* explicit barrier */
    REC_WAIT_IMPLICIT,    /* barrier at the end of a work-share */
    REC_WAIT_JOIN,        /* barrier at the end of the region */
    REC_WAIT_TASKWAIT,
    REC_WAIT_TASKGROUP,
    REC_WAIT_REDUCTION,
    REC_WAIT_LOCK,
    REC_WAIT_CRITICAL,
    REC_WAIT_ATOMIC,
    REC_WAIT_ORDERED,
    REC_WAIT_OUTSIDE,    /* a wait in a layer over a foreign interface: MPI */
    REC_WAIT_DEPENDENCE, /* taskwait with depend clauses */
    REC_WAITS
};

struct recording_event {
    uint64_t time; /* in ticks */
    uint8_t kind, sub;
    uint16_t vp;
    uint32_t number;
    uint64_t id, other;
};
_Static_assert(sizeof(struct recording_event) == 32, "two a line");

/* The id of a region or task: a code's index, and a serial number that is unique in this process. 0: unknown. */
#define REC_ID(code, serial) ((uint64_t)(code) << 44 | (serial))
#define REC_ID_CODE(id) ((unsigned)((id) >> 44))
#define REC_MAX_CODES 1024 /* further ones share index 0, the unknown code */

/* What a vp does with its time. */
enum recording_state {
    REC_IN_RUNTIME, /* none of the others: the vp searches, switches, starts */
    REC_USEFUL,     /* the program's code in regions */
    REC_SERIAL,     /* the program's code outside of regions */
    REC_IMBALANCE,  /* waits in barriers and joins, without work to do */
    REC_TASKS,      /* waits for tasks, without a task to run */
    REC_LOCKS,      /* waits for locks, critical, ordered, atomic */
    REC_OUTSIDE,    /* waits in MPI */
    REC_PARKED,
    REC_STATES
};

#define REC_SIZES 64 /* slots of task_sizes; slot n: 2^n to 2^(n+1) ticks; slot 0 also has 0 ticks */
#define REC_DISTANCES 16

/* An address in the program, as the tool interface reports it (a return address). Written once; `address` is stored
 * last (release). */
struct recording_code {
    _Atomic uint64_t address; /* 0: unused */
    uint64_t path;            /* offset in the texts: the object's file; 0: unknown */
    /* The address as the object's symbols and DWARF have it: without the distance by which the object was moved. */
    uint64_t offset;
    uint32_t build_id_bytes;
    uint8_t build_id[20];
    uint64_t unused[2];
};
_Static_assert(sizeof(struct recording_code) == 64, "a line");

/* Sums for one track and one code; "here" is at this code. Only the track's writer changes them; readers load them
 * relaxed, and add up all tracks. */
struct recording_sums {
    _Atomic uint64_t state[REC_STATES]; /* ticks that the vp spent in each state while it was here */
    _Atomic uint64_t regions, threads;  /* regions opened here; the sum of their members */
    _Atomic uint64_t inner;             /* how many of these regions were opened inside another region */
    _Atomic uint64_t serialized;        /* how many of these regions had one member */
    _Atomic uint64_t wall;              /* ticks of these regions' parents from begin to end */
    /* Useful ticks of these regions. useful: of all members; longest: of each region's longest member, times its number
     * of members. The difference is imbalance. */
    _Atomic uint64_t useful, longest;
    _Atomic uint64_t created, tasks, task_ticks; /* tasks made here; how many of these ended, and their useful ticks */
    _Atomic uint64_t loops, iterations;          /* of regions opened here, or of loops here outside of regions */
    /* Locks taken here; waits for locks, and ticks of these waits; ticks for which locks were held. */
    _Atomic uint64_t locks, lock_waits, lock_ticks, lock_held;
};
_Static_assert(sizeof(struct recording_sums) % 64 == 0, "lines");

struct recording_track {
    _Atomic uint64_t written;  /* number of events so far */
    _Atomic uint64_t capacity; /* in events, see above; grows with each segment until there is no room */
    /* In ticks: the sums count up to this time. Since then the vp is in `state`, at `code`. */
    _Atomic uint64_t last;
    _Atomic uint32_t state, code;
    _Atomic uint32_t tid, is_spare;
    _Atomic uint64_t thread; /* the OpenMP thread's number, from 1; 0: the track is a vp's */
    /* In ticks: when the wait that began on this vp ended elsewhere. Stored by the vp on which the waiting thread goes
     * on. Valid if it is not less than `last`: then the wait in `state` ended at this time, and since then this vp's
     * time counts as sleep (REC_PARKED). */
    _Atomic uint64_t wait_over;
    _Atomic uint64_t unused;
    /* Over all codes: how often the vp parked, how often it ended as a spare, and steals by level of distance. */
    _Atomic uint64_t parks, spares, steals[REC_DISTANCES];
    _Atomic uint64_t task_sizes[REC_SIZES]; /* number of tasks, by their useful ticks */
    struct recording_sums sums[REC_MAX_CODES];
};

/* Both clocks at the same moment. Two such pairs give the length of a tick in ns. In a recording of a killed program
 * `now` may be earlier than its last event. */
struct recording_clock {
    _Atomic uint64_t ticks, ns; /* ns: of CLOCK_MONOTONIC */
};

struct recording_segment {
    _Atomic uint64_t offset; /* where the segment's events are in the file; 0: unused */
    uint32_t track, index;   /* it is segment `index` of `track` */
};

struct recording {
    uint64_t magic;
    uint32_t version, header_bytes; /* header_bytes: sizeof(struct recording) */
    _Atomic uint64_t file_bytes;
    uint32_t pid, parent_pid;
    int32_t rank;        /* in MPI; -1: none */
    uint32_t num_tracks; /* places for tracks; the last is for kernel threads without a vp */
    /* Set in the first region. Tracks from this number on are those of spares and guests. 0: there was no region, or
     * tracks are OpenMP threads'. */
    uint32_t num_vps;
    uint32_t num_processors;
    uint32_t keeps_events;             /* 0: sums only */
    uint32_t nested_off;               /* 1: max-active-levels-var was 1 at the last inner region with one member */
    struct recording_clock begin, now; /* now: the last look, made from time to time and at the end */
    _Atomic uint64_t ended_ticks;      /* 0: the program runs, or was ended by a signal, _exit or exec */
    _Atomic uint64_t mpi_init_ns;      /* CLOCK_MONOTONIC at the end of MPI_Init, to align ranks; 0: none */
    _Atomic uint64_t segments_refused; /* tracks that got no further segment: at the limit, or the file cannot grow */
    _Atomic uint64_t segments_failed;  /* of these: the file could not grow (full disk, limit of the system) */
    uint64_t limit_bytes;              /* most bytes of all events */
    uint64_t segment_events, max_segments;
    /* Offsets: of struct recording_code [REC_MAX_CODES]; of the texts (each ends with 0; offset 0: ""); of uint64_t
     * [num_tracks], which are offsets of tracks (0: no track); of struct recording_segment [max_segments]. */
    uint64_t codes_at, texts_at, texts_bytes, tracks_at, segments_at;
    _Atomic uint64_t num_codes; /* codes 1 to num_codes - 1 are in use; 0 is the unknown code */
    _Atomic uint64_t codes_refused;
    _Atomic uint64_t texts_used;
    uint64_t command_at; /* offset in the texts: the arguments, joined by spaces */
    char runtime[64];    /* the runtime's name as ompt_start_tool gets it, and the version */
};

#endif
