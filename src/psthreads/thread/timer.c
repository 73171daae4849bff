/* Deadlines and the poller: see timer.h.
 *
 * All timers are in one pairing heap under one spin lock: an insertion is O(1), a removal O(log n) amortised. The nodes
 * are on the stacks of the waiting threads, so nothing is allocated. A thread that inserts the earliest deadline sets
 * the poller's timerfd to it. A thread that is woken before its deadline leaves the timerfd as it is; the poller then
 * wakes and finds no timer due.
 *
 * Lock order: this lock, then the lock of the place where the waiter is published (`take`), then a queue's lock
 * (ps_ready). A waiter takes this lock before its ps_block and once more after it, and holds no other lock then. So
 * after the second time its timer is not in the heap, and no call of its `take` runs (timer.h).
 *
 * Exactly one thread calls ps_ready for a waiter: `take` and the readier exclude one another by the place's lock or
 * word. tests/models/timer.pml checks this. */
#include "timer.h"

#include "check.h"
#include "os.h"
#include "spin.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define POLLER_STACK_BYTES ((size_t)64 * 1024)
#define EVENTS_MAX 64
#define TIMER_DATA UINT64_MAX /* marks the timerfd's event; the data of other events is a descriptor */

static struct ps_spin lock;
static struct ps_timer *heap; /* guarded by lock */

/* The states of `poller`: NONE -> RUNS (release, under start_lock), or NONE -> REFUSED if no kernel thread can be
 * started. timer_stop sets NONE again. If the process has no file descriptor left, the poller runs without epoll: it
 * only keeps time, and sleeps on clock_turns. Then epoll_fd and timer_fd are -1. */
enum { NONE, RUNS, REFUSED };
static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t poller, stopping;
static _Atomic uint32_t clock_turns; /* without a timerfd: grows whenever the poller is to look again */
static os_thread thread;
static int epoll_fd = -1, timer_fd = -1;

/* --- the heap --- */

static struct ps_timer *meld(struct ps_timer *a, struct ps_timer *b)
{
    if (!a || !b)
        return a ? a : b;
    if (b->deadline_ns < a->deadline_ns) {
        struct ps_timer *other = a;
        a = b;
        b = other;
    }
    b->next = a->child;
    if (b->next)
        b->next->before = b;
    b->before = a;
    a->child = b;
    a->next = a->before = NULL;
    return a;
}

/* Melds a list of siblings in pairs, then melds the pairs from the last to the first. Returns the root of the
 * result. */
static struct ps_timer *meld_all(struct ps_timer *first)
{
    struct ps_timer *pairs = NULL, *all = NULL;
    while (first) {
        struct ps_timer *a = first, *b = a->next, *rest = b ? b->next : NULL;
        a->next = a->before = NULL;
        if (b)
            b->next = b->before = NULL;
        a = meld(a, b);
        a->next = pairs;
        pairs = a;
        first = rest;
    }
    while (pairs) {
        struct ps_timer *rest = pairs->next;
        pairs->next = NULL;
        all = meld(all, pairs);
        pairs = rest;
    }
    return all;
}

static void remove_locked(struct ps_timer *t)
{
    struct ps_timer *below = meld_all(t->child);
    t->child = NULL;
    if (t == heap) {
        heap = below;
    } else {
        if (t->before->child == t)
            t->before->child = t->next;
        else
            t->before->next = t->next;
        if (t->next)
            t->next->before = t->before;
        heap = meld(heap, below);
    }
    t->pending = false;
}

/* --- the poller --- */

