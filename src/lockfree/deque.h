/* Work-stealing deque of pointers (Chase and Lev 2005, with the memory orders of Le, Pop, Cohen and Zappa Nardelli
 * 2013).
 *
 * Does: one owner pushes and pops at the bottom, last in first out; any thread steals at the top, first in first out.
 * Grows without bound. Does not: sleep, wake, know what the pointers are, insert from outside, or remove from the
 * middle (ready queues of threads need both and are lists under a lock instead). NULL cannot be pushed. Callers:
 * ps_deque_push, ps_deque_pop, ps_deque_fini and ..._owner: the owner alone; all other functions: any thread, the owner
 * too. "Owner" is a role: it may pass from one kernel thread to another, with a release/acquire between them.
 *
 * Items are at the indices top <= i < bottom of an endless array, of which the buffer holds item i modulo its capacity
 * (a power of two). A push writes item bottom, then increments bottom. A pop claims the last item by decrementing
 * bottom. If it was the only item, the pop moves top over it, as a thief would. A steal claims item top by moving top
 * over it. Invariants: top only grows. Indices of 64 bits never wrap. Indices of 32 bits do, so they are compared by
 * their distance (ps_deque_before); only a thief that sleeps during 2^32 steals could be misled. When no thread has
 * stolen from the deque for a while, it becomes *unfenced*: its owner pays no fence, and a thief must first make it
 * fenced again.
 * States of the word `watch`, orderings and rejected ways: tests/models/deque_unfenced.md.
 *
 * Failures. If os_fence_all is refused, the thief waits for the owner's next operation, yielding. If push has to grow
 * and there is no memory, it returns false, and nothing has changed. pop and steal cannot fail.
 * Cost. push: no read-modify-write, no fence. pop: one fence, none when unfenced or empty; a compare-and-swap for the
 * last item. steal: one compare-and-swap, none when empty. The first steal from an unfenced deque: two more, and a
 * system call (2 us) if the owner is in a long body. */
#ifndef PS_DEQUE_H
#define PS_DEQUE_H

#include "atomic.h"
#include "compiler.h"

enum { PS_DEQUE_FENCED = 0, PS_DEQUE_UNFENCED = 1, PS_DEQUE_ANNOUNCED = 2, PS_DEQUE_STATE = 3, PS_DEQUE_TURN = 4 };

/* ps_deque_calm_owner looks once in this many calls. A fence costs about 20 cycles. To make an unfenced deque fenced
 * costs about a hundred if the owner answers. So a thief that comes right after the deque has become unfenced causes
 * less cost than the fences of that many calls. Tests make it 1. */
#ifndef PS_DEQUE_CALM
#define PS_DEQUE_CALM 64
#endif

/* Number of slots of the first buffer, a power of two. Test builds make it 1 or 2, so that growth and wrap-around
 * happen at once. */
#ifndef PS_DEQUE_INITIAL
#define PS_DEQUE_INITIAL 256
#endif

/* Stress tests define this as a delay, at the places where another thread's step would hurt most. In the product it is
 * nothing. */
#ifndef PS_DEQUE_WINDOW
#define PS_DEQUE_WINDOW() ((void)0)
#endif

/* An index of the endless array: as wide as the processor's atomic operations. Tests make it narrower. */
#ifndef PS_DEQUE_INDEX
#define PS_DEQUE_INDEX intptr_t
#endif
typedef PS_DEQUE_INDEX ps_deque_index;
/* ps_deque_moved returns the index `by` after i, ps_deque_distance how many indices `to` is after `from`. */
static inline ps_deque_index ps_deque_moved(ps_deque_index i, int by)
{
    return (ps_deque_index)((uint64_t)i + (uint64_t)by);
}
static inline ps_deque_index ps_deque_distance(ps_deque_index from, ps_deque_index to)
{
    return (ps_deque_index)((uint64_t)to - (uint64_t)from);
}
static inline bool ps_deque_before(ps_deque_index a, ps_deque_index b)
{
    return sizeof a == sizeof(uint64_t) ? a < b : ps_deque_distance(a, b) > 0;
}

/* A thief may read an old buffer long after the deque has grown, so old buffers stay until ps_deque_fini. All of them
 * together are smaller than the one in use. */
struct ps_deque_buffer {
    ps_deque_index mask; /* capacity - 1 */
    struct ps_deque_buffer *older;
    _Atomic(void *) slot[];
};

/* Zeroed memory is its initial state: there is no buffer until the first push, so an unused deque costs two cache
 * lines. Thieves and the owner's last pop write top, by compare-and-swap only. All threads write watch. The owner alone
 * writes the other fields. */
