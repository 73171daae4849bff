/* Standbys: see standby.h for states and orderings. */
#include "standby.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "current.h"
#include "idle.h"
#include "list.h"
#include "os.h"
#include "runtime.h"
#include "sched.h"
#include "spin.h"
#include "team.h"
#include "vp_tls.h"
#include "watchdog.h"

#define STACK_BYTES ((size_t)64 * 1024) /* of the kernel thread itself: it only enters and leaves a vp's loop */
#define IN_VAIN_NS INT64_C(2000000000)

enum { PARKED, GO, END };

/* On its own stack. */
struct standby {
    struct ps_list link;
    void *(*fn)(void *);
    void *arg;
    bool starts_more; /* before it calls fn */
    _Atomic uint32_t word;
};

static struct {
    struct ps_spin lock;
    struct ps_list parked;
    unsigned carrying;
    bool stops;
    os_thread thread[STANDBY_MOST]; /* the first `alive` of them; written by the watchdog, read when that is gone */
} pool;
static _Atomic uint32_t alive, arrived, wanted, served, growing, hopeless;
static _Atomic uint32_t inside, direct;
static _Atomic uint32_t directs;    /* how often the watchdog has set `direct` */
static _Atomic uint32_t generation; /* pools that there were in this process and in those that it was forked from */

static void *grow_pool(void *arg);

/* --- a standby --- */

/* After a start or an arrival: the askers look again. */
static void tell_who_asks(void)
{
    ps_add_release(&served, 1);
    os_wake(&served, INT_MAX);
}

/* False: it ends. */
static bool await_work(struct standby *self, bool first)
{
    ps_spin_lock(&pool.lock);
    pool.carrying -= !first;
    bool parks = !pool.stops;
    if (parks) {
        ps_store_relaxed(&self->word, PARKED);
        ps_list_push_front(&pool.parked, &self->link);
    }
    ps_spin_unlock(&pool.lock);
    if (first) {
        ps_add_release(&arrived, 1);
        tell_who_asks();
    }
    if (!parks)
        return false;
    while (ps_load_acquire(&self->word) == PARKED)
        os_park(&self->word, PARKED, OS_FOREVER);
    return ps_load_relaxed(&self->word) == GO;
}

static void *standby_main(void *arg)
{
    struct standby self;
    uint32_t born = ps_load_relaxed(&generation);
    (void)arg;
    os_thread_name("psthreads-spare");
    for (bool first = true; await_work(&self, first); first = false) {
        if (self.starts_more)
            grow_pool(NULL);
        self.fn(self.arg);
        os_set_signal_mask(OS_ALL_SIGNALS);
        os_thread_name("psthreads-spare");
        if (ps_load_relaxed(&generation) != born)
            break;
    }
    return NULL;
}

/* Taken out of the list: told what to do. */
static void tell_standby(struct standby *one, uint32_t what)
{
    ps_store_release(&one->word, what);
    os_wake(&one->word, 1);
}

/* NULL: fewer than `least` are parked. */
static struct standby *take(unsigned least, bool carries)
{
    ps_spin_lock(&pool.lock);
    bool enough = !ps_list_empty(&pool.parked) && (least < 2 || pool.parked.next != pool.parked.prev);
    struct ps_list *link = enough ? ps_list_pop_front(&pool.parked) : NULL;
    pool.carrying += link && carries;
    ps_spin_unlock(&pool.lock);
    return link ? PS_CONTAINER_OF(link, struct standby, link) : NULL;
}

static bool run_parked(unsigned least, bool starts_more, void *(*fn)(void *), void *arg)
{
    struct standby *one = ps_load_acquire(&alive) ? take(least, true) : NULL;
    if (!one)
        return false;
    one->fn = fn;
    one->arg = arg;
    one->starts_more = starts_more;
    tell_standby(one, GO);
    return true;
}

static void raise_wanted(unsigned n)
{
    n = n < STANDBY_MOST ? n : STANDBY_MOST;
    uint32_t before = ps_load_relaxed(&wanted);
    while (before < n && !ps_cas_seq(&wanted, &before, n))
        ;
}

bool standby_run(void *(*fn)(void *), void *arg)
{
    if (run_parked(2, false, fn, arg))
        return true;
    if (!ps_load_acquire(&alive))
        return false;
    raise_wanted(ps_load_acquire(&alive) + 1);
    bool grows = !ps_xchg_seq(&growing, 1); /* else the thread that has taken it looks at `wanted` when it is through */
    if (run_parked(1, grows, fn, arg))
        return true;
    if (grows)
        ps_store_seq(&growing, 0);
    return false;
}

unsigned standby_idle(void)
{
    if (!ps_load_acquire(&alive))
        return 0;
    ps_spin_lock(&pool.lock);
    unsigned busy = pool.carrying;
    ps_spin_unlock(&pool.lock);
    unsigned all = ps_load_acquire(&alive);
    return all > busy ? all - busy : 0; /* one may carry before it is counted as alive */
}

/* --- the watchdog's part --- */

bool standby_wanted(void)
{
    return PS_UNLIKELY(ps_load_seq(&wanted) > ps_load_relaxed(&alive)) && !ps_load_relaxed(&hopeless);
}

static void set_direct(void)
{
    ps_store_release(&directs, ps_load_relaxed(&directs) + 1);
    ps_store_seq(&direct, 1);
}

uint32_t standby_direct_now(void) { return ps_load_seq(&direct) ? ps_load_acquire(&directs) << 1 | 1 : 0; }

/* A kernel thread may be started here, until standby_direct_end. */
static bool direct_begin(void)
{
    set_direct();
    if (!ps_load_seq(&inside) || ps_load_acquire(&hopeless))
        return true;
    standby_direct_end();
    return false;
}

