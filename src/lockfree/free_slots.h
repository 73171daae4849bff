/* Free slots: a few free pieces of memory of one kind, which owners that end leave for owners that come.
 *
 * Does: keeps at most PS_FREE_SLOTS pieces. Does not: get memory or give it back; order the pieces. The client gives
 * back a piece that finds no slot, and gets a new one where no slot has any.
 * No lock: a signal handler may need a piece while the kernel thread that it interrupts leaves one.
 *
 * Callers: any kernel thread. Each slot: NULL -> piece by compare-and-swap (release), piece -> NULL by exchange
 * (acquire). So what the last owner wrote into a piece happens before what the next owner reads of it. An exchange
 * takes whatever is in the slot by then, so no owner relies on what it has seen there before (ABA).
 * A forked child: a piece on its way is lost. Memory is copied page by page, so what the child reads of a piece may be
 * older than the slot that has the piece. A client that reads its pieces takes all of them out in the child, and
 * forgets them.
 * Failures: none. Cost: a look at each slot, and one read-modify-write.
 * Rejected: a depot (magazine.h). It has a lock and no bound, and gives all that it has to the first owner. */
#ifndef PS_FREE_SLOTS_H
#define PS_FREE_SLOTS_H

#include "atomic.h"

#include <stdbool.h>
#include <stddef.h>

#define PS_FREE_SLOTS 32

/* Zeroed memory: all empty. */
struct ps_free_slots {
    _Atomic(void *) piece[PS_FREE_SLOTS];
};

/* False: no slot is empty. */
static inline bool ps_free_slots_put(struct ps_free_slots *slots, void *piece)
{
    for (unsigned i = 0; i < PS_FREE_SLOTS; i++) {
        void *none = NULL;
        if (ps_load_relaxed(&slots->piece[i]) == NULL && ps_cas_release(&slots->piece[i], &none, piece))
            return true;
    }
    return false;
}

/* NULL: there is none. */
static inline void *ps_free_slots_take(struct ps_free_slots *slots)
{
    void *piece = NULL;
    for (unsigned i = 0; i < PS_FREE_SLOTS && piece == NULL; i++)
        if (ps_load_relaxed(&slots->piece[i]) != NULL)
            piece = ps_xchg_acquire(&slots->piece[i], NULL);
    return piece;
}

#endif
