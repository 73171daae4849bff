/* A recording: what the recorder (recorder.c) writes while a program runs, and what psthreads-report reads, during the
 * run or after it. One file a process, mapped by both; a killed program leaves what it had written.
 *
 * Layout: struct recording, the codes, the texts, the offsets of tracks and the table of segments, all at fixed places;
 * then tracks and segments of events, in the order in which they were needed. Offsets are from the file's start.
 * Numbers are the machine's own.
 *
 * A track is a vp's. Where OpenMP threads are kernel threads a track is an OpenMP thread's. The last track has what
 * happens on kernel threads without a vp (the watchdog's); several write it, under a lock that readers need not know.
 * Event n of a track (from 0) is number n % segment_events of its segment number (n % capacity) / segment_events. So
 * the last `capacity` events at most are there, and written - capacity have gone. Without a segment none is there.
 *
 * Ordering: a writer fills an event, then adds one to `written` (release). A reader takes `written` (acquire) before
 * and after, and leaves out what may have been overwritten meanwhile. A track's last event may still change: from
 * REC_TASK_BEGIN to REC_TASK_RUN, from REC_WAIT_BEGIN to REC_LOCK_HELD. Offsets of tracks, and segments, are stored
 * last (release).
 * Time is in ticks: see struct recording_clock. Within a track it never falls. */
#ifndef PS_RECORDING_H
#define PS_RECORDING_H

#include "atomic.h"
#include "compiler.h"

#define RECORDING_MAGIC UINT64_C(0x3243455253485450) /* "PTHSREC2" */
#define RECORDING_VERSION 3

enum recording_kind {
    REC_NONE,
    REC_REGION_BEGIN, /* id: region, other: the task that opens it, number: threads. In the parent's track */
    REC_REGION_END,   /* id: region, other: that task. Perhaps in another track than the beginning */
    REC_MEMBER_BEGIN, /* id: task, other: region, number: the member, sub: 1: a team of a league */
    REC_MEMBER_END,   /* id: task, other: region */
    REC_TASK_CREATE,  /* id: task, other: the task that makes it, number: ompt_task_flag_t. Of deferred tasks only:
                       * another one begins at once, in the task that makes it */
    REC_TASK_BEGIN,   /* id: task, other: the task that is left for it */
    REC_TASK_END,     /* id: task, other: the task that goes on, sub: ompt_task_status_t */
    REC_TASK_RUN,   /* REC_TASK_BEGIN, and the same task's REC_TASK_END `number` ticks later, with nothing of this track
                       * between; sub: of the end */
    REC_DEPENDENCE, /* id: the task that comes first, other: the one that waits for it */
    REC_WAIT_BEGIN, /* id: task, sub: recording_wait, other: the code in the place of an id's; of a lock
                       * (REC_WAIT_LOCK to REC_WAIT_ORDERED): the lock, number: the code; REC_WAIT_OUTSIDE: other: the
                       * thread */
    REC_WAIT_END,   /* the same; perhaps in another track than the beginning. Of a lock: it is held from here on */
    REC_LOCK_HELD,  /* the same, of a lock that was free, or a wait of a microsecond at most */
    REC_LOCK_FREE,  /* the same; number: the code that took it */
    REC_WORK_BEGIN, /* id: task, other: code in the place of an id's, sub: ompt_work_t, number: iterations (2^32-1:
                       * as many, or more) */
    REC_WORK_END,   /* the same */
    REC_CANCEL,     /* id: task, number: ompt_cancel_flag_t */
    /* The scheduler's (psthreads/data/watch.h). */
    REC_PARK, /* sub: 1: the thread that the vp ran waits; it has the vp until another event says otherwise */
    REC_UNPARK,
    REC_STEAL, /* vp: the victim, sub: level of distance */
    REC_SPARE_BEGIN,
    REC_SPARE_END,
    REC_ROOT_LEAVES, /* vp: the root's home */
    REC_ROOT_HOME,
    REC_STALL, /* vp: which one, id: ns. In the last track */
    REC_KINDS
};

enum recording_wait {
    REC_WAIT_BARRIER = 1, /* explicit */
    REC_WAIT_IMPLICIT,    /* of a work-share */
    REC_WAIT_JOIN,        /* at the region's end */
    REC_WAIT_TASKWAIT,
    REC_WAIT_TASKGROUP,
    REC_WAIT_REDUCTION,
    REC_WAIT_LOCK,
    REC_WAIT_CRITICAL,
    REC_WAIT_ATOMIC,
    REC_WAIT_ORDERED,
    REC_WAIT_OUTSIDE,    /* what a layer over a foreign interface waits for: MPI */
    REC_WAIT_DEPENDENCE, /* taskwait with depend clauses */
    REC_WAITS
};

struct recording_event {
    uint64_t time; /* ticks */
    uint8_t kind, sub;
    uint16_t vp;
    uint32_t number;
    uint64_t id, other;
};
_Static_assert(sizeof(struct recording_event) == 32, "two a line");

/* Regions and tasks: a code's index, and a number that is theirs alone in this process. 0: not known. */
#define REC_ID(code, serial) ((uint64_t)(code) << 44 | (serial))
#define REC_ID_CODE(id) ((unsigned)((id) >> 44))
#define REC_MAX_CODES 1024 /* those beyond share index 0: unknown code */