struct ps_deque {
    PS_LINE_ALIGNED _Atomic ps_deque_index top; /* index of the oldest item; a cache line for thieves */
    /* The owner's line: thieves read bottom and buffer only when they come to steal. */
    PS_LINE_ALIGNED _Atomic ps_deque_index bottom;
    _Atomic(struct ps_deque_buffer *) buffer;
    ps_deque_index top_seen; /* owner: a lower bound of top, with which push rarely reads the thieves' line */
    _Atomic uintptr_t watch;
    ps_deque_index own_tops; /* owner: how often it has moved top itself */
    ps_deque_index
        thefts;    /* owner: how often thieves had moved top, at the last call of ps_deque_calm_owner that looked */
    uint32_t calm; /* owner: calls of ps_deque_calm_owner since then */
};

/* Frees all buffers. No thread may use the deque meanwhile or later; items that are left in it are forgotten. */
void ps_deque_fini(struct ps_deque *d);

/* Makes the deque fenced. Any thread may call it. When it returns, the caller sees all that the owner has pushed or
 * taken before. */
void ps_deque_fence(struct ps_deque *d);
static inline bool ps_deque_is_fenced(struct ps_deque *d)
{
    return (ps_load_acquire(&d->watch) & PS_DEQUE_STATE) == PS_DEQUE_FENCED;
}
/* Makes the deque fenced. Owner only: it needs no answer of another thread, and no system call. */
void ps_deque_fence_owner(struct ps_deque *d);
/* Returns true if the deque is unfenced. Owner only, in a pop or after a push. If the deque is unfenced, every other
 * thread calls ps_deque_fence before it takes an item, and before it sleeps because it has found none. So after a push
 * the owner need not look for sleepers. */
static inline bool ps_deque_is_unfenced_owner(struct ps_deque *d)
{
    atomic_signal_fence(memory_order_seq_cst);
    return (ps_load_relaxed(&d->watch) & PS_DEQUE_UNFENCED) != 0;
}
/* Returns true if no item was stolen since its last look, and os_fence_all works: then the deque may become unfenced.
 * Looks at one call in PS_DEQUE_CALM, and returns false at the others. Owner only. */
bool ps_deque_calm_owner(struct ps_deque *d);
/* Makes the deque, which is fenced, unfenced; then makes a fence. Owner only. After this call the owner must look
 * whether some thread sleeps and relies on being woken for items pushed from here on. If so, it calls
 * ps_deque_fence_owner. */
void ps_deque_unfence_owner(struct ps_deque *d);

/* Owner only. Returns the index of the next item that is pushed. A caller that keeps it knows later which items were
 * pushed since: those from that index on. No other thread writes bottom. So the load is not atomic: an atomic load is a
 * call where 64 bits are two words. */
static inline ps_deque_index ps_deque_bottom_owner(struct ps_deque *d) { return *(const ps_deque_index *)&d->bottom; }

/* Part of push: makes room for one more item, by the first buffer or by one of twice the size. False: no memory. */
PS_COLD bool ps_deque_grow_owner(struct ps_deque *d, ps_deque_index bottom);

/* Pushes an item. Owner only. False: there was no memory, and nothing was pushed. */
static inline bool ps_deque_push(struct ps_deque *d, void *item)
{
    ps_deque_index bottom = ps_deque_bottom_owner(d);
    struct ps_deque_buffer *buffer = ps_load_relaxed(&d->buffer);
    if (PS_UNLIKELY(buffer == NULL || ps_deque_distance(d->top_seen, bottom) > buffer->mask)) {
        d->top_seen = ps_load_acquire(&d->top);
        if (buffer == NULL || ps_deque_distance(d->top_seen, bottom) > buffer->mask) {
            if (!ps_deque_grow_owner(d, bottom))
                return false;
            buffer = ps_load_relaxed(&d->buffer);
        }
    }
    ps_store_relaxed(&buffer->slot[bottom & buffer->mask], item);
    ps_store_release(&d->bottom, ps_deque_moved(bottom, 1));
    return true;
}

/* Owner only: a push in two steps. ps_deque_has_room_owner returns whether it is certain that the deque holds fewer
 * than PS_DEQUE_INITIAL items, so that it need not grow. If so, ps_deque_push_room_owner pushes an item. */
static inline bool ps_deque_has_room_owner(struct ps_deque *d)
{
    return ps_deque_distance(d->top_seen, ps_deque_bottom_owner(d)) < PS_DEQUE_INITIAL &&
           ps_load_relaxed(&d->buffer) != NULL;
}
static inline void ps_deque_push_room_owner(struct ps_deque *d, void *item)
{
    ps_deque_index bottom = ps_deque_bottom_owner(d);
    struct ps_deque_buffer *buffer = ps_load_relaxed(&d->buffer);
    ps_store_relaxed(&buffer->slot[bottom & buffer->mask], item);
    ps_store_release(&d->bottom, ps_deque_moved(bottom, 1));
}

