/* The thread descriptor: an identity, not a stack.
 *
 * Kept small (96 bytes): a million ready threads are a million of these and nothing else (psthreads-2009 section 2.1:
 * lazy stack allocation). Fields that a thread needs only while it runs stand in its uth, or share memory with fields
 * that it needs only before it begins. ps_thread_begin overwrites the latter, for a thread that is no member. A member
 * begins again and again, and keeps its fields.
 *
 * A field may be touched by one thread at a time. While `state` is MADE: by the maker; while READY: by the holder of
 * the queue's lock; while RUNNING: by the thread itself. Fields marked (shared) are touched atomically, by the threads
 * that the comment names. */
#ifndef PS_THREAD_H
#define PS_THREAD_H

#include "atomic.h"
#include "compiler.h"
#include "list.h"
#include "magazine.h"

struct uth;
struct vp;

/* What can stand in a ready queue: psthread and ps_team, each of which has a ps_item. */
enum ps_kind { PS_KIND_THREAD, PS_KIND_TEAM };

struct ps_item {
    struct ps_list link; /* guarded by the lock of the queue it is in */
    uint8_t kind;        /* constant while it is in a queue */
    uint8_t room[2];     /* psthread's own */
    uint8_t bound;       /* 1: a member, or a team, that belongs to a place (bind.h); written while no region is open */
};

/* Whether the item is a thread that is not bound: reads kind and bound at once, whatever the room between them holds
 * (the processors are little-endian). */
static inline bool ps_item_plain(const struct ps_item *item)
{
    uint32_t word;
    __builtin_memcpy(&word, (const char *)item + offsetof(struct ps_item, kind), sizeof word);
    return (word & 0xff0000ffu) == 0;
}
_Static_assert(PS_KIND_THREAD == 0 && offsetof(struct ps_item, bound) == offsetof(struct ps_item, kind) + 3,
               "see there");

enum ps_state {
    PS_MADE,    /* created, not submitted */
    PS_READY,   /* submitted: in a queue, or handed to a vp */
    PS_SPAWNED, /* the same, by psthread_spawn: a joiner may call it in the joiner's thread-local block */
    PS_RUNNING, /* begun: on a vp, in a queue again, or blocked; the state does not tell which */
    PS_ENDED,   /* its function has returned; the descriptor waits to be reaped or reused */
    PS_FREE,    /* in a free list */
};

#define PS_T_DETACHED 0x01u
#define PS_T_NOSTACK 0x02u /* runs as a call, may not block */
#define PS_T_REUSED 0x04u  /* the descriptor is the user's (psthread_create_ex) */
#define PS_T_ROOT 0x08u    /* on a kernel thread's own stack */
#define PS_T_MEMBER 0x10u  /* of a team: its storage is the team's */
#define PS_T_CALLED 0x20u  /* runs as a call on another thread's stack: it must not end early */
#define PS_T_OUTER 0x40u   /* made by a thread that no psthread made (goes to the back of queues) */
#define PS_T_SIZED 0x80u   /* wants a stack of stack_size bytes */

/* Values of `join` that are not a waiting thread. */
#define PS_JOIN_OPEN ((uintptr_t)0)     /* runs or will run; no thread waits yet */
#define PS_JOIN_ENDED ((uintptr_t)1)    /* has ended; result is valid */
#define PS_JOIN_DETACHED ((uintptr_t)2) /* no thread may join */
#define PS_JOIN_JOINED ((uintptr_t)3)   /* result was taken */
#define PS_JOIN_ORPHANED ((uintptr_t)4) /* has ended, and so has its parent: in no list, the joiner frees it */

/* Added to `children` when a parent ends before them: the parent's own reference to the descriptor. */
#define PS_CHILDREN_HELD ((int64_t)1 << 60)

struct psthread {
    union {
        struct ps_item item;
        struct { /* stands in the bytes that ps_item leaves unused */
            struct ps_list item_link;
            uint8_t item_kind;
            uint8_t flags; /* PS_T_..., set by the maker */
            _Atomic uint8_t state;
            uint8_t item_bound;
            uint32_t level;
        };
        struct ps_piece piece;            /* while FREE: in a magazine */
        struct {                          /* once ENDED: it enters no queue any more */
            struct psthread *next_zombie; /* in the parent's zombies; written before it is pushed */
            void *result;
        };
    };
    struct uth *uth; /* its stack; NULL before it runs. Written by the vp that binds it */
    struct vp *vp;   /* the vp that runs it, or ran it last. Written by that vp */
    union {
        void *local; /* the entity layer's pointer */
        void *arg;   /* until it begins; a member's is its own address */
    };
    union {
        void *keys;          /* thread-specific values; owner only */
        void *(*fn)(void *); /* until it begins; not a member's */
    };
    struct psthread *parent; /* alive as long as its `children` has not counted this one */
    union {
        /* (shared) Children counted down: ended children minus those that the parent has added so far. The parent adds,
         * the children subtract. The last child, or the parent itself, reaches exactly 0. */
        _Atomic int64_t children;
        uintptr_t stack_size; /* with PS_T_SIZED, until it begins */
    };
    uint32_t created;  /* children made, minus those that have been added to `children`; owner only */
    uint32_t sweep_in; /* creations until the zombies are looked through for joined ones; owner only */
    union {
        _Atomic uintptr_t join;     /* (shared) PS_JOIN_..., or the thread that waits for this one; not a member's */
        void *(*member_fn)(void *); /* member that is ready and has not begun */
    };
    _Atomic(struct psthread *) zombies; /* (shared) as a parent: ended children that were not joined (stack) */
};
_Static_assert(sizeof(struct psthread) == 96, "a million ready threads are to fit in 100 MB");
_Static_assert(offsetof(struct psthread, flags) == offsetof(struct ps_item, room) &&
                   offsetof(struct psthread, item_bound) == offsetof(struct ps_item, bound),
               "flags and state overlay ps_item's room");

/* Threads of a vp: written by the vp, summed by psthread_finalize. */
struct ps_thread_counts {
    _Atomic uint64_t made, submitted, ended;
};

/* What a fresh thread calls. */
struct ps_call {
    void *(*fn)(void *);
    void *arg;
};

/* An ended thread's parent looks through its zombies after so many creations, and as many more as its last look has
 * left. */
#define PS_SWEEP_EACH 256

/* Begins t, which is fresh and no member: called once, before t is any vp's current thread. */
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

/* thread.c, descriptor.c, join.c */
/* Runs the destructors of t's keys while t is still in its thread-local block. May switch; returns the vp. */
struct vp *ps_thread_end_keys(struct vp *vp, struct psthread *t);
/* Ends the identity of a member, the running thread: waits for the threads that it has made, and runs its keys'
 * destructors. May switch. */
void ps_thread_end_member(struct psthread *t);
/* Ends thread t, which runs on this vp: called by the loop when its function has returned. May switch (destructors;
 * children of a descriptor that is the user's); returns the vp. */
struct vp *ps_thread_end(struct vp *vp, struct psthread *t, void *result);
void ps_thread_init_root(struct psthread *t, struct vp *vp, struct uth *uth);
/* Gives up the descriptor of a root whose kernel thread ends. wait: true where the threads that the root has made are
 * to end first. */
void ps_thread_end_root(struct psthread *t, bool wait);
/* The thread that runs on vp lets others run until every thread that was submitted has ended. */
void ps_wait_for_all(struct vp *vp);
void ps_descriptors_release_all(void);
void ps_descriptors_after_fork_in_child(void);

#endif
