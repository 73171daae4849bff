/* Magazines and depots: the functions that move batches between them. See magazine.h. */
#include "magazine.h"

static void give_batch_locked(struct ps_depot *depot, struct ps_piece *first)
{
    first->next_batch = depot->batches;
    depot->batches = first;
    ps_store_relaxed(&depot->num_batches, ps_load_relaxed(&depot->num_batches) + 1);
}

/* Takes a batch out of the depot. NULL: it has no whole batch. */
static struct ps_piece *take_batch_locked(struct ps_depot *depot)
{
    struct ps_piece *first = depot->batches;
    if (first != NULL) {
        depot->batches = first->next_batch;
        ps_store_relaxed(&depot->num_batches, ps_load_relaxed(&depot->num_batches) - 1);
    }
    return first;
}

static struct ps_piece *take_loose_locked(struct ps_depot *depot, unsigned *n)
{
    struct ps_piece *first = depot->loose;
    *n = ps_load_relaxed(&depot->num_loose);
    depot->loose = NULL;
    ps_store_relaxed(&depot->num_loose, 0);
    return first;
}

static void give_locked(struct ps_depot *depot, struct ps_piece *piece, unsigned batch)
{
    unsigned n = ps_load_relaxed(&depot->num_loose) + 1;
    piece->next = depot->loose;
    depot->loose = piece;
    ps_store_relaxed(&depot->num_loose, n);
    if (n == batch)
        give_batch_locked(depot, take_loose_locked(depot, &n));
}

PS_NOINLINE bool ps_magazine_refill(struct ps_magazine *m, struct ps_depot *depot, unsigned batch)
{
    if (ps_depot_count(depot, batch) == 0)
        return false;
    ps_spin_lock(&depot->lock);
    m->n = batch;
    m->free = take_batch_locked(depot);
    if (m->free == NULL)
        m->free = take_loose_locked(depot, &m->n);
    ps_spin_unlock(&depot->lock);
    return m->free != NULL;
}

PS_NOINLINE void ps_magazine_spill(struct ps_magazine *m, struct ps_depot *depot, unsigned batch)
{
    struct ps_piece *last = m->free;
#pragma GCC unroll 8
    for (unsigned i = 1; i < batch; i++)
        last = last->next;
    struct ps_piece *older = last->next;
    last->next = NULL;
    m->n = batch;
    ps_spin_lock(&depot->lock);
    give_batch_locked(depot, older);
    ps_spin_unlock(&depot->lock);
}

void ps_magazine_drain(struct ps_magazine *m, struct ps_depot *depot, unsigned batch)
{
    ps_spin_lock(&depot->lock);
    while (m->free != NULL)
        give_locked(depot, ps_magazine_pop(m), batch);
    ps_spin_unlock(&depot->lock);
}

void ps_depot_give(struct ps_depot *depot, struct ps_piece *piece, unsigned batch)
{
    ps_spin_lock(&depot->lock);
    give_locked(depot, piece, batch);
    ps_spin_unlock(&depot->lock);
}

struct ps_piece *ps_depot_take(struct ps_depot *depot, unsigned batch)
{
    if (ps_depot_count(depot, batch) == 0)
        return NULL;
    ps_spin_lock(&depot->lock);
    if (depot->loose == NULL && (depot->loose = take_batch_locked(depot)) != NULL)
        ps_store_relaxed(&depot->num_loose, batch);
    struct ps_piece *piece = depot->loose;
    if (piece != NULL) {
        depot->loose = piece->next;
        ps_store_relaxed(&depot->num_loose, ps_load_relaxed(&depot->num_loose) - 1);
    }
    ps_spin_unlock(&depot->lock);
    return piece;
}

void ps_depot_forget(struct ps_depot *depot)
{
    ps_spin_init(&depot->lock);
    depot->batches = depot->loose = NULL;
    ps_store_relaxed(&depot->num_batches, 0);
    ps_store_relaxed(&depot->num_loose, 0);
}
