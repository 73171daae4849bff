/* Waiting with a deadline, and the poller.
 *
 *   struct ps_timer timer = {.deadline_ns = ..., .take = retract};
 *   ... the thread publishes itself, as before each ps_block
 *   bool late = ps_block_until(self, kind, object, &timer);
 *
 * At the deadline the poller calls take(timer), on its own kernel thread, holding the lock of all timers. `take`
 * removes the waiter from the place where it was published (under the place's lock, or by a compare-and-swap), and
 * returns true. `take` returns false if another thread has already taken the waiter; that thread then readies it.
 * `take` must not wait. When ps_block_until returns, no `take` of this timer runs any more, and the timer's memory may
 * go.
 *
 * The poller is a kernel thread of the library that sleeps in epoll. The first wait with a deadline, or for a
 * descriptor, starts it. Deadlines are moments of os_now_ns. */
#ifndef PS_TIMER_H
#define PS_TIMER_H

#include "scheduler.h"

#define PS_NEVER UINT64_MAX

struct ps_timer {
    uint64_t deadline_ns;
    bool (*take)(struct ps_timer *timer);
    void *arg; /* for the use of `take` */
    struct psthread *thread;
    struct ps_timer *child, *next, *before; /* links of the pairing heap; before: the parent or the left sibling */
    bool pending, late; /* under the lock of all timers; pending: in the heap; late: the deadline came first */
};

/* Blocks the thread until another thread readies it, or its deadline comes. Returns true if the deadline came first.
 * With deadline_ns PS_NEVER this is ps_block. If no poller can be started the thread keeps its vp until the
 * deadline. */
bool ps_block_until(struct psthread *self, enum ps_wait kind, const volatile void *object, struct ps_timer *timer);

/* Returns 1 if the poller runs and nothing is left for it to wait for, neither a deadline nor a descriptor; otherwise
 * 0. Every thread that the poller has readied is in a queue by then (deadlock.c). */
unsigned timer_poller_idles(void);
/* Ends the poller; the next wait with a deadline, or for a descriptor, starts it again. Called by stop.c only. */
void timer_stop(void);
void timer_after_fork_in_child(void);

/* Returns the poller's epoll descriptor, for epoll_ctl. Returns -1 if the poller cannot be started, or runs without
 * epoll. `data` of an entry is the file descriptor that a thread waits for. */
int timer_epoll(void);
/* Called by the poller when epoll reports `events` of file descriptor fd: readies the threads that wait for them
 * (poll.c). */
void ps_io_event(int fd, uint32_t events);
void ps_io_after_fork_in_child(void);
/* Returns how many threads wait for a file descriptor. */
unsigned ps_io_waiting(void);

#endif
