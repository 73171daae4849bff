/* Waiting for file descriptors without holding a vp: psthread_poll. The calls that read, write, accept and connect
 * (io.c) use it.
 *
 * The poller (timer.c) has each descriptor that a thread waits for in its epoll set, one-shot: an event disarms the
 * descriptor. A waiter is in a bucket, chosen by the descriptor's number. The bucket's lock guards its list, and orders
 * the calls of epoll_ctl. Each call arms what all waiters for the descriptor want together:
 *   waiter   lock; push; arm (add or modify); unlock; block
 *   event    lock; take the waiters that want it; arm again for those that stay; unlock; ready the taken ones
 *   late     lock; remove; unlock (the descriptor stays armed: its event finds no waiter, and arms nothing)
 * No event is lost: when epoll arms a descriptor it reports its present state, not only changes. An event may belong to
 * another file, which was closed under this number while a duplicate keeps it open. So a woken thread looks at the
 * descriptor, and waits again if it is not ready.
 *
 * For several descriptors a thread makes an epoll set of its own, and waits for that set: the set is ready when one of
 * them is. It is made for one wait, so it has only files that had these numbers when the wait began. Rejected: an entry
 * for each descriptor in its bucket: several events would have to agree which of them takes the thread.
 *
 * epoll refuses a regular file (EPERM): such a file is ready for poll at once, or never. Closing a descriptor does not
 * wake a thread that waits for it, as with epoll. If epoll refuses for another reason (no memory, no descriptor for a
 * set, too long a chain of sets), the thread looks and yields in turns. Cost of a wait: five system calls, one of them
 * the poller's; four if the descriptor is in the epoll set already. For n descriptors: five, and n + 2 more. */
#define _GNU_SOURCE
#include "address_wait.h"
#include "os.h"
#include "psthread.h"
#include "spin.h"
#include "timer.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#define BUCKETS 64u

struct waits {
    struct waits *next;
    struct psthread *thread;
    int fd;
    uint32_t wanted, got; /* bits EPOLL..., which have the same values as POLL... */
    struct ps_timer timer;
};
_Static_assert(EPOLLIN == POLLIN && EPOLLOUT == POLLOUT && EPOLLPRI == POLLPRI && EPOLLERR == POLLERR &&
                   EPOLLHUP == POLLHUP,
               "poll's bits are epoll's");
#define ALWAYS (EPOLLERR | EPOLLHUP)
#define EVENTS (EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDNORM | EPOLLRDBAND | EPOLLWRNORM | EPOLLWRBAND | EPOLLRDHUP)

static struct bucket {
    PS_LINE_ALIGNED struct ps_spin lock;
    struct waits *first;
} buckets[BUCKETS];
static _Atomic uint32_t waiting;

static struct bucket *descriptor_bucket(int fd) { return &buckets[(unsigned)fd % BUCKETS]; }

unsigned ps_io_waiting(void) { return ps_load_acquire(&waiting); }

void ps_io_after_fork_in_child(void)
{
    for (unsigned i = 0; i < BUCKETS; i++)
        buckets[i] = (struct bucket){0};
    ps_store_relaxed(&waiting, 0);
}

/* Arms the descriptor in the epoll set for all events that its waiters want; does nothing if no thread waits for it.
 * Returns 0 or an errno value. */
static int arm_locked(struct bucket *b, int epoll, int fd)
{
    struct epoll_event event = {.events = EPOLLONESHOT, .data = {.u64 = (unsigned)fd}};
    for (const struct waits *w = b->first; w; w = w->next)
        if (w->fd == fd)
            event.events |= w->wanted;
    if (event.events == EPOLLONESHOT)
        return 0;
    if (epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event) == 0)
        return 0;
    return errno != ENOENT || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0 ? errno : 0;
}

static bool take_out_locked(struct bucket *b, struct waits *wanted)
{
    for (struct waits **link = &b->first; *link; link = &(*link)->next)
        if (*link == wanted) {
            *link = wanted->next;
            ps_sub_release(&waiting, 1);
            return true;
        }
    return false;
}

static bool take_late_io_waiter(struct ps_timer *timer)
{
    struct waits *w = timer->arg;
    struct bucket *b = descriptor_bucket(w->fd);
    ps_spin_lock(&b->lock);
    bool here = take_out_locked(b, w);
    ps_spin_unlock(&b->lock);
    return here;
}

