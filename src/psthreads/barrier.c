/* The barrier: a fixed number of threads, each with an id of its own (psthreads-2009 section 2.3), waiting actively or blocked
 * (nthlib-2004 sections 2 and 3: hybrid, by the number of threads and what else there is to run).
 *
 * Callers: init, destroy - anyone; wait - a thread that may block, with an id below the count that nobody else uses in this phase.
 * The same thread may come with another id in another phase.
 *
 * There is no shared queue: a thread that is going to block writes itself into the slot of its id, a line that nobody else writes
 * to meanwhile, and the last to arrive walks over the slots. One shared read-modify-write per thread and phase remains, the arrival.
 *
 * A phase, for a member:
 *   may spin (every member can have a vp of its own, and this vp has nothing else to do):
 *       arrive; look at `phase` for about two switches; still the same: who = self|parity, look once more, block
 *   else:
 *       who = self|parity; arrive; block                               (no second look: the arrival publishes it)
 *   the last to arrive: arrived = 0; phase + 1; takes every slot that carries this phase's parity, readies its thread
 *
 * who      0 -> self|parity   by the member (store)
 *          self|parity -> 0   by the last to arrive (compare-and-swap), who must ready it; or by the member that saw the phase over on its
 *                             second look (compare-and-swap). Only one of them succeeds; a member that fails was or will be readied,
 *                             and blocks to take that.
 * Parity is enough to tell phases apart: the last to arrive is a member, so the phase after next cannot end, nor the one after it begin, before it has
 * left its walk. It passes over a member that is already waiting in the next phase.
 *
 * No wake-up is lost. Second look: the member stores who, then loads phase; the last stores phase, then loads who; all four are seq_cst,
 * so one of the two sees the other. Without the second look: who is written before the arrival (release), and the last to arrive
 * has acquired all arrivals. tests/models/barrier.pml checks both.
 * Ordering: arrivals are acquire and release, so what all did before happens before the new phase is stored (release), and that before any return:
 * through phase (acquire) or ps_ready.
 *
 * inside   1 while the member may still look at the barrier though the phase is over: set before its arrival (spinning) or before it ends the phase,
 *          cleared (release) as its last access. destroy reads it (acquire) and waits for 0, which takes a bounded time, because such a
 *          member runs and does not block: so who has left a barrier may destroy it at once, as with POSIX. It stands in a line of its own, which
 *          the walk of the last to arrive does not take from the member.
 * came     checked build: number of the phase the id came to last, plus one; finds an id that comes twice.
 *
 * Failures: ENOMEM at init. Cost: one fetch-and-add; spinning, two stores to an own line more; blocked, one switch, and a compare-and-swap and a ps_ready by
 * the last. Rejected: sense reversal with one flag per member (the walk would write n lines also where all spin);
 * a tree or dissemination barrier (pays from some dozens of processors on, and blocked members cannot pass anything on). */
#include "active_wait.h"
#include "os.h"
#include "psthread.h"

#include <errno.h>
#include <stdlib.h>

struct slot {
    PS_LINE_ALIGNED _Atomic uintptr_t who; /* the thread that blocks, with the parity of its phase in bit 0; 0: nobody */
    _Atomic uint32_t came;
    PS_LINE_ALIGNED _Atomic uint32_t inside;
};

struct psthread_barrier {
    unsigned count;
    PS_LINE_ALIGNED _Atomic uint32_t arrived; /* in this phase; set to 0 by the last */
    PS_LINE_ALIGNED _Atomic uint32_t phase;   /* written by the last to arrive */
    struct slot slot[];
};

int psthread_barrier_init(psthread_barrier_t *barrier, unsigned count)
{
    if (count == 0)
        return EINVAL;
    size_t bytes = sizeof(struct psthread_barrier) + count * sizeof(struct slot);
    struct psthread_barrier *b = aligned_alloc(PS_CACHE_LINE, bytes);
    if (!b)
        return ENOMEM;
    b->count = count;
    ps_store_relaxed(&b->arrived, 0);
    ps_store_relaxed(&b->phase, 0);
    for (unsigned i = 0; i < count; i++) {
        ps_store_relaxed(&b->slot[i].who, 0);
        ps_store_relaxed(&b->slot[i].came, 0);
        ps_store_relaxed(&b->slot[i].inside, 0);
    }
    *barrier = b;
    return 0;
}

int psthread_barrier_destroy(psthread_barrier_t b)
{
    if (ps_load_acquire(&b->arrived) != 0)
        return EBUSY;
    for (unsigned i = 0; i < b->count; i++)
        while (ps_load_acquire(&b->slot[i].inside))
            if (!ps_yield())
                os_yield();
    free(b);
    return 0;
}

/* Ends the phase for everybody else. */
static void open_barrier(struct psthread_barrier *b, unsigned id, uint32_t phase)
{
    ps_store_relaxed(&b->arrived, 0);
    ps_store_seq(&b->phase, phase + 1);
    for (unsigned i = 0; i < b->count; i++) {
        uintptr_t who = ps_load_seq(&b->slot[i].who);
        if (who && i != id && (who & 1) == (phase & 1) && ps_cas_acq_rel(&b->slot[i].who, &who, 0))
            ps_ready((struct psthread *)(who & ~(uintptr_t)1), PS_BACK);
    }
}

/* Waits for the end of the phase at which the caller has arrived without registering itself. */
static void await_phase(struct psthread_barrier *b, struct slot *s, uint32_t phase, unsigned left)
{
    for (; left; left = ps_spin_round(left))
        if (ps_load_acquire(&b->phase) != phase) {
            ps_store_release(&s->inside, 0);
            return;
        }
    struct psthread *self = ps_self();
    uintptr_t who = (uintptr_t)self | (phase & 1);
    ps_store_seq(&s->who, who);
    bool over = ps_load_seq(&b->phase) != phase && ps_cas_acquire(&s->who, &who, 0);
    ps_store_release(&s->inside, 0);
    if (!over)
        ps_block(self);
}

int psthread_barrier_wait(psthread_barrier_t b, unsigned id)
{
    if (id >= b->count)
        return EINVAL;
    struct slot *s = &b->slot[id];
    uint32_t phase = ps_load_acquire(&b->phase); /* stays, until this thread has arrived */
#if PS_CHECKED
    if (ps_xchg_acq_rel(&s->came, phase + 1) == phase + 1)
        return EINVAL;
#endif
    unsigned spins = b->count <= psthread_num_vps() ? ps_spin_budget() : 0;
    struct psthread *self = ps_self();
    if (spins)
        ps_store_relaxed(&s->inside, 1);
    else
        ps_store_relaxed(&s->who, (uintptr_t)self | (phase & 1));
    if (ps_add_acq_rel(&b->arrived, 1) == b->count - 1) {
        ps_store_relaxed(&s->inside, 1);
        ps_store_relaxed(&s->who, 0);
        open_barrier(b, id, phase);
        ps_store_release(&s->inside, 0);
        return PSTHREAD_BARRIER_SERIAL;
    }
    if (spins)
        await_phase(b, s, phase, spins);
    else
        ps_block(self);
    return 0;
}
