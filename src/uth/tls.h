/* Thread-local blocks: native thread-local storage (__thread, thread_local, threadprivate, errno, POSIX keys) that
 * belongs to a user-level thread and not to the kernel thread that carries it.
 *
 * A block is what the dynamic linker gives a new kernel thread: an instance of every loaded object's TLS segment, and
 * the C library's descriptor of the thread (what pthread_self() points to). The thread pointer addresses both. While a
 * user-level thread with a block runs, the thread pointer of its kernel thread is the block's.
 *
 * Life: uth_tls_get -> (uth_tls_enter ... uth_tls_leave)* -> uth_tls_enter, uth_tls_end, uth_tls_leave -> uth_tls_put.
 * A new block has initial values everywhere; between enter and leave of different kernel threads it keeps its values.
 * One kernel thread at a time enters it, and has acquired what the last one released (src/psthreads hands it over).
 *
 * What the caller must know:
 * - The runtime's own native thread-local variables are switched as well. After uth_tls_enter and uth_tls_leave the
 *   current vp (and the like) must be written anew, and no address of such a variable may be kept across them.
 * - To the C library the thread has a number of its own, which no kernel thread has (uth_tls_number_blocks). So what
 *   it compares (owners of mutexes, rwlocks, streams, the dynamic linker's lock) is right wherever the thread runs.
 *   The room that numbers blocks interposes the calls that hand a number on to the kernel. Without such a room the
 *   number is the carrier's.
 * - A library that dlopen brings may have its TLS segment in the static part of every thread (initial-exec; on AArch64
 *   any). Existing blocks get its initial values before its first constructor runs, where uth_tls_object_begins is
 *   called in time, else at the next uth_tls_look_again. So every region begins with a uth_tls_look_again.
 *
 * Cost. Enter again, leave: the thread pointer's write. Enter: two stores more. Get from the cache: the copy of the
 * initial values and of 1.5 KiB of the C library's descriptor. */
#ifndef PS_UTH_TLS_H
#define PS_UTH_TLS_H

#ifndef __cplusplus
#include "atomic.h"
#define UTH_ATOMIC(type) _Atomic(type)
#else
#define UTH_ATOMIC(type) type /* as large, and used by C alone */
#endif
#include "compiler.h"
#include "cpu.h"
#include "list.h"

/* Used by tls.c alone, except the first line, which the inline functions below read, and fields marked (psthreads),
 * which src/psthreads keeps here. */
struct uth_tls {
    void *tp;
    /* of the last uth_tls_enter; NULL: no thread has entered the block since it got its initial values, or since
     * uth_tls_take_away */
    UTH_ATOMIC(const void *) carrier;
    UTH_ATOMIC(const void *) cached; /* see uth_tls_is_cached; cleared where `dedicated` is set */
    void *stack;                     /* that uth_tls_set_stack told last */
    UTH_ATOMIC(void *) dedicated;    /* (psthreads) the vp that alone begins this thread (dedicated.h); NULL: none */
    /* (psthreads) the team with the member that keeps the block between regions; NULL: none (ps_team_rests) */
    UTH_ATOMIC(void *) team;
    uint64_t mask; /* (psthreads) the signal mask of a member that has a team, until the member changes it */
    int *tid;
    int carrier_tid;
    int number;               /* 0: blocks are not numbered */
    const void *home;         /* with `adopted` */
    UTH_ATOMIC(void *) below; /* (psthreads) the thread, while it is suspended below one that it has called */
    UTH_ATOMIC(void *) own;   /* (psthreads) the vp that `dedicated` is, or would be; its number is the thread's */
    void *own_stack;          /* (psthreads) the stack that the thread keeps (own_stack.h); NULL: none so far */
    unsigned numbers;         /* that it may still take, one behind the other */
    bool adopted;             /* uth_tls_adopt */
    bool fresh;               /* character tables are still to be set, which takes the block's thread pointer */
    bool used;
    bool emptied;           /* its malloc state is gone: the next thread gets one of its own */
    uint64_t since_ns;      /* since when the malloc cache has been filled */
    uint64_t put_ns;        /* when it became free */
    struct ps_list in_free; /* free: in the list of those */
    struct uth_tls *next_of_all, **link_of_all;
    /* How the dynamic linker has initialised the block last: its vector, the vector's generation and last module, and
     * the epoch of loaded objects. NULL: only the dynamic linker can initialise the block again. */
    void *vector, *generation;
    size_t modules;
    uint32_t epoch;
    /* (psthreads) floats.h: the floating-point state that its thread goes on with, and in how many regions that was
     * looked at */
    uint32_t float_regions;
    struct cpu_float floats;
};

/* auto: wherever blocks can be made. Where they cannot, one line says why: with auto only if a loaded object other than
 * the C library and the runtime has thread-local variables, with always in any case. */
enum uth_tls_mode { UTH_TLS_AUTO, UTH_TLS_ALWAYS, UTH_TLS_NEVER };

