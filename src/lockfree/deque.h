/* Work-stealing deque of pointers (Chase and Lev 2005, with the memory orders of Le, Pop, Cohen and Zappa Nardelli 2013).
 *
 * Does: one owner pushes and pops at the bottom, last in first out; anybody steals at the top, first in first out. Grows without
 * bound. Does not: sleep, wake, know what the pointers are, insert from outside, or remove from the middle (ready queues of
 * threads need both and are lists under a lock instead). NULL cannot be pushed.
 * Callers: ps_deque_push, ps_deque_pop, init, fini: the owner alone. "Owner" is a role: it may pass from one kernel thread
 * to another, with a release/acquire between them. ps_deque_steal, ps_deque_seems_empty: anybody, the owner too.
 *
 * States. Items stand at the indices top <= i < bottom of an endless array, of which the buffer holds slot i modulo its
 * capacity (a power of two). No buffer until the first push, so an unused deque costs two cache lines.
 *   push   writes slot bottom, then bottom + 1
 *   pop    claims index bottom - 1 by lowering bottom; if that was the last item, by moving top over it, as a thief would
 *   steal  claims index top by moving top over it
 * Both indices are 64 bits and never wrap; top only grows.
 *
 * Shared fields            who writes                        who reads
 *   top                    thieves, and the owner's last pop  all            compare-and-swap only
 *   bottom                 owner                              all
 *   buffer, its slots      owner                              all
 *   retired, top_seen      owner                              owner
 *
 * Ordering.
 *   bottom: the owner's release stores pair with the thief's load in steal: who sees an index sees the item in its slot, and a
 *     buffer that holds it. The owner's other stores to bottom are release as well, so that whichever the thief reads will do.
 *   buffer: the release store in growth pairs with the acquire load in steal. A thief that still reads the old buffer reads the same
 *     items: what was copied is never written there again.
 *   top: the thieves' compare-and-swap pairs with the owner's acquire load in push, before a slot is written anew: a thief that
 *     read that slot has either moved top first, or will fail.
 *   pop's store to bottom and load of top, steal's load of top and load of bottom, and the compare-and-swaps are sequentially
 *     consistent. What it forbids: one item left; pop lowers bottom but reads the old top, so takes the item unchallenged, while
 *     a thief reads the new top (of the item before it, just stolen) but the old bottom, and takes it as well. In the one
 *     order of these accesses the owner's load of top comes before the other theft's compare-and-swap, that before the thief's load of
 *     top, so pop's store comes before the thief's load of bottom, which sees it.
 *   Where we deviate from the 2013 paper: it has relaxed accesses and two fences. Sequentially consistent accesses give the same
 *     guarantee with no fence at all in steal on x86-64, cost acquire loads and release stores on AArch64, and the thread
 *     sanitizer understands them.
 *
 * Retired buffers: a thief may hold an old buffer for as long as it likes, so they stay until ps_deque_fini or ps_deque_reclaim,
 * which the owner calls where no thief can be in steal (its team has ended). All of them together are smaller than the one in use.
 * Rejected: epochs or hazard pointers, which make each steal dearer to save that much; embedding the items' links (an item that
 * is stolen and freed is read by the thief that lost).
 *
 * Failures: push answers false where it has to grow and no memory is to be had; nothing has changed then. pop and steal cannot fail.
 * Cost: push: no read-modify-write, no fence; pop: one exchange, none when empty; steal: one compare-and-swap, none when empty. */
#ifndef PS_DEQUE_H
#define PS_DEQUE_H

#include "atomic.h"
#include "compiler.h"

/* Slots of the first buffer; a power of two. Test builds make it 1 or 2, so that growth and wrap-around come at once. */
#ifndef PS_DEQUE_INITIAL
#define PS_DEQUE_INITIAL 256
#endif

/* Stress tests put a delay where another thread's step would hurt most; nothing in the product. */
#ifndef PS_DEQUE_WINDOW
#define PS_DEQUE_WINDOW() ((void)0)
#endif

struct ps_deque_buffer {
    int64_t mask; /* capacity - 1 */
    struct ps_deque_buffer *older;
    _Atomic(void *) slot[];
};

struct ps_deque {
    PS_LINE_ALIGNED _Atomic int64_t top; /* thieves' line */
    /* The owner's line: thieves read bottom and buffer only when they come to steal. */
    PS_LINE_ALIGNED _Atomic int64_t bottom;
    _Atomic(struct ps_deque_buffer *) buffer;
    int64_t top_seen; /* owner: top was at least this; saves push a look at the thieves' line */
};

void ps_deque_init(struct ps_deque *d);
/* Gives all buffers back. Nobody may use the deque any more; items left in it are forgotten. */
void ps_deque_fini(struct ps_deque *d);
/* Gives the retired buffers back. Owner only, and no thief may be in ps_deque_steal. */
void ps_deque_reclaim(struct ps_deque *d);

/* Makes room for one more item: the first buffer, or twice the last. Part of push. */
PS_COLD bool ps_deque_grow_owner(struct ps_deque *d, int64_t bottom);

