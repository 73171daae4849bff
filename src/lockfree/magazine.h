/* Magazines: free pieces of memory of one kind, kept near the one that used them last.
 *
 * Does: keeps each owner's free pieces in a cache of its own (the magazine), and moves them between owners by batches,
 * through a list that all share (the depot). Does not: get memory from the system or give it back, or know what a piece
 * is. Its clients do both: stacks (src/uth), thread descriptors (src/psthreads), tasks and dependence nodes (src/ort).
 *
 * A free piece holds two links (struct ps_piece), which its client lays over whatever a free one does not need. The
 * client names the number of pieces in a batch at each call; it is one constant for a magazine and its depot.
 *
 *   magazine   a list of at most two batches, the piece used last first
 *   depot      `batches`, each exactly a batch; and `loose`, fewer than a batch, which came one by one
 *
 * So an owner uses the depot's lock once for a batch of pieces that flow through its magazine.
 *
 * Callers: a magazine's owner alone, on any stack; the depot's functions any thread. Shared: the depot, under its lock;
 * num_batches and num_loose are looked at without it, as hints. Ordering: what an owner wrote into a piece happens
 * before what the next owner reads of it, by the lock. A forked child forgets what the depot had (ps_depot_forget): a
 * kernel thread that is gone may have held the lock.
 * Failures: none. Cost: push, pop: some loads and stores.
 * Rejected: a second list for a whole batch, which saves the walk to the middle of the one. Each member of a team has
 * four magazines, and would need a cache line more. An array of slots that are filled by compare-and-swap: it has a
 * bound, and memory that never goes back to the system has none.
 * Model: tests/models/magazine.pml. Paper: psthreads-2009 section 2.3 (recycling through local queues). */
#ifndef PS_MAGAZINE_H
#define PS_MAGAZINE_H

#include "spin.h"

struct ps_piece {
    struct ps_piece *next;       /* in its list; NULL: the last one */
    struct ps_piece *next_batch; /* of a batch's first piece in the depot */
};

/* Zeroed memory is the empty state of both. */
struct ps_magazine {
    struct ps_piece *free;
    unsigned n;
};
struct ps_depot {
    PS_LINE_ALIGNED struct ps_spin lock;
    _Atomic uint32_t num_batches, num_loose;
    struct ps_piece *batches, *loose;
};

/* --- a magazine's owner --- */

/* Takes a piece from the list. If the list is empty, the client calls ps_magazine_refill first; if the depot is empty
 * as well, the client makes a new piece. */
static PS_ALWAYS_INLINE struct ps_piece *ps_magazine_pop(struct ps_magazine *m)
{
    struct ps_piece *piece = m->free;
    m->free = piece->next;
    m->n--;
    return piece;
}

/* Fills m, which is empty, with a batch of the depot, or what is loose there. False: there is none. */
bool ps_magazine_refill(struct ps_magazine *m, struct ps_depot *depot, unsigned batch);
/* Adds a piece. True: m is full, and the client calls ps_magazine_spill before the next push; by a call of its own, for
 * the sake of few arguments where this is inline. */
static PS_ALWAYS_INLINE bool ps_magazine_push(struct ps_magazine *m, struct ps_piece *piece, unsigned batch)
{
    piece->next = m->free;
    m->free = piece;
    return PS_UNLIKELY(++m->n == 2 * batch);
}
/* Empties a half of m, which is full: the batch that was used last stays, the older half goes to the depot. */
void ps_magazine_spill(struct ps_magazine *m, struct ps_depot *depot, unsigned batch);

/* All pieces go to the depot. */
void ps_magazine_drain(struct ps_magazine *m, struct ps_depot *depot, unsigned batch);

/* --- any thread --- */

void ps_depot_give(struct ps_depot *depot, struct ps_piece *piece, unsigned batch);
struct ps_piece *ps_depot_take(struct ps_depot *depot, unsigned batch);
/* About how many it has. */
static inline size_t ps_depot_count(struct ps_depot *depot, unsigned batch)
{
    return (size_t)ps_load_relaxed(&depot->num_batches) * batch + ps_load_relaxed(&depot->num_loose);
}
/* In a forked child. */
void ps_depot_forget(struct ps_depot *depot);

#endif
