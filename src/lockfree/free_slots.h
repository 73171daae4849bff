/* Free slots: a few free pieces of memory of one kind, which owners that end leave for later owners.
 *
 * Does: keeps at most PS_FREE_SLOTS pieces. Does not: get memory or give it back; order the pieces. A client that finds
 * no empty slot for a piece gives the piece back to the system. A client that finds no piece gets a new one from the
 * system. There is no lock: a signal handler may need a piece while the kernel thread that it interrupts leaves one.
 *
 * Callers: any kernel thread. A slot changes from NULL to a piece by compare-and-swap (release), and from a piece to
 * NULL by exchange (acquire). So what the last owner wrote into a piece happens before what the next owner reads of it.
 * An exchange takes whatever is in the slot at that moment, so no owner relies on what it has read from the slot before
 * (ABA).
 * A forked child. If another thread was leaving or taking a piece during the fork, that piece is lost. Memory is copied
 * page by page, so the contents of a piece may be older in the child than the slot that has the piece. A client that
 * reads its pieces must take all of them out in the child, and forget them.
 * Failures: none. Cost: a look at each slot, and one read-modify-write.
 * Rejected: a depot (magazine.h). It has a lock and no bound, and gives all that it has to the first owner. */
#ifndef PS_FREE_SLOTS_H
#define PS_FREE_SLOTS_H

#include "atomic.h"

#include <stdbool.h>
#include <stddef.h>

#define PS_FREE_SLOTS 32

/* Zeroed memory is its initial state: all slots are empty. */
struct ps_free_slots {
    _Atomic(void *) piece[PS_FREE_SLOTS];
};

/* Puts a piece into an empty slot. False: no slot is empty, and the piece is still the caller's. */
static inline bool ps_free_slots_put(struct ps_free_slots *slots, void *piece)
{
    for (unsigned i = 0; i < PS_FREE_SLOTS; i++) {
        void *none = NULL;
        if (ps_load_relaxed(&slots->piece[i]) == NULL && ps_cas_release(&slots->piece[i], &none, piece))
            return true;
    }
    return false;
}

/* Takes a piece out of some slot. NULL: all slots are empty. */
static inline void *ps_free_slots_take(struct ps_free_slots *slots)
{
    void *piece = NULL;
    for (unsigned i = 0; i < PS_FREE_SLOTS && piece == NULL; i++)
        if (ps_load_relaxed(&slots->piece[i]) != NULL)
            piece = ps_xchg_acquire(&slots->piece[i], NULL);
    return piece;
}

#endif
