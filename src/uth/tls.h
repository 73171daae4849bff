/* Thread-local blocks: native thread-local storage (__thread, thread_local, threadprivate, errno, POSIX keys) that
 * belongs to a user-level thread and not to the kernel thread that carries it.
 *
 * A block is what the dynamic linker gives a new kernel thread: an instance of every loaded object's TLS segment, and
 * the C library's descriptor of the thread (what pthread_self() points to). The thread pointer addresses both. While a
 * user-level thread with a block runs, the thread pointer of its kernel thread is the block's.
 *
 * Life: uth_tls_get -> (uth_tls_enter ... uth_tls_leave)* -> uth_tls_enter, uth_tls_end, uth_tls_leave -> uth_tls_put.
 * A new block has initial values everywhere. It keeps its values when one kernel thread leaves it and another enters.
 * One kernel thread at a time is in it, and has acquired what the last one released (src/psthreads hands it over).
 *
 * What the caller must know:
 * - The runtime's own native thread-local variables are switched as well. After uth_tls_enter and uth_tls_leave the
 *   caller writes the current vp and its other variables anew. No address of such a variable may be kept across the two
 *   calls.
 * - To the C library the thread has a number of its own, which no kernel thread has (uth_tls_number_blocks). So owners
 *   of mutexes, rwlocks, streams and the dynamic linker's lock are right wherever the thread runs. src/identity numbers
 *   the blocks, and interposes the calls that pass a number to the kernel. Without it the number is that of the kernel
 *   thread which entered the block last.
 * - A library that dlopen brings may have its TLS segment in the static part of every thread (initial-exec; on AArch64
 *   any). Existing blocks get its initial values before its first constructor runs, where uth_tls_object_begins is
 *   called in time; otherwise at the next uth_tls_look_again, which outermost regions call (ps_per_region_work).
 *
 * Cost. To enter again, or to leave: one write of the thread pointer; uth_tls_enter makes three or four more stores.
 * Get from the cache: the copy of the initial values and of 1.5 KiB of the C library's descriptor. */
#ifndef PS_UTH_TLS_H
#define PS_UTH_TLS_H

#ifndef __cplusplus
#include "atomic.h"
#define UTH_ATOMIC(type) _Atomic(type)
#else
#define UTH_ATOMIC(type) type /* as large; only C code uses the field */
#endif
#include "compiler.h"
#include "cpu.h"
#include "list.h"

/* One block. uth/tls*.c write the fields, except those marked (psthreads), which src/psthreads keeps here. The inline
 * functions below, src/psthreads and src/identity read some of the others.
 *
 * tp: the thread pointer with which the block is addressed. tid: where the descriptor has the thread's number.
 * carrier_tid: the number that the last uth_tls_enter was given. used: a thread has entered the block since it was made
 * or renewed. */
struct uth_tls {
    void *tp;
    /* The vp that the last uth_tls_enter was given as `carrier`. NULL: since the block got its initial values, or since
     * uth_tls_take_away, no kernel thread has entered it. */
    UTH_ATOMIC(const void *) carrier;
    UTH_ATOMIC(const void *) cached; /* `carrier` or NULL: see uth_tls_is_cached; cleared when `dedicated` is set */
    /* What uth_tls_set_stack was given last; the block's own address: no stack so far. */
    void *stack;
    /* (psthreads) the only vp that may begin this thread (dedicated.h); NULL: any may. */
    UTH_ATOMIC(void *) dedicated;
    /* (psthreads) the team whose member keeps the block between regions (ps_team_rests); NULL: none */
    UTH_ATOMIC(void *) team;
    uint64_t mask; /* (psthreads) signal mask of a member of a team, until the member changes it */
    int *tid;
    int carrier_tid;
    int number;       /* the thread's number to the C library; 0: blocks are not numbered */
    const void *home; /* where `adopted` is true: the vp of the kernel thread whose own storage this is */
    /* (psthreads) the block's thread, while it has called another thread, which runs above it on the same stack */
    UTH_ATOMIC(void *) below;
    /* (psthreads) own: the vp of the thread's dedicated kernel thread; NULL: it has none. Once `dedicated` is set, it
     * has the same value. The thread's number (gettid) is that of this kernel thread. */
    UTH_ATOMIC(void *) own;
    void *own_stack;  /* (psthreads) the stack that the thread keeps (own_stack.h); NULL: none */
    unsigned numbers; /* how many of the next consecutive numbers the block's next threads may still take */
    bool adopted;     /* made by uth_tls_adopt */
    bool fresh;       /* at the next enter the C library's character tables must be set (ctype_init) */
    bool used;
    bool emptied;           /* the malloc cache of its last thread is gone: the next thread begins without one */
    uint64_t since_ns;      /* the time since which threads have filled the malloc cache */
    uint64_t put_ns;        /* when the block was given back */
    struct ps_list in_free; /* the block's place in the free list, while it is free */
    struct uth_tls *next_of_all, **link_of_all; /* the list uth_blocks.all */
    /* The block's state after the dynamic linker initialised it last: vector, the address of its vector of TLS blocks;
     * the vector's generation and last module; the epoch of loaded objects then. While nothing of this has changed,
     * initialise_quickly may initialise the block. vector NULL: only the dynamic linker may. */
    void *vector, *generation;
    size_t modules;
    uint32_t epoch;
    /* (psthreads) floats.h: the floating-point state with which the block's thread goes on, and the number of regions
     * in which that state was looked at */
    uint32_t float_regions;
    struct cpu_float floats;
};