/* What a vp's time went to. */
enum recording_state {
    REC_IN_RUNTIME, /* neither of the others: it searches, switches, starts */
    REC_USEFUL,     /* the program's code in regions */
    REC_SERIAL,     /* the program's code outside of regions */
    REC_IMBALANCE,  /* waits in barriers and joins, without work */
    REC_TASKS,      /* waits for tasks, without one to run */
    REC_LOCKS,      /* waits for locks, critical, ordered, atomic */
    REC_OUTSIDE,    /* waits in MPI */
    REC_PARKED,
    REC_STATES
};

#define REC_SIZES 64 /* slot n: 2^n to 2^(n+1) ticks; slot 0 has 0 ticks as well */
#define REC_DISTANCES 16

/* An address in the program, as the tool interface tells it (a return address). Filled once; `address` is stored last
 * (release). */
struct recording_code {
    _Atomic uint64_t address; /* 0: free */
    uint64_t path;            /* in the texts: the object's file; 0: not known */
    uint64_t offset;          /* address less what the object was moved by: as its symbols and its DWARF have it */
    uint32_t build_id_bytes;
    uint8_t build_id[20];
    uint64_t unused[2];
};
_Static_assert(sizeof(struct recording_code) == 64, "a line");

/* Sums of what one track had to do with one code. The track's own; readers take them relaxed and add up the tracks. */
struct recording_sums {
    _Atomic uint64_t state[REC_STATES];          /* ticks, of members and of tasks made here */
    _Atomic uint64_t regions, threads;           /* opened here; members, summed */
    _Atomic uint64_t inner;                      /* regions among them that were opened inside of another */
    _Atomic uint64_t serialized;                 /* regions among them of one member */
    _Atomic uint64_t wall;                       /* ticks, parents' from begin to end, of these regions */
    _Atomic uint64_t useful, longest;            /* of these: all members' useful ticks; the longest member's,
                                                         * times the number of members. Less useful: imbalance */
    _Atomic uint64_t created, tasks, task_ticks; /* tasks made here; those ended, and their useful ticks */
    _Atomic uint64_t loops, iterations;          /* in regions that were opened here, each loop once */
    _Atomic uint64_t locks, lock_waits, lock_ticks, lock_held; /* taken here; those waited for, how long; held */
};
_Static_assert(sizeof(struct recording_sums) % 64 == 0, "lines");

struct recording_track {
    _Atomic uint64_t written;  /* events ever */
    _Atomic uint64_t capacity; /* see above; grows until `written` reaches it where nothing is left to grow by */
    _Atomic uint64_t last;     /* ticks of the last change of state: since then the vp is in `state`, at `code` */
    _Atomic uint32_t state, code;
    _Atomic uint32_t tid, is_spare;
    _Atomic uint64_t thread; /* not a vp's: the number of the OpenMP thread, from 1 */
    /* Ticks. Not less than `last`: the wait of `state` ended then, elsewhere; since then the vp sleeps (REC_PARKED). */
    _Atomic uint64_t wait_over;
    _Atomic uint64_t unused;
    /* Of all codes. */
    _Atomic uint64_t parks, spares, steals[REC_DISTANCES];
    _Atomic uint64_t task_sizes[REC_SIZES]; /* tasks by their useful ticks */
    struct recording_sums sums[REC_MAX_CODES];
};

/* Both at the same time. With ns of two such pairs ticks become ns; a recording of a killed program may have `now` some
 * time before its last event. */
struct recording_clock {
    _Atomic uint64_t ticks, ns; /* ns: CLOCK_MONOTONIC */
};

struct recording_segment {
    _Atomic uint64_t offset; /* of its events in the file; 0: free */
    uint32_t track, index;   /* the index-th of its track */
};

struct recording {
    uint64_t magic;
    uint32_t version, header_bytes; /* of this struct */
    _Atomic uint64_t file_bytes;
    uint32_t pid, parent_pid;
    int32_t rank;        /* of MPI; -1: none */
    uint32_t num_tracks; /* places for tracks; the last one is for kernel threads without a vp */
    uint32_t num_vps;    /* tracks from here on are of spare and of roots' vps; 0: tracks are OpenMP threads' */
    uint32_t num_processors;
    uint32_t keeps_events;             /* 0: sums only */
    uint32_t nested_off;               /* max-active-levels-var is 1 */
    struct recording_clock begin, now; /* now: at the last look, from time to time and at the end */
    _Atomic uint64_t ended_ticks;      /* 0: the program has not ended, or not by its end (killed, _exit, exec) */
    _Atomic uint64_t mpi_init_ns;      /* CLOCK_MONOTONIC at the end of MPI_Init: joins ranks; 0: none */
    _Atomic uint64_t segments_refused; /* the limit was reached, or the file could not grow */
    _Atomic uint64_t segments_failed;  /* of these: the file could not grow; a full disk, a limit of the system's */
    uint64_t limit_bytes;              /* of all events */
    uint64_t segment_events, max_segments;
    /* Offsets: of struct recording_code [REC_MAX_CODES], of the texts (each ends with 0; 0: ""), of uint64_t
     * [num_tracks], which are offsets of tracks (0: not there), of struct recording_segment [max_segments]. */
    uint64_t codes_at, texts_at, texts_bytes, tracks_at, segments_at;
    _Atomic uint64_t num_codes; /* from 1 on; 0 is the unknown code */
    _Atomic uint64_t codes_refused;
    _Atomic uint64_t texts_used;
    uint64_t command_at; /* in the texts: arguments, joined by spaces */
    char runtime[64];    /* as ompt_start_tool was told, and the version */
};

#endif