void ps_io_event(int fd, uint32_t events)
{
    struct bucket *b = descriptor_bucket(fd);
    struct waits *taken = NULL, **link = &b->first;
    uint32_t readied = 0;
    ps_spin_lock(&b->lock);
    while (*link) {
        struct waits *w = *link;
        uint32_t got = events & (w->wanted | ALWAYS);
        if (w->fd != fd || !got) {
            link = &w->next;
            continue;
        }
        *link = w->next;
        w->got = got;
        w->next = taken;
        taken = w;
    }
    arm_locked(b, timer_epoll(), fd);
    ps_spin_unlock(&b->lock);
    while (taken) {
        struct waits *w = taken;
        taken = w->next; /* w is on the stack of its thread, and is gone once this thread runs */
        ps_ready(w->thread, PS_BACK);
        readied++;
    }
    /* counted off after ps_ready, so that deadlock.c sees these threads waiting or ready */
    ps_sub_release(&waiting, readied);
}

/* poll without waiting: returns how many descriptors are ready now, or -1. */
static int look_at_descriptors(struct pollfd *fds, nfds_t n)
{
    int ready;
    do
        ready = poll(fds, n, 0);
    while (ready < 0 && errno == EINTR);
    return ready;
}

/* Waits without a poller: looks and yields in turns until a descriptor is ready or the deadline comes. */
static int poll_by_turns(struct pollfd *fds, nfds_t n, uint64_t deadline_ns)
{
    int ready;
    while ((ready = look_at_descriptors(fds, n)) == 0 && os_now_ns() < deadline_ns)
        psthread_yield();
    return ready;
}

static uint32_t epoll_wanted(const struct pollfd *fd) { return ((uint32_t)fd->events & EVENTS) | ALWAYS; }

/* Blocks until the poller reports an event of the descriptor. Returns 0, ETIMEDOUT, or the errno value with which epoll
 * has refused the descriptor. */
static int wait_for_report(int epoll, int fd, uint32_t wanted, uint64_t deadline_ns)
{
    struct psthread *self = ps_self();
    struct bucket *b = descriptor_bucket(fd);
    struct waits me = {.thread = self,
                       .fd = fd,
                       .wanted = wanted,
                       .timer = {.deadline_ns = deadline_ns, .take = take_late_io_waiter, .arg = &me}};
    ps_spin_lock(&b->lock);
    me.next = b->first;
    b->first = &me;
    ps_add_relaxed(&waiting, 1);
    int err = arm_locked(b, epoll, fd);
    if (err)
        take_out_locked(b, &me);
    ps_spin_unlock(&b->lock);
    if (err)
        return err;
    bool late = ps_block_until(self, PS_WAIT_FD, (const void *)(uintptr_t)(unsigned)fd, &me.timer);
    return late ? ETIMEDOUT : 0;
}

/* Adds fds[i] to the set. If the descriptor is there already, the set gets the events of both entries. Returns 0 or an
 * errno value. */
static int add_to_set(int set, const struct pollfd *fds, nfds_t i)
{
    struct epoll_event event = {.events = epoll_wanted(&fds[i])};
    if (fds[i].fd < 0 || epoll_ctl(set, EPOLL_CTL_ADD, fds[i].fd, &event) == 0 || errno == EPERM)
        return 0;
    if (errno != EEXIST)
        return errno;
    for (nfds_t k = 0; k < i; k++)
        if (fds[k].fd == fds[i].fd)
            event.events |= epoll_wanted(&fds[k]);
    return epoll_ctl(set, EPOLL_CTL_MOD, fds[i].fd, &event) != 0 ? errno : 0;
}

/* Blocks until one of several descriptors has an event. Returns as wait_for_report. */
static int wait_for_reports(int epoll, const struct pollfd *fds, nfds_t n, uint64_t deadline_ns)
{
    int set = epoll_create1(EPOLL_CLOEXEC), err = set < 0 ? errno : 0;
    for (nfds_t i = 0; i < n && !err; i++)
        err = add_to_set(set, fds, i);
    if (!err)
        err = wait_for_report(epoll, set, EPOLLIN, deadline_ns);
    if (set >= 0)
        close(set);
    return err;
}

int psthread_poll(struct pollfd *fds, nfds_t n, uint64_t deadline_ns)
{
    int ready;
    while ((ready = look_at_descriptors(fds, n)) == 0) {
        int epoll, err = EPERM;
        if (deadline_ns != PS_NEVER && os_now_ns() >= deadline_ns) {
            ps_tried_in_vain();
            break;
        }
        if ((epoll = timer_epoll()) < 0)
            return poll_by_turns(fds, n, deadline_ns);
        if (n == 1 && fds->fd >= 0)
            err = wait_for_report(epoll, fds->fd, epoll_wanted(fds), deadline_ns);
        if (err == EPERM)
            err = wait_for_reports(epoll, fds, n, deadline_ns);
        if (err && err != ETIMEDOUT)
            return poll_by_turns(fds, n, deadline_ns);
    }
    return ready;
}
