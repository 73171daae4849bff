/* Waiting no longer than until a moment, and for a file descriptor.
 *
 *   struct ps_timer timer = {.deadline_ns = ..., .take = retract};
 *   ... publishes itself, as before each ps_block
 *   bool late = ps_block_until(self, kind, object, &timer);
 *
 * take(timer) is called at the deadline, on the poller's kernel thread, under the lock of all timers. take takes the
 * waiter back from the place where it was published (under the place's lock, or by a compare-and-swap), and returns
 * true. take returns false where another thread has taken the waiter; that thread readies it. take must not wait. No
 * take runs any more when ps_block_until returns, and the timer may go.
 *
 * The poller is a kernel thread of the library's that sleeps in epoll; the first timed wait starts it. Moments are of
 * os_now_ns. */
#ifndef PS_TIMER_H
#define PS_TIMER_H

#include "scheduler.h"

#define PS_NEVER UINT64_MAX

struct ps_timer {
    uint64_t deadline_ns;
    bool (*take)(struct ps_timer *timer);
    void *arg; /* the caller's */
    struct psthread *thread;
    struct ps_timer *child, *next, *before; /* pairing heap: before is the parent or the sibling to the left */
    bool pending, late;
};

/* Blocks the thread until it is made ready or its deadline comes. True: the deadline came first. With deadline_ns
 * PS_NEVER this is ps_block. Where no poller can be started the thread keeps its vp until the deadline. */
bool ps_block_until(struct psthread *self, enum ps_wait kind, const volatile void *object, struct ps_timer *timer);

/* Returns how many pollers run that have nothing to wait for, neither a moment nor a descriptor: 0 or 1. What such a
 * poller has readied before is in a queue by then (deadlock.c). */
unsigned timer_poller_idles(void);
/* Ends the poller; it starts again at need. Caller: stop.c, when no thread waits. */
void timer_stop(void);
void timer_after_fork_in_child(void);

/* Returns the poller's file descriptor for epoll_ctl; -1: the poller does not run and cannot be started. `data` of an
 * entry is the descriptor that is waited for. */
int timer_epoll(void);
/* Called by the poller when something has happened to a file descriptor (poll.c). */
void ps_io_event(int fd, uint32_t events);
void ps_io_after_fork_in_child(void);
/* Returns how many threads wait for a file descriptor. */
unsigned ps_io_waiting(void);

#endif
