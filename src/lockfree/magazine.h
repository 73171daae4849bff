/* Magazines: free pieces of memory of one kind, kept near the owner that used them last.
 *
 * Does: keeps each owner's free pieces in a cache of its own (the magazine), and moves them between owners by batches,
 * through a list that all share (the depot). Does not: get memory from the system or give it back, or know what a piece
 * is. Its clients do both: stacks (src/uth), thread descriptors (src/psthreads), tasks and dependence nodes (src/ort).
 *
 * A free piece holds two links (struct ps_piece). Its client lays them over fields that are not needed while the piece
 * is free. The client passes the number of pieces in a batch to the calls that need it; it is one constant for a
 * magazine and its depot.
 *
 *   magazine   a list of at most two batches, the piece used last first
 *   depot      `batches`, each of exactly that many pieces; and `loose`, the pieces of a batch that is not full yet
 *
 * So an owner takes the depot's lock once for each batch of pieces that passes through its magazine.
 *
 * Callers: a magazine's owner alone, on any stack; the depot's functions any thread. Shared: the depot, under its lock;
 * num_batches and num_loose are also read without it, as hints. Ordering: by the lock, what an owner wrote into a piece
 * happens before what the next owner reads of it. A forked child forgets what the depot had (ps_depot_forget): a kernel
 * thread that is not in the child may have held the lock. Failures: none. Cost: push, pop: some loads and stores.
 * Rejected: a second list for a whole batch. It saves the walk to the middle of the list, but each member of a team has
 * several magazines, and would need a cache line more. An array of slots that are filled by compare-and-swap: it has a
 * bound, but memory that never goes back to the system must not have one.
 * Model: tests/models/magazine.pml. Paper: psthreads-2009 section 2.3 (recycling through local queues). */
#ifndef PS_MAGAZINE_H
#define PS_MAGAZINE_H

#include "spin.h"

struct ps_piece {
    struct ps_piece *next;       /* the next piece of its list; NULL: it is the last */
    struct ps_piece *next_batch; /* in a batch's first piece: the next batch of the depot */
};

/* Zeroed memory is an empty magazine, and an empty depot. */
struct ps_magazine {
    struct ps_piece *free; /* the list of pieces, the one used last first */
    unsigned n;            /* number of pieces in it */
};
struct ps_depot {
    PS_LINE_ALIGNED struct ps_spin lock;
    _Atomic uint32_t num_batches, num_loose; /* written under the lock */
    struct ps_piece *batches, *loose;        /* under the lock */
};

/* --- a magazine's owner --- */

/* Takes the piece that was used last. The list must not be empty: if it is, the client calls ps_magazine_refill first.
 * If the depot is empty as well, the client makes a new piece. */
static PS_ALWAYS_INLINE struct ps_piece *ps_magazine_pop(struct ps_magazine *m)
{
    struct ps_piece *piece = m->free;
    m->free = piece->next;
    m->n--;
    return piece;
}

/* Fills m, which is empty, with a batch of the depot; if the depot has no whole batch, with its loose pieces. False:
 * the depot has nothing. */
bool ps_magazine_refill(struct ps_magazine *m, struct ps_depot *depot, unsigned batch);
/* Adds a piece. True: m is full, and the client must call ps_magazine_spill before the next push. This function does
 * not call ps_magazine_spill itself: it is inlined, and needs fewer arguments that way. */
static PS_ALWAYS_INLINE bool ps_magazine_push(struct ps_magazine *m, struct ps_piece *piece, unsigned batch)
{
    piece->next = m->free;
    m->free = piece;
    return PS_UNLIKELY(++m->n == 2 * batch);
}
/* Empties half of m, which is full: the half that was used last stays, the older half goes to the depot as a batch. */
void ps_magazine_spill(struct ps_magazine *m, struct ps_depot *depot, unsigned batch);

/* Gives all pieces of m to the depot. */
void ps_magazine_drain(struct ps_magazine *m, struct ps_depot *depot, unsigned batch);

/* --- any thread --- */

/* ps_depot_give puts one piece into the depot. ps_depot_take takes one out; NULL: there is none. */
void ps_depot_give(struct ps_depot *depot, struct ps_piece *piece, unsigned batch);
struct ps_piece *ps_depot_take(struct ps_depot *depot, unsigned batch);
/* Returns about how many pieces the depot has. Needs no lock. */
static inline size_t ps_depot_count(struct ps_depot *depot, unsigned batch)
{
    return (size_t)ps_load_relaxed(&depot->num_batches) * batch + ps_load_relaxed(&depot->num_loose);
}
/* Called in a forked child: empties the depot, and frees its lock. */
void ps_depot_forget(struct ps_depot *depot);

#endif
