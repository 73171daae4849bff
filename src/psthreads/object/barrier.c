/* The barrier: a fixed number of threads, each with an id of its own (psthreads-2009 section 2.3). A thread that waits
 * spins or blocks, depending on the number of threads and on what else is ready (nthlib-2004 sections 2 and 3: hybrid).
 *
 * Callers: init and destroy: any thread. wait: a thread that may block, with an id below the count that no other thread
 * uses in this phase. In the next phase another thread may use the id. A thread that has left the barrier may destroy
 * it at once, as with POSIX.
 *
 * There is no shared queue. A thread that is about to block writes its address into the slot of its id, a line that no
 * other thread writes meanwhile. Where there are more members than vps, the threads that arrive on one vp are gathered,
 * if possible (ps_gather); this writes only data of that vp. The last thread to arrive readies each vp's gathered
 * threads together, and walks over the slots for the others. So each thread makes one shared read-modify-write in a
 * phase: its arrival.
 *
 * Phases, memory orders, and why no wake-up is lost: tests/models/barrier.md.
 *
 * Failures: ENOMEM at init. Cost: one fetch-and-add. A member that spins stores twice more, to its own line. A member
 * that blocks costs one switch. The last thread to arrive takes the lock of each vp's queue once for the gathered
 * threads. Each thread that is not gathered costs the last thread a store and an insertion.
 * Rejected: sense reversal with one flag per member: the last member would write n lines even if all members spin.
 * Rejected: a tree or dissemination barrier: it pays from some dozens of processors on, and a blocked member cannot
 * pass a signal on. */
#include "active_wait.h"
#include "os.h"
#include "psthread.h"
#include "race.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE 32 /* threads that are readied by one call */

struct slot {
    /* [phase % 2]: the thread that blocks with this id; NULL: none */
    PS_LINE_ALIGNED _Atomic(struct psthread *) waiter[2];
    _Atomic uint32_t came;
    PS_LINE_ALIGNED _Atomic uint32_t inside[2]; /* [phase % 2]: 1 while the thread with this id may still read it */
    struct ps_gathered gathered[2];             /* [phase % 2]: threads that arrived on the vp with the slot's number */
};

struct psthread_barrier {
    unsigned count;
    /* The number of vps when the first thread waited here; 0: no thread has waited yet. By this number all members
     * decide alike whether they spin or are gathered. */
    _Atomic unsigned vps;
    PS_LINE_ALIGNED _Atomic uint32_t arrived; /* threads that have arrived in this phase; the last one sets it to 0 */
    PS_LINE_ALIGNED _Atomic uint32_t phase;   /* written by the last thread to arrive */
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
    memset(b, 0, bytes);
    b->count = count;
    *barrier = b;
    return 0;
}

int psthread_barrier_destroy(psthread_barrier_t b)
{
    if (ps_load_acquire(&b->arrived) != 0)
        return EBUSY;
    for (unsigned i = 0; i < b->count; i++)
        while (ps_load_acquire(&b->slot[i].inside[0]) || ps_load_acquire(&b->slot[i].inside[1]))
            if (!ps_yield())
                os_yield();
    ps_race_free(b);
    return 0;
}

/* Readies up to `most` threads whose addresses are in the slots. withdraws: as in open_barrier. Not inlined: its array
 * would otherwise take stack space in the frames of callers that block. */
static PS_NOINLINE void ready_named(struct psthread_barrier *b, uint32_t phase, bool withdraws, unsigned most)
{
    struct psthread *ready[AT_ONCE];
    unsigned n = 0;
    for (unsigned i = 0; i < b->count && most; i++) {
        _Atomic(struct psthread *) *slot = &b->slot[i].waiter[phase % 2];
        struct psthread *waiter = ps_load_seq(slot);
        if (!waiter)
            continue;
        if (!withdraws) /* The waiter wrote here before it arrived. It writes here again only after its ps_ready. */
            ps_store_relaxed(slot, NULL);
        else if (!ps_cas_acq_rel(slot, &waiter, NULL))
            continue;
        most--;
        ready[n++] = waiter;
        if (n == AT_ONCE) {
            ps_ready_many(ready, n);
            n = 0;
        }
    }
    ps_ready_many(ready, n);
}

/* Ends the phase for all threads except self, the last to arrive. withdraws: members may spin, and take their addresses
 * out of the slots again. */