/* AUTO: threads get blocks wherever blocks can be made. If making one fails, one line says why in two cases: a loaded
 * object other than the C library and the runtime needs blocks, or the system refused memory or a kernel thread. If a
 * sanitizer forbids blocks, the line is written where the program has thread-local variables. ALWAYS: likewise, except
 * that the line is written whenever there are no blocks. NEVER: no blocks, and no line. */
enum uth_tls_mode { UTH_TLS_AUTO, UTH_TLS_ALWAYS, UTH_TLS_NEVER };

/* Finds out whether blocks can be made here (C library, processor, sanitizers) and whether they are wanted. To learn
 * the C library's layout, it starts and ends a kernel thread; then it tries a block. If blocks cannot be made, one line
 * may say why: see uth_tls_mode. With `verbose` the line is always written, except with UTH_TLS_NEVER. Thread-safe,
 * idempotent: the first call decides. Returns uth_tls_enabled(). */
bool uth_tls_init(enum uth_tls_mode mode, bool verbose);
bool uth_tls_enabled(void);
/* If objects have been loaded since the last look, gives existing blocks the initial values of new segments in the
 * static part. If a new object needs that, makes all stacks executable, keeps floating-point status flags from now on
 * (uth_tls_keep_flags), or raises uth_tls_asks: all this even where there are no blocks. If nothing was loaded, the
 * cost is some tens of ns. Returns uth_tls_enabled(). */
bool uth_tls_look_again(void);

#ifndef __cplusplus
/* A list of words of the dynamic linker, one of which is its count of loaded objects (tls_objects.c). The list is
 * written under uth_blocks.init_lock, and read without a lock. */
