/* Buffers of the work-stealing deque: the first, growth, reclamation; see deque.h. */
#include "deque.h"

#include <stdlib.h>

_Static_assert(PS_DEQUE_INITIAL > 0 && (PS_DEQUE_INITIAL & (PS_DEQUE_INITIAL - 1)) == 0, "indices are masked");

void ps_deque_init(struct ps_deque *d)
{
    ps_store_relaxed(&d->top, 0);
    ps_store_relaxed(&d->bottom, 0);
    ps_store_relaxed(&d->buffer, NULL);
    d->top_seen = 0;
}

static void free_chain(struct ps_deque_buffer *buffer)
{
    while (buffer != NULL) {
        struct ps_deque_buffer *older = buffer->older;
        free(buffer);
        buffer = older;
    }
}

void ps_deque_fini(struct ps_deque *d)
{
    free_chain(ps_load_relaxed(&d->buffer));
    ps_store_relaxed(&d->buffer, NULL);
}

void ps_deque_reclaim(struct ps_deque *d)
{
    struct ps_deque_buffer *buffer = ps_load_relaxed(&d->buffer);
    if (buffer == NULL)
        return;
    free_chain(buffer->older);
    buffer->older = NULL;
}

bool ps_deque_grow_owner(struct ps_deque *d, int64_t bottom)
{
    struct ps_deque_buffer *older = ps_load_relaxed(&d->buffer);
    size_t capacity = older == NULL ? PS_DEQUE_INITIAL : 2 * ((size_t)older->mask + 1);
    struct ps_deque_buffer *buffer = malloc(sizeof *buffer + capacity * sizeof buffer->slot[0]);
    if (buffer == NULL)
        return false;
    buffer->mask = (int64_t)capacity - 1;
    buffer->older = older;
    /* Items below top_seen are gone; the rest moves to its place modulo the new capacity. */
    for (int64_t i = d->top_seen; older != NULL && i < bottom; i++)
        ps_store_relaxed(&buffer->slot[i & buffer->mask], ps_load_relaxed(&older->slot[i & older->mask]));
    ps_store_release(&d->buffer, buffer);
    return true;
}