static void set_clock(uint64_t deadline_ns)
{
    if (timer_fd < 0) {
        ps_add_release(&clock_turns, 1);
        os_wake(&clock_turns, 1);
        return;
    }
    struct itimerspec at = {.it_value = {(time_t)(deadline_ns / 1000000000u), (long)(deadline_ns % 1000000000u)}};
    if (deadline_ns == 0)
        at.it_value.tv_nsec = 1; /* 0 would disarm the timerfd */
    timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

/* Readies all threads whose deadline has come. Returns the next deadline, or PS_NEVER. */
static uint64_t expire(void)
{
    uint64_t now = os_now_ns(), next = PS_NEVER;
    ps_spin_lock(&lock);
    while (heap && heap->deadline_ns <= now) {
        struct ps_timer *t = heap;
        struct psthread *waits = t->thread;
        remove_locked(t);
        t->late = t->take(t);
        if (t->late)
            /* t is valid until `lock` is released: its thread takes `lock` before it goes on */
            ps_ready(waits, PS_BACK);
    }
    if (heap)
        next = heap->deadline_ns;
    if (heap && timer_fd >= 0)
        set_clock(next);
    ps_spin_unlock(&lock);
    return next;
}

static void keep_time(void)
{
    while (!ps_load_acquire(&stopping)) {
        uint32_t seen = ps_load_acquire(&clock_turns);
        uint64_t next = expire(), now = os_now_ns();
        if (next == PS_NEVER)
            os_park(&clock_turns, seen, OS_FOREVER);
        else if (next > now)
            os_park(&clock_turns, seen, (int64_t)(next - now));
    }
}

static void *poller_main(void *arg)
{
    struct epoll_event event[EVENTS_MAX];
    (void)arg;
    os_thread_name("psthreads-io");
    if (epoll_fd < 0)
        keep_time();
    while (!ps_load_acquire(&stopping)) {
        int n = epoll_wait(epoll_fd, event, EVENTS_MAX, -1);
        for (int i = 0; i < n; i++) {
            uint64_t times;
            if (event[i].data.u64 != TIMER_DATA)
                ps_io_event(event[i].data.fd, event[i].events);
            else if (read(timer_fd, &times, sizeof times) == (ssize_t)sizeof times)
                expire();
        }
    }
    return NULL;
}

static void close_all(void)
{
    if (epoll_fd >= 0)
        close(epoll_fd);
    if (timer_fd >= 0)
        close(timer_fd);
    epoll_fd = timer_fd = -1;
}

static void open_all(void)
{
    struct epoll_event event = {.events = EPOLLIN, .data = {.u64 = TIMER_DATA}};
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (epoll_fd >= 0 && timer_fd >= 0 && epoll_ctl(epoll_fd, EPOLL_CTL_ADD, timer_fd, &event) == 0)
        return;
    ps_warn("no descriptor for the kernel thread that looks at files (%s): threads that wait for one look by turns",
            strerror(errno));
    close_all();
}

static PS_NOINLINE bool start_poller(void)
{
    pthread_mutex_lock(&start_lock);
    if (ps_load_relaxed(&poller) == NONE) {
        ps_store_relaxed(&stopping, 0);
        open_all();
        int err = os_thread_start(&thread, poller_main, NULL, POLLER_STACK_BYTES, true);
        if (err) {
            close_all();
            ps_warn("no kernel thread that keeps time (%s): a thread that waits until a moment holds its processor",
                    strerror(err));
        }
        ps_store_release(&poller, err ? REFUSED : RUNS);
    }
    pthread_mutex_unlock(&start_lock);
    return ps_load_acquire(&poller) == RUNS;
}

static bool poller_runs(void) { return PS_LIKELY(ps_load_acquire(&poller) == RUNS) || start_poller(); }

int timer_epoll(void) { return poller_runs() ? epoll_fd : -1; }

unsigned timer_poller_idles(void)
{
    if (ps_load_acquire(&poller) != RUNS || ps_io_waiting())
        return 0;
    ps_spin_lock(&lock);
    bool none = !heap;
    ps_spin_unlock(&lock);
    return none;
}

void timer_stop(void)
{
    pthread_mutex_lock(&start_lock);
    if (ps_load_relaxed(&poller) == RUNS) {
        ps_store_release(&stopping, 1);
        set_clock(0);
        os_thread_join(thread);
        close_all();
    }
    ps_store_release(&poller, NONE);
    pthread_mutex_unlock(&start_lock);
}

void timer_after_fork_in_child(void)
{
    pthread_mutex_init(&start_lock, NULL);
    ps_spin_init(&lock);
    heap = NULL;
    close_all(); /* the child's own duplicates of the descriptors */
    ps_store_relaxed(&poller, NONE);
    ps_io_after_fork_in_child();
}

/* --- waiting --- */

/* Waits until the deadline without a poller. The thread is published, so another thread may ready it at any time. So
 * the thread must not yield: it would be in a queue twice. It keeps its vp until the deadline; the watchdog starts
 * spares for the threads that are ready there. Rejected: a flag in each thread that ps_ready would test. All programs
 * would pay for the rare one that gets no further kernel thread. */
static bool wait_here(struct psthread *self, enum ps_wait kind, const volatile void *object, struct ps_timer *timer)
{
    _Atomic uint32_t never = 0;
    for (uint64_t now; (now = os_now_ns()) < timer->deadline_ns;)
        os_park(&never, 0, (int64_t)(timer->deadline_ns - now));
    if (timer->take(timer))
        return true;
    ps_block(self, kind, object); /* another thread has taken the waiter, and readies it */
    return false;
}

bool ps_block_until(struct psthread *self, enum ps_wait kind, const volatile void *object, struct ps_timer *timer)
{
    if (timer->deadline_ns == PS_NEVER) {
        ps_block(self, kind, object);
        return false;
    }
    if (!poller_runs())
        return wait_here(self, kind, object, timer);
    timer->thread = self;
    timer->child = timer->next = timer->before = NULL;
    timer->pending = true;
    timer->late = false;
    ps_spin_lock(&lock);
    heap = meld(heap, timer);
    if (heap == timer)
        set_clock(timer->deadline_ns);
    ps_spin_unlock(&lock);
    ps_block(self, kind, object);
    ps_spin_lock(&lock);
    if (timer->pending)
        remove_locked(timer);
    bool late = timer->late;
    ps_spin_unlock(&lock);
    return late;
}
