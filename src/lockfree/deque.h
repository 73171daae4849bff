/* Work-stealing deque of pointers (Chase and Lev 2005, with the memory orders of Le, Pop, Cohen and Zappa Nardelli
 * 2013).
 *
 * Does: one owner pushes and pops at the bottom, last in first out; any thread steals at the top, first in first out.
 * Grows without bound. Does not: sleep, wake, know what the pointers are, insert from outside, or remove from the
 * middle (ready queues of threads need both and are lists under a lock instead). NULL cannot be pushed.
 * Callers: ps_deque_push, ps_deque_pop, ..._owner, init, fini: the owner alone. "Owner" is a role: it may pass from one
 * kernel thread to another, with a release/acquire between them. ps_deque_steal_if, ps_deque_seems_empty: any thread,
 * the owner too.
 *
 * Items stand at the indices top <= i < bottom of an endless array, of which the buffer holds item i modulo its
 * capacity (a power of two). A push writes there, then bottom + 1. A pop claims index bottom - 1 by lowering bottom; if
 * that was the last item, by moving top over it, as a thief would. A steal claims index top by moving top over it.
 * Invariants: both indices are 64 bits and never wrap; top only grows. While no thread has stolen from it for a while
 * the deque is *unfenced*: its owner pays no fence, and a thief first makes it fenced again. States of the word
 * `watch`, orderings and rejected ways: tests/models/deque_unfenced.md.
 *
 * Failures: os_fence_all refused: the thief waits for the owner's next operation, yielding. push answers false where it
 * has to grow and no memory is to be had; nothing has changed then. pop and steal cannot fail.
 * Cost. push: no read-modify-write, no fence. pop: one fence, none when unfenced or empty; a compare-and-swap for the
 * last item. steal: one compare-and-swap, none when empty. The first steal from an unfenced deque: two more, and a
 * system call (2 us) where the owner is in a long body. */
#ifndef PS_DEQUE_H
#define PS_DEQUE_H

#include "atomic.h"
#include "compiler.h"

enum { PS_DEQUE_FENCED = 0, PS_DEQUE_UNFENCED = 1, PS_DEQUE_ANNOUNCED = 2, PS_DEQUE_STATE = 3, PS_DEQUE_TURN = 4 };

/* How many calls of ps_deque_calm_owner without a theft make it say yes. A fence costs about 20 cycles, and becoming
 * fenced about a hundred where the owner answers. So a wrong guess loses less than the fences that were paid while
 * waiting. Tests make it 1. */
#ifndef PS_DEQUE_CALM
#define PS_DEQUE_CALM 64
#endif

/* Slots of the first buffer; a power of two. Test builds make it 1 or 2, so that growth and wrap-around come at
 * once. */
#ifndef PS_DEQUE_INITIAL
#define PS_DEQUE_INITIAL 256
#endif

/* Stress tests define this as a delay where another thread's step would hurt most; in the product it is nothing. */
#ifndef PS_DEQUE_WINDOW
#define PS_DEQUE_WINDOW() ((void)0)
#endif

/* A thief may hold an old buffer for as long as it likes, so retired ones stay until ps_deque_fini. All of them
 * together are smaller than the one in use. */
struct ps_deque_buffer {
    int64_t mask; /* capacity - 1 */
    struct ps_deque_buffer *older;
    _Atomic(void *) slot[];
};

/* Zeroed memory is its initial state: no buffer until the first push, so an unused deque costs two cache lines. Thieves
 * and the owner's last pop move top, by compare-and-swap only; all threads write watch; the owner writes the rest. */
struct ps_deque {
    PS_LINE_ALIGNED _Atomic int64_t top; /* thieves' line */
    /* The owner's line: thieves read bottom and buffer only when they come to steal. */
    PS_LINE_ALIGNED _Atomic int64_t bottom;
    _Atomic(struct ps_deque_buffer *) buffer;
    int64_t top_seen; /* owner: top was at least this; saves push a look at the thieves' line */
    _Atomic uintptr_t watch;
    int64_t own_tops; /* owner: how often it has moved top itself */
    int64_t thefts;   /* owner: how often others had at its last look */
    uint32_t calm;    /* owner: calls since that */
};

/* Gives all buffers back. No thread may use the deque any more; items left in it are forgotten. */
void ps_deque_fini(struct ps_deque *d);

/* Makes the deque fenced. Any thread. When it returns, what the owner has pushed or taken before is seen. */
void ps_deque_fence(struct ps_deque *d);
static inline bool ps_deque_is_fenced(struct ps_deque *d)
{
    return (ps_load_acquire(&d->watch) & PS_DEQUE_STATE) == PS_DEQUE_FENCED;
}
/* Owner only: the same, without help. */
void ps_deque_fence_owner(struct ps_deque *d);
/* Whether the deque is unfenced; owner only, after a push. If it is, no thread looks for the item, nor sleeps for lack
 * of it, without calling ps_deque_fence first. */
