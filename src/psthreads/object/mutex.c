/* The mutex: test-and-test-and-set for about the time of two context switches, then the thread blocks
 * (balder-threads-2004 section 2 and figure 2). The mutex is not recursive. It does not inherit priorities (there are
 * none).
 *
 * Callers: any thread, on any stack. lock may block, so the caller may not hold a spin lock. destroy never waits.
 * unlock and trylock never wait for the mutex.
 *
 * No convoy: a released lock is free at once. A running thread may take it before the woken thread runs (barging). So a
 * lock that is taken often does not cost a switch each time. Starvation is bounded, except for a thread with a
 * deadline: a woken thread that loses enters the queue at the front, and after LOSSES_MAX attempts the lock is
 * transferred to it. A thread that polls lets others run: count_turn.
 *
 * A thread may free the mutex's memory as soon as it knows that no thread holds the mutex or waits for it, as POSIX
 * requires. So the last access of unlock comes before it readies a thread that could find this out.
 *
 * Shared fields: `state`: the bits below; tests/models/mutex.md has their transitions, and why no wake-up is lost.
 * `queue`: under `lock`. `owner`: written by the holder, read relaxed by any thread: a thread reads its own address
 * there only if it has written it itself. Reports name the holder by it (dump.c); the checked build also compares it.
 * It is valid only while LOCKED is set: unlock clears it in the checked build only. NULL: the holder is a kernel thread
 * that was no thread of the library yet; a lock does not make it one.
 * Cost: uncontended, one compare-and-swap each way. Rejected: MCS and ticket locks (a convoy as soon as a waiter's vp
 * loses its processor); a mutex on ps_wait_on (cannot transfer the lock, so starvation has no bound). */
#include "mutex.h"

#include "active_wait.h"
#include "address_wait.h"
#include "check.h"
#include "current.h"
#include "race.h"

#include <errno.h>
#include <limits.h>

/* The bits of `state`. They have different writers, so every change is a read-modify-write. */
#define LOCKED PS_MUTEX_LOCKED /* a thread holds the mutex */
#define WAITERS 2u             /* the queue is not empty; exact under `lock` */
#define WOKEN 4u               /* a woken thread has not tried to take the lock yet: unlock wakes no other */
#define TRANSFER 8u            /* the first in the queue has lost too often: unlock gives it the lock */
#define TIMED 16u              /* timed waiters may wait on `state`: an unlock that frees the lock wakes them all */

#define LOSSES_MAX 4
#define TURNS 64

static __thread uint8_t turns __attribute__((tls_model("initial-exec")));

_Static_assert(sizeof(struct ps_mutex) <= sizeof(psthread_mutex_t), "a mutex fits");
_Static_assert(alignof(struct ps_mutex) <= alignof(psthread_mutex_t), "a mutex fits");

static struct ps_mutex *mutex_inside(psthread_mutex_t *mutex) { return (struct ps_mutex *)(void *)mutex; }

/* set_owner notes the caller as the owner, disown removes it (in the checked build only). Both tell the program's
 * thread sanitizer. owned: whether the caller holds the mutex; in an unchecked build, whether any thread does. */
#if PS_CHECKED
static bool owned(struct ps_mutex *m) { return ps_load_relaxed(&m->owner) == ps_self(); }
static void set_owner(struct ps_mutex *m)
{
    ps_race_acquire(m);
    ps_store_relaxed(&m->owner, ps_self());
}
static void disown(struct ps_mutex *m)
{
    ps_store_relaxed(&m->owner, NULL);
    ps_race_release(m);
}
#else
static inline bool owned(struct ps_mutex *m) { return ps_load_relaxed(&m->state) & LOCKED; }
static inline void set_owner(struct ps_mutex *m)
{
    ps_store_relaxed(&m->owner, ps_current_now());
    ps_race_acquire(m);
}
static inline void disown(struct ps_mutex *m) { ps_race_release(m); }
#endif

/* Spins until the lock is taken or the spin budget is used up; returns whether the caller has the lock. `woken` is
 * WOKEN if unlock has woken the caller: the bit is cleared with the step that takes the lock. Otherwise 0. */
static bool try_for_a_while(struct ps_mutex *m, uint32_t woken)
{
    unsigned left = ps_spin_budget();
    for (;;) {
        uint32_t s = ps_load_relaxed(&m->state);
        while (!(s & LOCKED))
            if (ps_cas_acquire(&m->state, &s, (s | LOCKED) & ~woken))
                return true;
        if (!left)
            return false;
        left = ps_spin_round(left);
    }
}

/* Puts the caller into the queue and returns true. Returns false if the lock has become free: then the caller has it.
 * woken: as in try_for_a_while; a woken caller enters at the front. starved: the caller has lost too often, so the next
 * unlock is to give it the lock (TRANSFER). */
static bool queue_up_for_mutex(struct ps_mutex *m, struct ps_waiter *me, uint32_t woken, bool starved)
{
    ps_spin_lock(&m->lock);
    uint32_t s = ps_load_relaxed(&m->state), next;
    do
        next = s & LOCKED ? s | WAITERS | (starved ? TRANSFER : 0) : s | LOCKED;
    while (!ps_cas_acquire(&m->state, &s, next & ~woken));
    bool queued = s & LOCKED;
    if (queued && woken)
        ps_waitq_push_front(&m->queue, me);
    else if (queued)
        ps_waitq_push_back(&m->queue, me);
    ps_spin_unlock(&m->lock);
    return queued;
}