/* Finds out whether blocks can be made here (C library, processor, sanitizers) and whether they are wanted. To learn
 * the C library's layout it starts and ends one kernel thread; then it tries a block. If blocks cannot be made, one
 * line says why, where that was asked for (UTH_TLS_ALWAYS, or verbose). Thread-safe, idempotent: the first call
 * decides. Returns uth_tls_enabled(). */
bool uth_tls_init(enum uth_tls_mode mode, bool verbose);
bool uth_tls_enabled(void);
/* Looks again where objects were loaded since the last look. Existing blocks get the initial values of segments in the
 * static part. Stacks hold code where an object asks for that (also without blocks). Nothing loaded: some tens of ns.
 * Returns uth_tls_enabled(). */
bool uth_tls_look_again(void);

#ifndef __cplusplus
/* Words of the dynamic linker's, of which one counts what it loads (tls_objects.c), and what that count was at the last
 * uth_tls_look_again. Written under a lock. */
#define UTH_TLS_WATCHED_MOST 8
typedef _Atomic unsigned long long uth_tls_count; /* as the dynamic linker's */
struct uth_tls_watch {
    _Atomic(const uth_tls_count *) word[UTH_TLS_WATCHED_MOST]; /* one may stand there several times */
    _Atomic unsigned num;                                      /* 0: none is known */
    _Atomic bool begun;
    uth_tls_count seen; /* release: blocks have what was loaded until then */
};
extern struct uth_tls_watch uth_tls_watch __attribute__((visibility("hidden")));
static inline bool uth_tls_watched_are(unsigned long long loaded)
{
    unsigned num = ps_load_acquire(&uth_tls_watch.num);
    bool same = num != 0;
    for (unsigned i = 0; i < num; i++)
        same &= ps_load_relaxed(ps_load_relaxed(&uth_tls_watch.word[i])) == loaded;
    return same;
}
/* Whether nothing was loaded, for certain, since the last uth_tls_look_again that found something. A few loads. */
static inline bool uth_tls_nothing_loaded(void) { return uth_tls_watched_are(ps_load_acquire(&uth_tls_watch.seen)); }
#endif

/* `code` is an address in an object that the calling kernel thread is loading: the object is relocated, and none of its
 * code has run. Does what uth_tls_look_again does, and gives the object's segment its initial values whatever was seen
 * of it before. The caller has the dynamic linker's lock. Does nothing where uth_tls_init has not been called. */
void uth_tls_object_begins(const void *code);

/* From now on each block that is made has a number of its own, from UTH_TLS_FIRST_NUMBER on, where a kernel thread's
 * storage has the thread id. Blocks of another process have the same numbers. Called before the first block is made. */
#define UTH_TLS_FIRST_NUMBER \
    0x10000000 /* above all that the kernel gives (PID_MAX_LIMIT, 2^22), within what fits beside a futex's flags */
void uth_tls_number_blocks(void);
/* Returns the block that the calling kernel thread is in; NULL: its own storage. Costs a load. Not inlined: see
 * psthreads/data/scheduler.h, ps_current. */
struct uth_tls *uth_tls_current(void);
/* Returns the block with this descriptor (a thread's pthread_self()); NULL: it is a kernel thread's. The thread has not
 * ended. */
struct uth_tls *uth_tls_of(uintptr_t pthread);
/* Tells the stack that uth_tls_set_stack was given last; NULL: a kernel thread's own. */
void uth_tls_stack(const struct uth_tls *tls, void **stack, size_t *bytes);
/* Returns the address of the C library's list of robust mutexes that the thread holds, for set_robust_list; NULL: it is
 * not known. */
void *uth_tls_robust_list(struct uth_tls *tls);
/* The C library's calls that follow take the thread for kernel thread tid; 0: for itself again. Inside the block;
 * nothing else of the thread's runs meanwhile. Returns the number for which they have taken it so far. */
int uth_tls_pose_as(struct uth_tls *tls, int tid);
/* A few blocks that one caller at a time takes from and gives back to. All zero: there are none. */
#define UTH_TLS_NEAR 4
struct uth_tls_near {
    unsigned num, puts;
    struct uth_tls *block[UTH_TLS_NEAR];
};
/* The C library does not list blocks: gdb's "info threads" and setxid see only kernel threads, and that is right. */
/* Returns a block in the state of a thread that begins, out of `near` if it has one; NULL: no memory. near may be
 * NULL. */
struct uth_tls *uth_tls_get(struct uth_tls_near *near);
/* As uth_tls_get, for a thread that does not need the block yet: no second try, and uth_tls_missing stays as it was. */
struct uth_tls *uth_tls_try_get(void);
/* Gives a block back. Called on a kernel thread's own thread pointer. Now and then it returns memory to the system: see
 * tls.c. */
void uth_tls_put(struct uth_tls *tls);
/* Gives the block back to near, on any thread pointer. False: near is full, or it is time to give memory back; then the
 * caller has to call uth_tls_put. */
bool uth_tls_keep(struct uth_tls_near *near, struct uth_tls *tls);
/* Puts all blocks that are in near (uth_tls_put). */
void uth_tls_drain(struct uth_tls_near *near);
/* Sets the stack that pthread_getattr_np tells: that of the uth on which the thread runs. Any time; cheap. */
void uth_tls_set_stack(struct uth_tls *tls, void *stack, size_t bytes);
static inline bool uth_tls_stack_differs(const struct uth_tls *tls, const void *stack) { return tls->stack != stack; }