#define UTH_TLS_WATCHED_MOST 8
typedef _Atomic unsigned long long uth_tls_count; /* the type of that count */
struct uth_tls_watch {
    _Atomic(const uth_tls_count *) word[UTH_TLS_WATCHED_MOST]; /* a word may be in the list several times */
    /* Number of words in the list (release, for `word`); 0: it is not known which words to watch. */
    _Atomic unsigned num;
    _Atomic bool begun; /* the list is made, or given up: no words are added any more */
    uth_tls_count seen; /* the count at the last look (release: blocks have all that was loaded until then) */
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
/* Returns true if it is certain that nothing has been loaded since the last look at the loaded objects. Costs a few
 * loads. Any kernel thread. */
static inline bool uth_tls_nothing_loaded(void) { return uth_tls_watched_are(ps_load_acquire(&uth_tls_watch.seen)); }
#endif

/* Does what uth_tls_look_again does, and also gives existing blocks the initial values of one object's segment, even if
 * an earlier look saw that segment (unless uth_tls_init saw it). `code` is an address in this object. The calling
 * kernel thread is loading the object: it is relocated, and none of its code has run. The caller holds the dynamic
 * linker's lock. Does nothing before uth_tls_init. */
void uth_tls_object_begins(const void *code);

/* From now on each block that is made gives its threads numbers of their own, from UTH_TLS_FIRST_NUMBER on. A number
 * stands where a kernel thread's storage has the thread id. Blocks of another process have the same numbers. Called
 * before the first block is made. */
#define UTH_TLS_FIRST_NUMBER \
    0x10000000 /* above the kernel's thread ids (PID_MAX_LIMIT, 2^22), within what fits beside a futex's flags */
void uth_tls_number_blocks(void);
/* Returns the block in which the calling kernel thread is; NULL: it is in its own storage. Costs a load. Not inlined,
 * for the reason given at ps_current (psthreads/data/scheduler.h). */
struct uth_tls *uth_tls_current(void);
/* Returns the block whose descriptor is at `pthread`, a value of pthread_self(). NULL: blocks are not numbered, or the
 * descriptor is in a kernel thread's own storage, and no other kernel thread is in that storage (uth_tls_adopt). The
 * thread must not have ended. */
struct uth_tls *uth_tls_of(uintptr_t pthread);
/* Stores in *stack and *bytes the bounds that pthread_getattr_np tells for the block's thread: those that
 * uth_tls_set_stack was given last. */
void uth_tls_stack(const struct uth_tls *tls, void **stack, size_t *bytes);
/* Returns the head of the C library's list of robust mutexes that the thread holds, as set_robust_list wants it. NULL:
 * its place in the descriptor is not known. */
void *uth_tls_robust_list(struct uth_tls *tls);
/* Gives the block's thread the number `tid`, by which the C library takes it for that kernel thread; tid 0: its own
 * number again. Returns the number that it had before. The caller is in the block, and no other code of the thread runs
 * meanwhile. */
int uth_tls_pose_as(struct uth_tls *tls, int tid);
/* A few free blocks, used by one caller at a time: a vp. All zero: it is empty. puts: how often uth_tls_keep was called
 * while there was room. */
#define UTH_TLS_NEAR 4
struct uth_tls_near {
    unsigned num, puts;
    struct uth_tls *block[UTH_TLS_NEAR];
};
/* Blocks are in no list of the C library. So gdb's "info threads" and setxid see kernel threads only, as they
 * should. */
/* Returns a block in the state of a thread that begins. Takes it from `near`, else from the shared free list, else
 * makes it. NULL: no memory; then uth_tls_missing is set. near may be NULL. */
struct uth_tls *uth_tls_get(struct uth_tls_near *near);
/* As uth_tls_get(NULL), for a thread that can do without a block for now: tries to make one only once, and does not set
 * uth_tls_missing. */
struct uth_tls *uth_tls_try_get(void);
/* Gives a block back to the shared free list. Called on a kernel thread's own thread pointer. Some calls also return
 * memory to the system: see put_tidily in tls.c. */
void uth_tls_put(struct uth_tls *tls);
/* Gives the block back to `near`, on any thread pointer. False: `near` is full, or memory is to be returned to the
 * system now; then the caller must call uth_tls_put. */
bool uth_tls_keep(struct uth_tls_near *near, struct uth_tls *tls);
/* Gives all blocks of `near` to the shared free list, by uth_tls_put. */
void uth_tls_drain(struct uth_tls_near *near);
/* Sets the stack that pthread_getattr_np tells for the thread: that of the uth on which it runs. May be called at any
 * time; costs three stores. */
void uth_tls_set_stack(struct uth_tls *tls, void *stack, size_t bytes);
static inline bool uth_tls_stack_differs(const struct uth_tls *tls, const void *stack) { return tls->stack != stack; }

/* Makes *tls stand for the storage of the calling kernel thread. `tid` is the number of this kernel thread. `home` is
 * its vp, which it later gives to uth_tls_enter as `carrier`. From now on other kernel threads may enter this storage
 * as they enter a block. While the kernel thread itself is in its storage, the storage does not count as a block:
 * uth_tls_current() returns NULL. An adopted block is in no list: uth_tls_get never returns it, and it is not given to
 * uth_tls_put. */
void uth_tls_adopt(struct uth_tls *tls, const void *home, int tid);
/* `is` true: from now on some kernel thread uses the block as its storage while it runs no thread, so uth_tls_current()
 * is NULL in the block. `is` false: ends that. */
void uth_tls_for_no_thread(struct uth_tls *tls, bool is);
/* Sets the calling kernel thread's thread pointer to the block's. `tid` is the number of the calling kernel thread.
 * `carrier` is its vp, never NULL, which the caller writes into a native thread-local variable of the runtime
 * afterwards. */
void uth_tls_enter(struct uth_tls *tls, const void *carrier, int tid);
#ifndef __cplusplus
/* Returns true if the vp `carrier`, with the number `tid`, was the last to enter the block. Then every field of the
 * block is right for this vp, and the write of the thread pointer alone (cpu_set_tp_soon) enters the block. False:
 * uth_tls_enter must be called. */
static inline bool uth_tls_was_in(const struct uth_tls *tls, const void *carrier, int tid)
{
    return ps_load_relaxed(&tls->carrier) == carrier && tls->carrier_tid == tid;
}
/* Returns true if the vp `carrier`, on this stack, may enter the block by the thread pointer's write alone, without a
 * look at anything else in the block. Three conditions: this vp was the last to enter the block, on this stack; it has
 * called uth_tls_keep_cached since; and no thread has called uth_tls_drop_cached since. */
static inline bool uth_tls_is_cached(const struct uth_tls *tls, const void *carrier, const void *stack)
{
    return ps_load_relaxed(&tls->cached) == carrier && tls->stack == stack;
}
/* Leaves the block. `own` is the kernel thread's own thread pointer: what cpu_get_tp returned before the first
 * enter. */
static inline void uth_tls_leave(void *own) { cpu_set_tp_soon(own); }
#else
inline void uth_tls_leave(void *own) { cpu_set_tp(own); }
#endif
/* Lets the vp that is in the block (the caller) enter it again by the thread pointer's write alone, until another vp
 * enters it or a thread calls uth_tls_drop_cached. A thread with a reason against this stores the reason (seq_cst),
 * then calls uth_tls_drop_cached. The vp makes this call (a seq_cst store), then looks for such a reason (seq_cst). So
 * one of the two sees the other. Does nothing where blocks are not numbered: each enter must then write the number of
 * the vp's kernel thread. */
void uth_tls_keep_cached(struct uth_tls *tls);
/* Ends what uth_tls_keep_cached began. Any kernel thread may call it. */
void uth_tls_drop_cached(struct uth_tls *tls);
/* Does what uth_tls_drop_cached does, and makes uth_tls_was_in false: whichever vp comes next must call uth_tls_enter.
 * Any kernel thread may call it. */
void uth_tls_take_away(struct uth_tls *tls);
/* From now on each thread has floating-point status flags of its own (cpu_float_keep_flags), and no block stays cached:
 * the flags in a member's block must be looked at when it begins and ends (psthreads/team/floats.h). */
void uth_tls_keep_flags(void);
/* Runs C++ thread_local destructors, then POSIX keys' destructors. Then resets errno, h_errno, the locale, and what
 * dlerror returns. Called inside the block, at the end of its thread. [runs the program's code] */
void uth_tls_end(struct uth_tls *tls);

/* Frees all blocks of the shared free list. Called on a kernel thread's own thread pointer. */
void uth_tls_trim(void);
/* Becomes true when blocks are needed (by some object, or with UTH_TLS_ALWAYS) and making the first one failed, or when
 * uth_tls_get fails. Stays false if a sanitizer or the port forbids blocks. Once it is true, regions get one member,
 * and it stays true. */
#ifndef __cplusplus
extern _Atomic bool uth_tls_missing;
#endif
/* The number of a team's first regions in which its parent calls no members on its own stack, because a member may ask
 * for the bounds of its stack (own_stack.h). NOT: no code asks, or no code could answer (blocks without numbers).
 * MAYBE: an object uses pthread_getattr_np, or a thread that is no member has called it. UTH_TLS_ASKS, all regions: a
 * member has asked. The value only grows. */
#ifndef __cplusplus
enum { UTH_TLS_ASKS_NOT = 0, UTH_TLS_ASKS_MAYBE = 1000 };
#define UTH_TLS_ASKS UINT32_MAX
extern _Atomic uint32_t uth_tls_asks __attribute__((visibility("hidden")));
#endif
/* Raises uth_tls_asks to `asks`, if it is less than that. */
void uth_tls_may_ask(uint32_t asks);
/* Called by src/psthreads's fork handlers, before fork() and after it in both processes. Between the two calls no other
 * thread changes the lists of blocks, so the child gets whole lists. */
void uth_tls_before_fork(void);
void uth_tls_after_fork(void);
/* Called in a forked child after uth_tls_after_fork, on its only thread, with any thread pointer. `carrier`: the own
 * thread pointer of the kernel thread that forked; NULL: that kernel thread carries no user-level threads. Returns the
 * block in which fork was called; NULL: it was called in none. From here on the C library uses that block as the
 * storage of the child's only kernel thread. So the block has that thread's number, and is neither listed nor given
 * back. */
struct uth_tls *uth_tls_after_fork_in_child(void *carrier);

#endif