static PS_NOINLINE void lock_slow(struct ps_mutex *m)
{
    struct ps_waiter me = {.thread = NULL};
    uint32_t woken = 0;
    for (unsigned losses = 0; !try_for_a_while(m, woken); losses++) {
        if (!me.thread)
            me.thread = ps_self();
        if (!queue_up_for_mutex(m, &me, woken, losses >= LOSSES_MAX))
            return;
        ps_block(me.thread, PS_WAIT_MUTEX, m);
        if (me.given)
            return;
        woken = WOKEN;
    }
}

/* Removes the first waiter from the queue and returns it. Clears the bits `done` of `state`, and WAITERS if the queue
 * is empty now. */
static struct ps_waiter *take_head(struct ps_mutex *m, uint32_t done)
{
    ps_spin_lock(&m->lock);
    struct ps_waiter *w = ps_waitq_pop(&m->queue);
    if (!m->queue.head)
        done |= WAITERS;
    uint32_t s = ps_load_relaxed(&m->state);
    while (done && !ps_cas_acq_rel(&m->state, &s, s & ~done))
        continue;
    ps_spin_unlock(&m->lock);
    PS_CHECK(w, "mutex %p is in a state that cannot be: unlocked by a thread that did not hold it, or written over",
             (void *)m);
    return w;
}

static PS_NOINLINE int unlock_slow(struct ps_mutex *m, uint32_t s)
{
    while (!(s & TRANSFER)) {
        if (!(s & LOCKED))
            return EPERM;
        bool wake = (s & (WAITERS | WOKEN)) == WAITERS;
        if (ps_cas_release(&m->state, &s, (s & ~(LOCKED | TIMED)) | (wake ? WOKEN : 0))) {
            if (wake)
                ps_ready(take_head(m, 0)->thread, PS_BACK);
            if (s & TIMED)
                ps_wake_on(&m->state, UINT_MAX);
            return 0;
        }
    }
    struct ps_waiter *w = take_head(m, TRANSFER);
    w->given = true;
    ps_ready(w->thread, PS_FRONT);
    return 0;
}

int psthread_mutex_init(psthread_mutex_t *mutex)
{
    *mutex = (psthread_mutex_t)PSTHREAD_MUTEX_INITIALIZER;
    return 0;
}

int psthread_mutex_destroy(psthread_mutex_t *mutex) { return ps_load_acquire(&mutex_inside(mutex)->state) ? EBUSY : 0; }

/* A thread may lock, look and unlock in a loop. It may poll for the work of another thread on the same vp, which would
 * not run before the watchdog acts. So each TURNS-th unlock or failed trylock of a thread lets the other ready threads
 * of its vp run first (as in src/ort/lock/lock.c). */
static inline void count_turn(void)
{
    if (PS_UNLIKELY(++turns % TURNS == 0))
        ps_yield();
}

int psthread_mutex_trylock(psthread_mutex_t *mutex)
{
    struct ps_mutex *m = mutex_inside(mutex);
    uint32_t s = ps_load_relaxed(&m->state);
    while (!(s & LOCKED))
        if (ps_cas_acquire(&m->state, &s, s | LOCKED)) {
            set_owner(m);
            return 0;
        }
    count_turn();
    return EBUSY;
}

int psthread_mutex_lock(psthread_mutex_t *mutex)
{
    struct ps_mutex *m = mutex_inside(mutex);
    uint32_t s = 0;
    if (PS_UNLIKELY(!ps_cas_acquire(&m->state, &s, LOCKED))) {
#if PS_CHECKED
        if (owned(m))
            return EDEADLK;
#endif
        lock_slow(m);
    }
    set_owner(m);
    return 0;
}

int psthread_mutex_timedlock(psthread_mutex_t *mutex, uint64_t deadline_ns)
{
    struct ps_mutex *m = mutex_inside(mutex);
    bool in_time = true;
#if PS_CHECKED
    if (owned(m))
        return EDEADLK;
#endif
    while (!try_for_a_while(m, 0)) {
        uint32_t s = ps_load_relaxed(&m->state), timed = s | TIMED;
        if (!in_time)
            return ETIMEDOUT;
        if (!(s & LOCKED) || !(s == timed || ps_cas_acquire(&m->state, &s, timed)))
            continue;
        in_time = ps_wait_on_until(&m->state, timed, PS_WAIT_MUTEX, deadline_ns);
    }
    set_owner(m);
    return 0;
}

int ps_mutex_unlock(psthread_mutex_t *mutex)
{
    struct ps_mutex *m = mutex_inside(mutex);
    uint32_t s = LOCKED;
#if PS_CHECKED
    if (!owned(m))
        return EPERM;
#endif
    disown(m);
    if (PS_UNLIKELY(!ps_cas_release(&m->state, &s, 0)))
        return unlock_slow(m, s);
    return 0;
}

int psthread_mutex_unlock(psthread_mutex_t *mutex)
{
    int err = ps_mutex_unlock(mutex);
    count_turn();
    return err;
}

bool ps_mutex_held(psthread_mutex_t *mutex) { return owned(mutex_inside(mutex)); }