void standby_direct_end(void)
{
    ps_store_release(&direct, 0);
    if (PS_UNLIKELY(ps_load_relaxed(&inside)))
        os_wake(&direct, INT_MAX);
}

bool standby_keep_out(void)
{
    set_direct();
    if (!ps_load_seq(&inside))
        return true;
    standby_direct_end();
    return false;
}

int standby_run_spare(void *(*fn)(void *), void *arg)
{
    bool last_starts_more = ps_load_seq(&inside) && !ps_load_acquire(&growing);
    if (run_parked(last_starts_more ? 2 : 1, false, fn, arg))
        return 0;
    if (direct_begin())
        return EAGAIN;
    raise_wanted(ps_load_relaxed(&alive) * 3 / 2 + 1);
    return EBUSY;
}

/* `growing` has been taken, by the caller or for it. */
static void *grow_pool(void *arg)
{
    (void)arg;
    do {
        while (standby_wanted()) {
            unsigned n = ps_load_relaxed(&alive);
            if (os_thread_start(&pool.thread[n], standby_main, NULL, STACK_BYTES, true) == 0)
                ps_store_release(&alive, n + 1);
            else
                ps_store_release(&hopeless, 1);
            tell_who_asks();
        }
        ps_store_seq(&growing, 0);
    } while (standby_wanted() && !ps_xchg_seq(&growing, 1));
    return NULL;
}

void standby_serve(void)
{
    if (!standby_wanted() || ps_xchg_acquire(&growing, 1))
        return;
    if (direct_begin()) {
        grow_pool(NULL);
        standby_direct_end();
    } else if (!run_parked(1, false, grow_pool, NULL)) {
        ps_store_release(&growing, 0);
    }
}

/* --- the asker --- */

static bool there(unsigned n)
{
    return (ps_load_acquire(&alive) >= n && ps_load_acquire(&arrived) >= n) || ps_load_acquire(&hopeless);
}

void standby_ask(unsigned n)
{
    unsigned most = ps_rt.max_spares < STANDBY_MOST ? ps_rt.max_spares : STANDBY_MOST;
    n = n < most ? n : most;
    if (PS_LIKELY(there(n)))
        return;
    raise_wanted(n);
    watchdog_serve_soon();
    if (ps_load_seq(&inside))
        return;
    uint64_t end = os_now_ns() + IN_VAIN_NS, now;
    for (uint32_t seen = ps_load_acquire(&served); !there(n); seen = ps_load_acquire(&served)) {
        now = os_now_ns();
        if (now >= end || watchdog_refused()) {
            ps_store_release(&hopeless, 1);
            return;
        }
        os_park(&served, seen, (int64_t)(end - now));
        if (ps_load_relaxed(&served) != seen)
            end = os_now_ns() + IN_VAIN_NS;
    }
}

void standby_ready(unsigned n)
{
    if (PS_UNLIKELY(ps_load_relaxed(&alive) < n) && ps_tls_on() && ps_rt.max_spares > 0)
        raise_wanted(n < STANDBY_MOST ? n : STANDBY_MOST);
}

/* How many threads the caller's teams have, the inner ones times the outer ones. */
static unsigned members(const struct psthread *t)
{
    uint64_t n = 1;
    for (; t && t->flags & PS_T_MEMBER && n <= STANDBY_MOST; t = t->parent)
        n *= PS_CONTAINER_OF(t, struct ps_member, thread)->team->n;
    return n <= STANDBY_MOST ? (unsigned)n : STANDBY_MOST + 1;
}

/* What the watchdog starts just now may hang where this one's callback runs. */
static void wait_for_direct(void)
{
    uint64_t end = os_now_ns() + IN_VAIN_NS, now;
    while (ps_load_seq(&direct) && (now = os_now_ns()) < end)
        os_park(&direct, 1, (int64_t)(end - now));
}

uint32_t standby_enter(uintptr_t callback)
{
    unsigned n = ps_vp() ? members(ps_current()) : 1;
    if (PS_LIKELY(n == 1 && !ps_load_relaxed(&alive)) || !os_program_code(callback))
        return 0;
    standby_ask(n);
    uint32_t entered = ps_load_relaxed(&generation);
    ps_add_seq(&inside, 1);
    if (PS_UNLIKELY(ps_load_seq(&direct)))
        wait_for_direct();
    return entered;
}

void standby_leave(uint32_t entered)
{
    if (entered && entered == ps_load_relaxed(&generation))
        ps_sub_seq(&inside, 1);
}

/* --- stop --- */

void standby_stop(void)
{
    while (ps_load_acquire(&growing))
        os_yield();
    unsigned n = ps_load_acquire(&alive);
    ps_spin_lock(&pool.lock);
    pool.stops = true;
    ps_spin_unlock(&pool.lock);
    for (struct standby *one; (one = take(1, false)) != NULL;)
        tell_standby(one, END);
    for (unsigned i = 0; i < n; i++)
        os_thread_join(pool.thread[i]);
    standby_reset();
}

void standby_reset(void)
{
    memset(&pool, 0, sizeof pool);
    ps_spin_init(&pool.lock);
    ps_list_init(&pool.parked);
    ps_add_relaxed(&generation, 1);
    ps_store_relaxed(&alive, 0);
    ps_store_relaxed(&arrived, 0);
    ps_store_relaxed(&wanted, 0);
    ps_store_relaxed(&growing, 0);
    ps_store_relaxed(&hopeless, 0);
    ps_store_relaxed(&inside, 0);
    ps_store_relaxed(&direct, 0);
}