/* Owner only. Takes the item that was pushed last. NULL: there is none. */
static inline void *ps_deque_pop(struct ps_deque *d)
{
    ps_deque_index bottom = ps_deque_moved(ps_deque_bottom_owner(d), -1);
    if (ps_deque_before(bottom, ps_load_relaxed(&d->top))) /* top only grows, so the deque is empty for certain */
        return NULL;
    ps_store_release(&d->bottom, bottom);
    PS_DEQUE_WINDOW();
    if (PS_UNLIKELY(!ps_deque_is_unfenced_owner(d))) {
        ps_fence_seq();
        if (PS_UNLIKELY(!ps_deque_is_fenced(d)))
            ps_deque_fence_owner(d);
    }
    PS_DEQUE_WINDOW();
    ps_deque_index top = ps_load_seq(&d->top);
    if (PS_LIKELY(ps_deque_before(top, bottom))) {
        struct ps_deque_buffer *buffer = ps_load_relaxed(&d->buffer);
        return ps_load_relaxed(&buffer->slot[bottom & buffer->mask]);
    }
    void *item = NULL;
    if (top == bottom) { /* the last item, which a thief may be about to take */
        struct ps_deque_buffer *buffer = ps_load_relaxed(&d->buffer);
        item = ps_load_relaxed(&buffer->slot[bottom & buffer->mask]);
        PS_DEQUE_WINDOW();
        if (ps_cas_seq(&d->top, &top, ps_deque_moved(bottom, 1)))
            d->own_tops = ps_deque_moved(d->own_tops, 1);
        else
            item = NULL;
    }
    ps_store_release(&d->bottom, ps_deque_moved(bottom, 1));
    return item;
}

/* Returns the oldest item without taking it. Another thread may take it at any time, and while the deque is unfenced
 * the answer may be out of date. NULL: there seems to be none. */
static inline void *ps_deque_peek(struct ps_deque *d)
{
    ps_deque_index top = ps_load_seq(&d->top);
    if (!ps_deque_before(top, ps_load_seq(&d->bottom)))
        return NULL;
    struct ps_deque_buffer *buffer = ps_load_acquire(&d->buffer);
    return ps_load_relaxed(&buffer->slot[top & buffer->mask]);
}

/* Returns false if `item` has been taken out of the deque, true if the deque may still hold it. Called by any thread
 * that knows that the item was pushed. A deque with more than PS_DEQUE_LOOK_MOST items is not searched, and the answer
 * is true. */
#define PS_DEQUE_LOOK_MOST 32
static inline bool ps_deque_may_hold(struct ps_deque *d, const void *item)
{
    ps_deque_index top = ps_load_seq(&d->top), bottom = ps_load_seq(&d->bottom);
    if (ps_deque_distance(top, bottom) > PS_DEQUE_LOOK_MOST)
        return true;
    struct ps_deque_buffer *buffer = ps_load_acquire(&d->buffer);
    while (ps_deque_before(top, bottom) && ps_load_relaxed(&buffer->slot[top & buffer->mask]) != item)
        top = ps_deque_moved(top, 1);
    return ps_deque_before(top, bottom);
}

/* Takes the oldest item, unless `accept` refuses it (accept NULL: any item will do). Any thread may call it. NULL in
 * four cases: there is no item; accept has refused it; another thread took it meanwhile; the owner made the deque
 * unfenced. A thief then goes on to the next victim. A caller that must know whether items are left asks
 * ps_deque_seems_empty. accept may be shown an item that another thread has taken meanwhile; its answer then counts for
 * nothing (top has moved). So accept must not follow pointers into memory that may be unmapped, and must read by
 * relaxed atomics. */
static inline void *ps_deque_steal_if(struct ps_deque *d, bool (*accept)(void *item, void *arg), void *arg)
{
    if (PS_UNLIKELY(!ps_deque_is_fenced(d))) {
        void *item = ps_deque_peek(d);
        if (item == NULL || (accept && !accept(item, arg)))
            return NULL;
        ps_deque_fence(d);
    }
    uintptr_t watch = ps_load_acquire(&d->watch);
    PS_DEQUE_WINDOW();
    ps_deque_index top = ps_load_seq(&d->top);
    PS_DEQUE_WINDOW();
    ps_deque_index bottom = ps_load_seq(&d->bottom);
    if (!ps_deque_before(top, bottom))
        return NULL;
    PS_DEQUE_WINDOW();
    struct ps_deque_buffer *buffer = ps_load_acquire(&d->buffer);
    PS_DEQUE_WINDOW();
    void *item = ps_load_relaxed(&buffer->slot[top & buffer->mask]);
    if (accept && !accept(item, arg))
        return NULL;
    if ((watch & PS_DEQUE_STATE) != PS_DEQUE_FENCED || ps_load_seq(&d->watch) != watch)
        return NULL;
    PS_DEQUE_WINDOW();
    return ps_cas_seq(&d->top, &top, ps_deque_moved(top, 1)) ? item : NULL;
}

/* Returns true if the deque is empty. Any thread may call it. Where the deque is fenced, the answer was exact at some
 * moment during the call, and is sequentially consistent with pop and steal. */
static inline bool ps_deque_seems_empty(struct ps_deque *d)
{
    ps_deque_index top = ps_load_seq(&d->top);
    return !ps_deque_before(top, ps_load_seq(&d->bottom));
}

#endif
