/* The thread descriptor: what identifies a thread. The stack is not part of it.
 *
 * A descriptor has 96 bytes. A million ready threads that have not begun need a million of these and nothing else,
 * since a thread gets its stack when it begins (psthreads-2009 section 2.1: lazy stack allocation). Fields that a
 * thread needs only while it runs are in its uth, or share memory with fields that it needs only before it begins. When
 * a thread begins, ps_thread_begin overwrites what it no longer needs. A member keeps these fields, since it begins
 * again and again.
 *
 * One thread at a time may read or write a field. While `state` is MADE: the maker; READY: the holder of the queue's
 * lock; RUNNING: the thread itself. Fields marked (shared) are atomic, and used by the threads that their comments
 * name. */
#ifndef PS_THREAD_H
#define PS_THREAD_H

#include "atomic.h"
#include "compiler.h"
#include "list.h"
#include "magazine.h"

struct uth;
struct vp;

/* The kinds of entries of a ready queue. struct psthread and struct ps_team each have a ps_item. */
enum ps_kind { PS_KIND_THREAD, PS_KIND_TEAM };

struct ps_item {
    struct ps_list link; /* read and written under the lock of the queue that has the item */
    uint8_t kind;        /* PS_KIND_...; constant while the item is in a queue */
    uint8_t room[2];     /* here struct psthread has its flags and state */
    /* 1: the item is a member, or a team, that is bound to a place (bind.h). Written by the parent while no region is
     * open. */
    uint8_t bound;
};

/* Returns true if the item is a thread that is not bound. Reads kind and bound by one load; the bytes between them do
 * not matter. (All processors that we support are little-endian.) */
static inline bool ps_item_plain(const struct ps_item *item)
{
    uint32_t word;
    __builtin_memcpy(&word, (const char *)item + offsetof(struct ps_item, kind), sizeof word);
    return (word & 0xff0000ffu) == 0;
}
_Static_assert(PS_KIND_THREAD == 0 && offsetof(struct ps_item, bound) == offsetof(struct ps_item, kind) + 3,
               "see there");

enum ps_state {
    PS_MADE,  /* made, but not submitted */
    PS_READY, /* submitted, but not begun: in a queue, or handed to a vp */
    /* As READY, but submitted by psthread_spawn: a joiner may call it in the joiner's own thread-local block. */
    PS_SPAWNED,
    PS_RUNNING, /* begun: it runs on a vp, is in a queue again, or is blocked; the state does not tell which */
    PS_ENDED,   /* its function has returned; the descriptor waits to be reaped or reused */
    PS_FREE,    /* the descriptor is free, in a magazine or the depot */
};

#define PS_T_DETACHED 0x01u
#define PS_T_NOSTACK 0x02u /* the thread gets no stack: it runs as a call on another stack, and may not block */
#define PS_T_REUSED 0x04u  /* the descriptor belongs to the user (psthread_create_ex), so it is not recycled */
/* A root, or a member that runs as a call on a root's stack: the stack is a kernel thread's own. */
#define PS_T_ROOT 0x08u
#define PS_T_MEMBER 0x10u /* a member of a team: its descriptor is part of the team's memory */
/* a member that runs as a call on another thread's stack, so psthread_exit may not end that stack */
#define PS_T_CALLED 0x20u
#define PS_T_OUTER 0x40u /* made by a root: psthread_enqueue puts such a thread at the back of a queue */
#define PS_T_SIZED 0x80u /* wants a stack of at least stack_size bytes */

/* Values of `join`. Any other value is the address of the thread that waits for this one. */
#define PS_JOIN_OPEN ((uintptr_t)0)     /* the thread has not ended, and no thread waits for it yet */
#define PS_JOIN_ENDED ((uintptr_t)1)    /* the thread has ended; `result` is valid */
#define PS_JOIN_DETACHED ((uintptr_t)2) /* the thread is detached: no thread may join it */
#define PS_JOIN_JOINED ((uintptr_t)3)   /* the thread has ended, and a joiner has its result */
/* The thread and its parent have ended; the thread is in no list, and its joiner frees it. */
#define PS_JOIN_ORPHANED ((uintptr_t)4)

/* Added to `children` when a parent ends before its children do: the parent's own reference to its descriptor. */
#define PS_CHILDREN_HELD ((int64_t)1 << 60)