static void open_barrier(struct psthread_barrier *b, uint32_t phase, bool withdraws, const struct psthread *self)
{
    const unsigned vps = withdraws ? 0 : ps_load_relaxed(&b->vps);
    unsigned others = b->count - 1;
    ps_store_relaxed(&b->arrived, 0);
    ps_store_seq(&b->phase, phase + 1);
    for (unsigned i = 0; i < vps; i++)
        others -= ps_ready_gathered(&b->slot[i].gathered[phase % 2], i, self);
    if (others)
        ready_named(b, phase, withdraws, others);
}

/* Waits for the end of the phase. The caller has arrived, and its address is not in its slot. It spins `left` rounds.
 * If the phase has not ended by then, it writes its address there and blocks. */
static void await_phase(struct psthread_barrier *b, struct slot *s, uint32_t phase, unsigned left)
{
    for (; left; left = ps_spin_round(left))
        if (ps_load_acquire(&b->phase) != phase) {
            ps_store_release(&s->inside[phase % 2], 0);
            return;
        }
    struct psthread *self = ps_self(), *waiter = self;
    ps_store_seq(&s->waiter[phase % 2], self);
    bool over = ps_load_seq(&b->phase) != phase && ps_cas_acquire(&s->waiter[phase % 2], &waiter, NULL);
    ps_store_release(&s->inside[phase % 2], 0);
    if (!over)
        ps_block(self, PS_WAIT_BARRIER, b);
}

/* Called by self, the last thread to arrive, in a barrier where no member spins: readies the others. */
static PS_NOINLINE int open_for_blocked(struct psthread_barrier *b, struct slot *s, uint32_t phase,
                                        const struct psthread *self)
{
    ps_store_relaxed(&s->inside[phase % 2], 1);
    ps_store_relaxed(&s->waiter[phase % 2], NULL);
    open_barrier(b, phase, false, self);
    ps_store_release(&s->inside[phase % 2], 0);
    return PSTHREAD_BARRIER_SERIAL;
}

/* The wait of one thread, if the barrier's members may spin, or if the program runs with a race detector. */
static PS_NOINLINE int wait_in_general(struct psthread_barrier *b, struct slot *s, uint32_t phase)
{
    /* Read before the arrival: once this member has arrived and blocks, another member may free the barrier. */
    const unsigned count = b->count;
    struct psthread *self = ps_self();
    /* The race detector orders the members by this address. Successive phases use different ones. */
    const void *phases = &b->slot[0].waiter[phase % 2];
    ps_race_release(phases);
    const bool may_spin = count <= ps_load_relaxed(&b->vps);
    unsigned spins = may_spin ? ps_spin_budget() : 0;
    if (spins)
        ps_store_relaxed(&s->inside[phase % 2], 1);
    else
        ps_store_relaxed(&s->waiter[phase % 2], self);
    if (ps_add_acq_rel(&b->arrived, 1) == count - 1) {
        ps_store_relaxed(&s->inside[phase % 2], 1);
        ps_store_relaxed(&s->waiter[phase % 2], NULL);
        open_barrier(b, phase, may_spin, self);
        ps_race_acquire(phases);
        ps_store_release(&s->inside[phase % 2], 0);
        return PSTHREAD_BARRIER_SERIAL;
    }
    if (spins)
        await_phase(b, s, phase, spins);
    else
        ps_block(self, PS_WAIT_BARRIER, b);
    ps_race_acquire(phases);
    return 0;
}

/* Where there are more members than vps, a member that waits executes few instructions and uses little of its stack:
 * the first-level cache does not hold the stacks of many members. */
int psthread_barrier_wait(psthread_barrier_t b, unsigned id)
{
    const unsigned count = b->count;
    if (id >= count)
        return EINVAL;
    unsigned vps = ps_load_relaxed(&b->vps);
    if (PS_UNLIKELY(vps == 0)) /* several first threads may store at once: all find the same number */
        ps_store_relaxed(&b->vps, vps = psthread_num_vps());
    struct slot *s = &b->slot[id];
    uint32_t phase = ps_load_acquire(&b->phase); /* does not change before this thread has arrived */
#if PS_CHECKED
    if (ps_xchg_acq_rel(&s->came, phase + 1) == phase + 1)
        return EINVAL;
#endif
    if (PS_UNLIKELY(ps_race_enabled()) || count <= vps)
        return wait_in_general(b, s, phase);
    struct ps_gatherer me = ps_gather(&b->slot[0].gathered[phase % 2], sizeof(struct slot), vps);
    if (PS_UNLIKELY(!me.gathered))
        ps_store_relaxed(&s->waiter[phase % 2], me.self);
    if (PS_UNLIKELY(ps_add_acq_rel(&b->arrived, 1) == count - 1))
        return open_for_blocked(b, s, phase, me.self);
    ps_block(me.self, PS_WAIT_BARRIER, b);
    return 0;
}
