/* Waiting on a word, as with a futex. A thread that waits on an address is put into one of a fixed number of buckets,
 * chosen by a hash of the address. ee_wait and ee_wake, psthread_once, sleep, semaphores, read-write locks, and the
 * timed waits for a mutex or a condition variable are built on this.
 *
 * Callers: threads of the library, and foreign kernel threads, which become roots when they have to block. They may run
 * on any stack, and hold no spin lock. The word belongs to the caller. A wait uses the word's address and value;
 * ps_wake_on uses only the address.
 *
 * Shared fields of a bucket: `queue` is guarded by `lock`. `waiting` is the number of waiters in `queue` or about to
 * enter it. It is written under `lock`; ps_wake_on reads it without the lock. No wake-up is lost:
 * tests/models/address_wait.md.
 *
 * Unlike a futex of the kernel, a wait that blocked never returns spuriously. Callers loop all the same: a woken thread
 * runs later, and the word may have changed back by then.
 *
 * Cost of a wake where no thread waits: a fence and a load, of a line that changes only when a thread waits in that
 * bucket. Cost of a wait that blocks: one lock and one switch. Where two addresses share a bucket, a wake of one
 * address walks past the waiters of the other.
 * Rejected: a bucket for each address, made on demand: the call would allocate memory, and may not fail. Rejected: the
 * waiters' list in the object itself: in GCC's ABI an omp_lock_t has four bytes, and the lock needs all of them. */
#include "address_wait.h"

#include "active_wait.h"
#include "os.h"
#include "spin.h"
#include "waitq.h"

#define BUCKET_BITS 8

static struct bucket {
    PS_LINE_ALIGNED struct ps_spin lock;
    _Atomic uint32_t waiting;
    struct ps_waitq queue;
} buckets[1 << BUCKET_BITS];

static struct bucket *address_bucket(const _Atomic uint32_t *word)
{
    return &buckets[(uintptr_t)word / sizeof(*word) * UINT64_C(0x9E3779B97F4A7C15) >> (64 - BUCKET_BITS)];
}

static void count_locked(struct bucket *b, int change)
{
    ps_store_seq(&b->waiting, ps_load_relaxed(&b->waiting) + (uint32_t)change);
}

/* Puts the caller into its bucket's queue if *word is `expected`. Returns false if *word differs; then the caller is in
 * no queue. *me is filled in in both cases. */
static bool queue_up_for_word(_Atomic uint32_t *word, uint32_t expected, struct ps_waiter *me)
{
    struct bucket *b = address_bucket(word);
    *me = (struct ps_waiter){.thread = ps_self(), .tag = (uintptr_t)word};
    ps_spin_lock(&b->lock);
    count_locked(b, 1);
    bool same = ps_load_seq(word) == expected;
    if (same)
        ps_waitq_push_back(&b->queue, me);
    else
        count_locked(b, -1);
    ps_spin_unlock(&b->lock);
    return same;
}

/* Spins; returns true as soon as *word differs from `expected`, false if it has not changed by the end of the spin
 * budget. */
static bool changes_soon(_Atomic uint32_t *word, uint32_t expected)
{
    for (unsigned left = ps_spin_budget(); left; left = ps_spin_round(left))
        if (ps_load_acquire(word) != expected)
            return true;
    return false;
}

void ps_wait_on(_Atomic uint32_t *word, uint32_t expected)
{
    struct ps_waiter me;
    if (!changes_soon(word, expected) && queue_up_for_word(word, expected, &me))
        ps_block(me.thread, PS_WAIT_WORD, word);
}

/* The `take` function of a timed wait (timer.h): removes the late waiter from its bucket. Returns false if a wake-up
 * has already removed it. */
static bool take_late_word_waiter(struct ps_timer *timer)
{
    struct ps_waiter *me = timer->arg, *before = NULL;
    struct bucket *b = address_bucket((_Atomic uint32_t *)me->tag);
    ps_spin_lock(&b->lock);
    struct ps_waiter **link = &b->queue.head;
    while (*link && *link != me) {
        before = *link;
        link = &before->next;
    }
    bool here = *link != NULL;
    if (here) {
        if (b->queue.tail == *link)
            b->queue.tail = before;
        *link = (*link)->next;
        count_locked(b, -1);
    }
    ps_spin_unlock(&b->lock);
    return here;
}

void ps_wait_publish(_Atomic uint32_t *word, struct ps_waiter *me)
{
    queue_up_for_word(word, ps_load_relaxed(word), me);
}

bool ps_wait_published(struct ps_waiter *me, enum ps_wait kind, const volatile void *object, uint64_t deadline_ns)
{
    struct ps_timer timer = {.deadline_ns = deadline_ns, .take = take_late_word_waiter, .arg = me};
    return !ps_block_until(me->thread, kind, object, &timer);
}

#define TURNS 64

void ps_tried_in_vain(void)
{
    static __thread uint8_t turns;
    if (PS_UNLIKELY(++turns % TURNS == 0))
        ps_yield();
}

bool ps_wait_on_until(_Atomic uint32_t *word, uint32_t expected, enum ps_wait kind, uint64_t deadline_ns)
{
    struct ps_waiter me;
    if (deadline_ns != PS_NEVER && os_now_ns() >= deadline_ns) {
        ps_tried_in_vain();
        return ps_load_acquire(word) != expected;
    }
    if (!queue_up_for_word(word, expected, &me))
        return true;
    return ps_wait_published(&me, kind, word, deadline_ns);
}

/* Removes up to n waiters whose word has the address `tag` from the bucket, in the order of their arrival. Returns them
 * as a chain, and their number in *taken. */
static struct ps_waiter *take_word_waiters_locked(struct bucket *b, uintptr_t tag, unsigned n, unsigned *taken)
{
    struct ps_waitq found = {NULL, NULL};
    struct ps_waiter **link = &b->queue.head, *before = NULL;
    *taken = 0;
    while (*link && *taken < n) {
        struct ps_waiter *w = *link;
        if (w->tag != tag) {
            before = w;
            link = &w->next;
            continue;
        }
        *link = w->next;
        if (b->queue.tail == w)
            b->queue.tail = before;
        ps_waitq_push_back(&found, w);
        ++*taken;
    }
    return found.head;
}

static PS_NOINLINE void wake_waiting(struct bucket *b, _Atomic uint32_t *word, unsigned n)
{
    unsigned taken;
    ps_spin_lock(&b->lock);
    struct ps_waiter *first = take_word_waiters_locked(b, (uintptr_t)word, n, &taken);
    count_locked(b, -(int)taken);
    ps_spin_unlock(&b->lock);
    ps_waiters_ready(first);
}

void ps_wake_on(_Atomic uint32_t *word, unsigned n)
{
    struct bucket *b = address_bucket(word);
    ps_fence_seq();
    if (PS_UNLIKELY(ps_load_relaxed(&b->waiting) != 0))
        wake_waiting(b, word, n);
}

bool ps_anybody_waits_on(_Atomic uint32_t *word)
{
    struct bucket *b = address_bucket(word);
    ps_spin_lock(&b->lock);
    const struct ps_waiter *w = b->queue.head;
    while (w && w->tag != (uintptr_t)word)
        w = w->next;
    ps_spin_unlock(&b->lock);
    return w != NULL;
}

void ps_wait_on_after_fork(void)
{
    for (unsigned i = 0; i < 1u << BUCKET_BITS; i++)
        buckets[i] = (struct bucket){0};
}