struct psthread {
    union {
        struct ps_item item;
        struct { /* ps_item once more, with flags, state and level in the bytes that it leaves free */
            struct ps_list item_link;
            uint8_t item_kind;
            uint8_t flags; /* PS_T_..., set by the maker; a member's when it begins */
            _Atomic uint8_t state;
            uint8_t item_bound;
            uint32_t level;
        };
        struct ps_piece piece; /* while FREE */
        struct {               /* once ENDED, when the thread enters no queue any more */
            /* The next thread in the parent's `zombies`; written before this thread is pushed there. */
            struct psthread *next_zombie;
            void *result;
        };
    };
    struct uth *uth; /* the thread's stack, written by the vp that begins the thread; NULL before */
    /* The vp that runs the thread, or ran it last; written by that vp. Before the thread has run, it is written by the
     * threads that make, submit or ready this one. */
    struct vp *vp;
    union {
        void *local; /* the entity layer's pointer */
        void *arg;   /* until the thread begins: the argument of fn. In a member: its own address */
    };
    union {
        void *keys;          /* the array of thread-specific values (key.c); used by the thread alone */
        void *(*fn)(void *); /* until the thread begins: its function; not used in a member */
    };
    /* The thread that has made this one. The parent's descriptor is not freed before this thread has subtracted itself
     * from the parent's `children`. */
    struct psthread *parent;
    union {
        /* (shared) How many children this thread has added here (children.h), minus how many have ended; negative while
         * ended children are not added yet. This thread adds; each child subtracts 1 at its end. After all were added,
         * the last child brings it to exactly 0. */
        _Atomic int64_t children;
        uintptr_t stack_size; /* with PS_T_SIZED, until the thread begins */
    };
    /* How many children this thread has made and not added to `children` yet. Used by the thread alone. */
    uint32_t created;
    /* How many more threads this thread makes before it looks through its zombies for those that were joined. Used by
     * the thread alone. */
    uint32_t sweep_in;
    union {
        /* (shared by the thread, its joiners and its parent) PS_JOIN_..., or the thread that waits for this one; not
         * used in a member. */
        _Atomic uintptr_t join;
        void *(*member_fn)(void *); /* of a member that is ready as a thread and has not begun: its function */
    };
    /* (shared: children push, this thread takes one or all) A stack of its ended children that were not joined before
     * their end. */
    _Atomic(struct psthread *) zombies;
};
_Static_assert(sizeof(struct psthread) == 96, "a million ready threads are to fit in 100 MB");
_Static_assert(offsetof(struct psthread, flags) == offsetof(struct ps_item, room) &&
                   offsetof(struct psthread, item_bound) == offsetof(struct ps_item, bound),
               "flags and state overlay ps_item's room");

/* How many threads a vp has made, submitted and ended. Written by the vp. Threads that wait for all others, and
 * reports, add up those of all vps. */
struct ps_thread_counts {
    _Atomic uint64_t made, submitted, ended;
};

/* The function that a fresh thread calls, and its argument. */
struct ps_call {
    void *(*fn)(void *);
    void *arg;
};

/* A parent looks through its `zombies` again after PS_SWEEP_EACH creations, and one more for each zombie that its last
 * look has left. */
#define PS_SWEEP_EACH 256

/* Begins t, which is no member: initializes the fields that share memory with fn and arg, and returns these two. Called
 * once, before t is any vp's current thread. */
static PS_ALWAYS_INLINE struct ps_call ps_thread_begin(struct psthread *t)
{
    struct ps_call call = {t->fn, t->arg};
    t->local = NULL;
    t->keys = NULL;
    ps_store_relaxed(&t->children, 0);
    t->created = 0;
    t->sweep_in = PS_SWEEP_EACH;
    ps_store_relaxed(&t->zombies, NULL);
    return call;
}

/* Functions of thread.c, descriptor.c and stop.c. */
/* Runs the destructors of t's keys. Called while t is still in its thread-local block. May switch; returns the vp on
 * which t runs then. */
struct vp *ps_thread_end_keys(struct vp *vp, struct psthread *t);
/* Ends what the member t, the running thread, has kept between regions: waits for the threads that it has made, and
 * runs its keys' destructors. May switch. */
void ps_thread_end_member(struct psthread *t);
/* Ends thread t, which runs on this vp. Called when t's function has returned, or t has called psthread_exit. May
 * switch, to wait for the children of a descriptor that belongs to the user. Returns the vp on which the caller runs
 * then. */
struct vp *ps_thread_end(struct vp *vp, struct psthread *t, void *result);
/* Initializes t as the descriptor of a root, whose vp is vp and whose stack is uth. */
void ps_thread_init_root(struct psthread *t, struct vp *vp, struct uth *uth);
/* Ends what root t has kept, since its kernel thread ends: runs its keys' destructors, waits for the threads that it
 * has made if `wait` is true, and frees those of its zombies that were joined. */
void ps_thread_end_root(struct psthread *t, bool wait);
/* Called by the thread that runs on vp. Lets other threads run until every thread that was submitted has ended. */
void ps_wait_for_all(struct vp *vp);
/* ps_descriptors_release_all gives all slabs of descriptors back to the system; no thread exists any more.
 * ps_descriptors_after_fork_in_child is called in a forked child, and forgets the descriptors in the depot. */
void ps_descriptors_release_all(void);
void ps_descriptors_after_fork_in_child(void);

#endif
