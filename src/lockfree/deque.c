/* The slower part of the work-stealing deque: the first buffer, growth, and the change between unfenced and fenced. See
 * deque.h. */
#include "deque.h"

#include <stdlib.h>

#include "cpu.h"
#include "os.h"

_Static_assert(PS_DEQUE_INITIAL > 0 && (PS_DEQUE_INITIAL & (PS_DEQUE_INITIAL - 1)) == 0, "indices are masked");

void ps_deque_fini(struct ps_deque *d)
{
    struct ps_deque_buffer *buffer = ps_load_relaxed(&d->buffer);
    while (buffer != NULL) {
        struct ps_deque_buffer *older = buffer->older;
        free(buffer);
        buffer = older;
    }
    ps_store_relaxed(&d->buffer, NULL);
}

bool ps_deque_grow_owner(struct ps_deque *d, ps_deque_index bottom)
{
    struct ps_deque_buffer *older = ps_load_relaxed(&d->buffer);
    size_t capacity = older == NULL ? PS_DEQUE_INITIAL : 2 * ((size_t)older->mask + 1);
    struct ps_deque_buffer *buffer = malloc(sizeof *buffer + capacity * sizeof buffer->slot[0]);
    if (buffer == NULL)
        return false;
    buffer->mask = (ps_deque_index)(capacity - 1);
    buffer->older = older;
    /* Items below top_seen have been taken. Each other item moves to its index modulo the new capacity. */
    for (ps_deque_index i = d->top_seen; older != NULL && ps_deque_before(i, bottom); i = ps_deque_moved(i, 1))
        ps_store_relaxed(&buffer->slot[i & buffer->mask], ps_load_relaxed(&older->slot[i & older->mask]));
    ps_store_release(&d->buffer, buffer);
    return true;
}

/* --- unfenced and fenced --- */

/* How many pauses a thief waits until the owner answers by making the deque fenced. An owner with short tasks answers
 * within them. After that a system call costs less than waiting longer. */
#define ANSWER_PAUSES 32

bool ps_deque_calm_owner(struct ps_deque *d)
{
    if (++d->calm < PS_DEQUE_CALM)
        return false;
    d->calm = 0;
    ps_deque_index before = d->thefts;
    d->thefts = ps_deque_distance(d->own_tops, ps_load_relaxed(&d->top));
    return d->thefts == before && os_fence_all_ready();
}

void ps_deque_unfence_owner(struct ps_deque *d)
{
    /* No compare-and-swap is needed: while the state is FENCED, no other thread writes the word. */
    ps_store_relaxed(&d->watch, ps_load_relaxed(&d->watch) + PS_DEQUE_TURN + PS_DEQUE_UNFENCED);
    ps_fence_seq();
}

static bool become(struct ps_deque *d, uintptr_t from, uintptr_t state)
{
    return ps_cas_seq(&d->watch, &from, (from & ~(uintptr_t)PS_DEQUE_STATE) | state);
}

PS_NOINLINE void ps_deque_fence_owner(struct ps_deque *d)
{
    ps_fence_seq();
    for (uintptr_t w; ((w = ps_load_acquire(&d->watch)) & PS_DEQUE_STATE) != PS_DEQUE_FENCED;)
        become(d, w, PS_DEQUE_FENCED);
}

PS_NOINLINE void ps_deque_fence(struct ps_deque *d)
{
    for (uintptr_t w; ((w = ps_load_acquire(&d->watch)) & PS_DEQUE_STATE) != PS_DEQUE_FENCED;) {
        if ((w & PS_DEQUE_STATE) == PS_DEQUE_UNFENCED) {
            become(d, w, PS_DEQUE_ANNOUNCED);
            continue;
        }
        unsigned pauses = 0;
        while (ps_load_acquire(&d->watch) == w && pauses++ < ANSWER_PAUSES)
            cpu_pause();
        if (ps_load_acquire(&d->watch) != w)
            continue;
        if (os_fence_all())
            become(d, w, PS_DEQUE_FENCED);
        else
            os_yield();
    }
}