static inline bool ps_deque_is_unfenced_owner(struct ps_deque *d)
{
    atomic_signal_fence(memory_order_seq_cst);
    return (ps_load_relaxed(&d->watch) & PS_DEQUE_UNFENCED) != 0;
}
/* Whether nothing was stolen lately, and os_fence_all works. Owner only, to be called now and then. */
bool ps_deque_calm_owner(struct ps_deque *d);
/* Makes the deque, which is not, unfenced, and makes a fence; owner only. After this call the owner looks whether a
 * thread counts on finding what it pushes from here on. If so, it calls ps_deque_fence_owner. */
void ps_deque_unfence_owner(struct ps_deque *d);

/* Owner only: the index that the next push takes. Items from an index kept by the caller on are those pushed since.
 * No other thread writes it: no atomic, which is a call where 64 bits are two words. */
static inline int64_t ps_deque_bottom_owner(struct ps_deque *d) { return *(const int64_t *)&d->bottom; }

/* Makes room for one more item: the first buffer, or twice the last. Part of push. */
PS_COLD bool ps_deque_grow_owner(struct ps_deque *d, int64_t bottom);

/* Owner only. False: no memory, not pushed. */
static inline bool ps_deque_push(struct ps_deque *d, void *item)
{
    int64_t bottom = ps_deque_bottom_owner(d);
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

/* Owner only, in two steps: whether it certainly holds less than PS_DEQUE_INITIAL items, and then the push of one
 * more. */
static inline bool ps_deque_has_room_owner(struct ps_deque *d)
{
    return ps_deque_bottom_owner(d) - d->top_seen < PS_DEQUE_INITIAL && ps_load_relaxed(&d->buffer) != NULL;
}
static inline void ps_deque_push_room_owner(struct ps_deque *d, void *item)
{
    int64_t bottom = ps_deque_bottom_owner(d);
    struct ps_deque_buffer *buffer = ps_load_relaxed(&d->buffer);
    ps_store_relaxed(&buffer->slot[bottom & buffer->mask], item);
    ps_store_release(&d->bottom, bottom + 1);
}

/* Owner only. The item pushed last, or NULL where there is none. */
static inline void *ps_deque_pop(struct ps_deque *d)
{
    int64_t bottom = ps_deque_bottom_owner(d) - 1;
    if (ps_load_relaxed(&d->top) > bottom) /* top only grows: empty for certain */
        return NULL;
    ps_store_release(&d->bottom, bottom);
    PS_DEQUE_WINDOW();
    if (PS_UNLIKELY(!ps_deque_is_unfenced_owner(d))) {
        ps_fence_seq();
        if (PS_UNLIKELY(!ps_deque_is_fenced(d)))
            ps_deque_fence_owner(d);
    }
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
        if (ps_cas_seq(&d->top, &top, bottom + 1))
            d->own_tops++;
        else
            item = NULL;
    }
    ps_store_release(&d->bottom, bottom + 1);
    return item;
}

/* Returns the oldest item, as far as can be told without watching; NULL: there is none. */
static inline void *ps_deque_peek(struct ps_deque *d)
{
    int64_t top = ps_load_seq(&d->top);
    if (top >= ps_load_seq(&d->bottom))
        return NULL;
    struct ps_deque_buffer *buffer = ps_load_acquire(&d->buffer);
    return ps_load_relaxed(&buffer->slot[top & buffer->mask]);
}

/* Any caller that knows that item was pushed. False: it has been taken. True: it may stand there; longer deques are not
 * looked through. */
#define PS_DEQUE_LOOK_MOST 32
static inline bool ps_deque_may_hold(struct ps_deque *d, const void *item)
{
    int64_t top = ps_load_seq(&d->top), bottom = ps_load_seq(&d->bottom);
    if (bottom - top > PS_DEQUE_LOOK_MOST)
        return true;
    struct ps_deque_buffer *buffer = ps_load_acquire(&d->buffer);
    while (top < bottom && ps_load_relaxed(&buffer->slot[top & buffer->mask]) != item)
        top++;
    return top < bottom;
}

/* Takes the item that was pushed first, unless `accept` refuses it (accept NULL: any item will do). Any thread. NULL in
 * three cases: there is no item; another thief took it meanwhile; the owner became unfenced. A thief then goes on to
 * the next victim; a caller that must know which case it was asks ps_deque_seems_empty. accept may be shown an item
 * that another thief has taken meanwhile; its answer then counts for nothing (top has moved). So accept must not follow
 * pointers into memory that may be unmapped, and reads relaxed atomics. */
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
    int64_t top = ps_load_seq(&d->top);
    PS_DEQUE_WINDOW();
    int64_t bottom = ps_load_seq(&d->bottom);
    if (top >= bottom)
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
    return ps_cas_seq(&d->top, &top, top + 1) ? item : NULL;
}

/* Any thread; exact for an instant between call and return where the deque is fenced, and then sequentially consistent
 * with pop and steal. */
static inline bool ps_deque_seems_empty(struct ps_deque *d)
{
    int64_t top = ps_load_seq(&d->top);
    return top >= ps_load_seq(&d->bottom);
}

#endif