/* Lets *tls stand for the storage of the calling kernel thread, which has the number tid and carries `home` (a vp). So
 * another kernel thread may enter that storage as it enters a block. At home it is no block: uth_tls_current() is NULL
 * there. It is in no list of blocks, and is neither got nor put. */
void uth_tls_adopt(struct uth_tls *tls, const void *home, int tid);
/* Says whether the block is the storage of a kernel thread that runs nothing: then uth_tls_current() is NULL in it. */
void uth_tls_for_no_thread(struct uth_tls *tls, bool is);
/* Takes the block's thread pointer; tid is the calling kernel thread's number. carrier: not NULL, what the caller
 * writes into a native variable of the runtime's after this. */
void uth_tls_enter(struct uth_tls *tls, const void *carrier, int tid);
#ifndef __cplusplus
/* Whether the same carrier was the last to enter the block: then all that is in it is right, and the thread pointer's
 * write (cpu_set_tp_soon) enters it. False: uth_tls_enter does. */
static inline bool uth_tls_was_in(const struct uth_tls *tls, const void *carrier, int tid)
{
    return ps_load_relaxed(&tls->carrier) == carrier && tls->carrier_tid == tid;
}
/* Whether this carrier, on this stack, may enter the block by the thread pointer's write alone. That is so if the
 * carrier was the last to enter the block, on this stack, has said so since (uth_tls_keep_cached), and no thread has
 * taken that back. Then nothing else about the block need be looked at. */
static inline bool uth_tls_is_cached(const struct uth_tls *tls, const void *carrier, const void *stack)
{
    return ps_load_relaxed(&tls->cached) == carrier && tls->stack == stack;
}
/* Returns to the kernel thread's own thread pointer (cpu_get_tp before the first enter). */
static inline void uth_tls_leave(void *own) { cpu_set_tp_soon(own); }
#else
inline void uth_tls_leave(void *own) { cpu_set_tp(own); }
#endif
/* Inside the block: its carrier may enter it from now on by the thread pointer's write alone, until another one enters
 * it, or another thread takes that back (uth_tls_drop_cached). A thread with a reason against it publishes the reason
 * (seq_cst), then takes it back. The carrier makes this call, then looks for such a reason (seq_cst): one of the two
 * sees the other. Nothing is said where the block's number is its carrier's. */
void uth_tls_keep_cached(struct uth_tls *tls);
/* Takes back what uth_tls_keep_cached said. Any kernel thread. */
void uth_tls_drop_cached(struct uth_tls *tls);
/* Does what uth_tls_drop_cached does, and no thread may enter the block again as it was: uth_tls_was_in is false. Any
 * kernel thread. */
void uth_tls_take_away(struct uth_tls *tls);
/* From now on each thread has floating-point status flags of its own (cpu_float_keep_flags). No block stays cached: a
 * member looks at its block's flags when it begins and ends (psthreads/team/floats.h). */
void uth_tls_keep_flags(void);
/* Runs C++ thread_local destructors, then POSIX keys' destructors. Called inside the block, at the end of its thread.
 * [runs the program's code] */
void uth_tls_end(struct uth_tls *tls);

/* Gives the cached blocks back. On a kernel thread's own thread pointer. */
void uth_tls_trim(void);
/* True: some object has thread-local storage, so threads need blocks, and none can be made (or no more). Regions get
 * one thread then. Never false again. */
#ifndef __cplusplus
extern _Atomic bool uth_tls_missing;
#endif
/* In this many first regions of a team its parent calls no members, since one may ask for the bounds of its stack
 * (own_stack.h). NOT: no code answers the question (blocks without numbers). MAYBE: an object wants pthread_getattr_np,
 * or a thread that is no member has called it. ASKS, that is in all regions: a member has asked. Only grows. */
#ifndef __cplusplus
enum { UTH_TLS_ASKS_NOT = 0, UTH_TLS_ASKS_MAYBE = 1000 };
#define UTH_TLS_ASKS UINT32_MAX
extern _Atomic uint32_t uth_tls_asks __attribute__((visibility("hidden")));
#endif
/* Raises uth_tls_asks to `asks`, if it is less. */
void uth_tls_may_ask(uint32_t asks);
/* Called around fork(), by the room that registers fork handlers: no other thread is in the middle of the lists of
 * blocks while the child is copied. */
void uth_tls_before_fork(void);
void uth_tls_after_fork(void);
/* Called in a forked child after that, on its only thread, with any thread pointer. `carrier`: the own thread pointer
 * of the kernel thread that forked; NULL: it carries no user-level threads. Returns the block that the fork was called
 * in, NULL if it was called in none. The C library uses that block from here on as the storage of the child's only
 * kernel thread: the block has that thread's number, and is neither listed nor given back. */
struct uth_tls *uth_tls_after_fork_in_child(void *carrier);

#endif
