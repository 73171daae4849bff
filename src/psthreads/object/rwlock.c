/* The read-write lock: many readers or one writer. A waiting writer goes before readers that arrive later.
 *
 *   state    number of readers | WRITER | WAITED: a thread waits on the word, or is about to
 *   writers  number of threads that wait to write
 *
 *   rdlock   no WRITER, no writers     -> readers + 1 (acquire)
 *            otherwise                 sets WAITED, reads writers once more, waits on the word
 *   wrlock   nothing but WAITED        -> WRITER (acquire); otherwise counts itself in writers, sets WAITED and waits
 *   unlock   the last reader, or the writer: clears its part and WAITED in one step (release). If WAITED was set, it
 *            wakes all waiters, which try again
 *
 * No wake-up is lost. A waiter has set WAITED, and the word is compared again when the waiter enters the queue. The
 * thread that clears WAITED wakes all. A reader may wait only because a writer waits, and that writer may reach its
 * deadline. Then the writer subtracts itself from `writers`, and reads WAITED; the reader sets WAITED, then reads
 * `writers`. All four accesses are seq_cst: one thread sees the other. unlock does not touch the lock after its step on
 * `state`: a wake needs only the address. tests/models/rwlock.pml checks this.
 *
 * Failures: EBUSY, ETIMEDOUT, EAGAIN (too many readers), EPERM (unlock of a free lock). Cost: one compare-and-swap each
 * way. Rejected: readers first (a writer may starve); a hand-over in order of arrival (a convoy, as for the mutex). */
#include "active_wait.h"
#include "address_wait.h"
#include "psthread.h"
#include "race.h"
#include "timer.h"

#include <errno.h>
#include <limits.h>

#define WRITER (1u << 30)
#define WAITED (1u << 31)
#define READERS (WRITER - 1)

struct rwlock {
    _Atomic uint32_t state;
    _Atomic uint32_t writers;
};
_Static_assert(sizeof(struct rwlock) <= sizeof(psthread_rwlock_t), "a read-write lock fits");

static struct rwlock *rwlock_inside(psthread_rwlock_t *lock) { return (struct rwlock *)(void *)lock; }

static bool writers_wait(struct rwlock *l) { return ps_load_seq(&l->writers) != 0; }

int psthread_rwlock_init(psthread_rwlock_t *lock)
{
    *lock = (psthread_rwlock_t)PSTHREAD_RWLOCK_INITIALIZER;
    return 0;
}

int psthread_rwlock_destroy(psthread_rwlock_t *lock)
{
    struct rwlock *l = rwlock_inside(lock);
    return ps_load_acquire(&l->state) || writers_wait(l) ? EBUSY : 0;
}

static int try_read(struct rwlock *l)
{
    uint32_t s = ps_load_relaxed(&l->state);
    while (!(s & WRITER) && !writers_wait(l)) {
        if ((s & READERS) == READERS)
            return EAGAIN;
        if (ps_cas_acquire(&l->state, &s, s + 1)) {
            ps_race_acquire(l);
            return 0;
        }
    }
    return EBUSY;
}

static int try_write(struct rwlock *l)
{
    uint32_t s = ps_load_relaxed(&l->state);
    while (!(s & ~WAITED))
        if (ps_cas_acquire(&l->state, &s, s | WRITER)) {
            ps_race_acquire(l);
            return 0;
        }
    return EBUSY;
}

static void wake_all(struct rwlock *l, uint32_t before)
{
    if (before & WAITED)
        ps_wake_on(&l->state, UINT_MAX);
}

/* Waits until the lock may have become free for the caller. Returns false if the deadline has come. */
static bool wait_for_change(struct rwlock *l, bool reads, uint64_t deadline_ns)
{
    uint32_t s = ps_load_seq(&l->state);
    do
        if (!(s & ~WAITED) && (!reads || !writers_wait(l)))
            return true;
    while (!(s & WAITED) && !ps_cas_seq(&l->state, &s, s | WAITED));
    if (reads && !(s & WRITER) && !writers_wait(l))
        return true;
    return ps_wait_on_until(&l->state, s | WAITED, PS_WAIT_RWLOCK, deadline_ns);
}

static int lock_rwlock(struct rwlock *l, int (*try)(struct rwlock *l), bool reads, uint64_t deadline_ns)
{
    for (unsigned left = ps_spin_budget();; left = ps_spin_round(left)) {
        int err = try(l);
        if (err != EBUSY)
            return err;
        if (!left)
            break;
    }
    if (!reads)
        ps_add_seq(&l->writers, 1);
    int err;
    bool in_time = true;
    while ((err = try(l)) == EBUSY && in_time)
        in_time = wait_for_change(l, reads, deadline_ns);
    if (!reads)
        ps_sub_seq(&l->writers, 1);
    if (!reads && err == EBUSY) { /* the writer gives up: readers may have waited only because it waited */
        uint32_t s = ps_load_seq(&l->state);
        while (s & WAITED && !ps_cas_seq(&l->state, &s, s & ~WAITED))
            continue;
        wake_all(l, s);
    }
    return err == EBUSY ? ETIMEDOUT : err;
}

static int try_once(int err)
{
    if (err == EBUSY)
        ps_tried_in_vain();
    return err;
}

int psthread_rwlock_tryrdlock(psthread_rwlock_t *l) { return try_once(try_read(rwlock_inside(l))); }
int psthread_rwlock_trywrlock(psthread_rwlock_t *l) { return try_once(try_write(rwlock_inside(l))); }
int psthread_rwlock_rdlock(psthread_rwlock_t *l) { return lock_rwlock(rwlock_inside(l), try_read, true, PS_NEVER); }
int psthread_rwlock_wrlock(psthread_rwlock_t *l) { return lock_rwlock(rwlock_inside(l), try_write, false, PS_NEVER); }
int psthread_rwlock_timedrdlock(psthread_rwlock_t *l, uint64_t deadline_ns)
{
    return lock_rwlock(rwlock_inside(l), try_read, true, deadline_ns);
}
int psthread_rwlock_timedwrlock(psthread_rwlock_t *l, uint64_t deadline_ns)
{
    return lock_rwlock(rwlock_inside(l), try_write, false, deadline_ns);
}

int psthread_rwlock_unlock(psthread_rwlock_t *rwlock)
{
    struct rwlock *l = rwlock_inside(rwlock);
    uint32_t s = ps_load_relaxed(&l->state), next;
    if (!(s & ~WAITED))
        return EPERM;
    ps_race_release(l);
    do {
        next = s & WRITER ? s & ~WRITER : s - 1;
        if (!(next & READERS))
            next = 0;
    } while (!ps_cas_seq(&l->state, &s, next));
    if (!next)
        wake_all(l, s);
    return 0;
}