/* Owner only. False: no memory, not pushed. */
static inline bool ps_deque_push(struct ps_deque *d, void *item)
{
    int64_t bottom = ps_load_relaxed(&d->bottom);
    struct ps_deque_buffer *buffer = ps_load_relaxed(&d->buffer);
    if (PS_UNLIKELY(buffer == NULL || bottom - d->top_seen > buffer->mask)) {
        d->top_seen = ps_load_acquire(&d->top);
        if (buffer == NULL || bottom - d->top_seen > buffer->mask) {
            if (!ps_deque_grow_owner(d, bottom))
                return false;
            buffer = ps_load_relaxed(&d->buffer);
        }
    }
    ps_store_relaxed(&buffer->slot[bottom & buffer->mask], item);
    ps_store_release(&d->bottom, bottom + 1);
    return true;
}

/* Owner only, in two steps: whether it certainly holds less than PS_DEQUE_INITIAL items, and then the push of one more. */
static inline bool ps_deque_has_room_owner(struct ps_deque *d)
{
    return ps_load_relaxed(&d->bottom) - d->top_seen < PS_DEQUE_INITIAL && ps_load_relaxed(&d->buffer) != NULL;
}
static inline void ps_deque_push_room_owner(struct ps_deque *d, void *item)
{
    int64_t bottom = ps_load_relaxed(&d->bottom);
    struct ps_deque_buffer *buffer = ps_load_relaxed(&d->buffer);
    ps_store_relaxed(&buffer->slot[bottom & buffer->mask], item);
    ps_store_release(&d->bottom, bottom + 1);
}

/* Owner only. The item pushed last, or NULL where there is none. */
static inline void *ps_deque_pop(struct ps_deque *d)
{
    int64_t bottom = ps_load_relaxed(&d->bottom) - 1;
    if (ps_load_relaxed(&d->top) > bottom) /* top only grows: empty for certain */
        return NULL;
    ps_store_seq(&d->bottom, bottom);
    PS_DEQUE_WINDOW();
    int64_t top = ps_load_seq(&d->top);
    if (PS_LIKELY(top < bottom)) {
        struct ps_deque_buffer *buffer = ps_load_relaxed(&d->buffer);
        return ps_load_relaxed(&buffer->slot[bottom & buffer->mask]);
    }
    void *item = NULL;
    if (top == bottom) { /* the last one: thieves may be after it */
        struct ps_deque_buffer *buffer = ps_load_relaxed(&d->buffer);
        item = ps_load_relaxed(&buffer->slot[bottom & buffer->mask]);
        PS_DEQUE_WINDOW();
        if (!ps_cas_seq(&d->top, &top, bottom + 1))
            item = NULL;
    }
    ps_store_release(&d->bottom, bottom + 1);
    return item;
}

/* Anybody. The item pushed first; NULL where there is none, or where another took it meanwhile (a thief passes on to the next
 * victim; who must know which it was asks ps_deque_seems_empty). */
static inline void *ps_deque_steal(struct ps_deque *d)
{
    int64_t top = ps_load_seq(&d->top);
    PS_DEQUE_WINDOW();
    int64_t bottom = ps_load_seq(&d->bottom);
    if (top >= bottom)
        return NULL;
    PS_DEQUE_WINDOW();
    struct ps_deque_buffer *buffer = ps_load_acquire(&d->buffer);
    PS_DEQUE_WINDOW();
    void *item = ps_load_relaxed(&buffer->slot[top & buffer->mask]);
    return ps_cas_seq(&d->top, &top, top + 1) ? item : NULL;
}

/* The same, but leaves an item that `accept` refuses. accept may be shown an item that another has taken meanwhile, whose answer then
 * counts for nothing (top has moved): so it must not follow pointers into memory that may be unmapped, and reads relaxed atomics. */
static inline void *ps_deque_steal_if(struct ps_deque *d, bool (*accept)(void *item, void *arg), void *arg)
{
    int64_t top = ps_load_seq(&d->top);
    int64_t bottom = ps_load_seq(&d->bottom);
    if (top >= bottom)
        return NULL;
    struct ps_deque_buffer *buffer = ps_load_acquire(&d->buffer);
    void *item = ps_load_relaxed(&buffer->slot[top & buffer->mask]);
    if (!accept(item, arg))
        return NULL;
    return ps_cas_seq(&d->top, &top, top + 1) ? item : NULL;
}

/* Owner only: the index that the next push takes. Items from an index kept by the caller on are those pushed since. */
static inline int64_t ps_deque_bottom_owner(struct ps_deque *d) { return ps_load_relaxed(&d->bottom); }

/* Anybody; exact for an instant between call and return, and sequentially consistent with pop and steal. */
static inline bool ps_deque_seems_empty(struct ps_deque *d)
{
    int64_t top = ps_load_seq(&d->top);
    return top >= ps_load_seq(&d->bottom);
}

/* Items in it, as far as can be told. */
static inline int64_t ps_deque_count(struct ps_deque *d)
{
    int64_t top = ps_load_relaxed(&d->top), bottom = ps_load_relaxed(&d->bottom);
    return bottom > top ? bottom - top : 0;
}

#endif
