/* Waiting for file descriptors without a vp: psthread_poll, and read, write, accept and connect on top of it.
 *
 * The poller (timer.c) has each descriptor that somebody waits for in its epoll set, one-shot: an event disarms it. Who
 * waits stands in a bucket by the descriptor's number; its lock guards the bucket's list and orders what epoll is told,
 * which is always all that the descriptor's waiters want together:
 *   waiter   lock; push; arm (add or modify); unlock; block
 *   event    lock; take those whom it concerns; arm again for the rest; unlock; ready
 *   late     lock; take out; unlock (it stays armed: the event finds nobody, and nothing is armed again)
 * No event is lost: epoll reports what is so when it is armed, not only what changes.
 *
 * A descriptor that epoll does not take (a regular file: EPERM) is always ready, as for poll. One that is closed while
 * somebody waits for it wakes nobody, as with epoll. Failures: ENOMEM, ENOSPC from epoll; EBADF. Cost of a wait: two
 * system calls, one of them the poller's. */
#include "check.h"
#include "os.h"
#include "psthread.h"
#include "spin.h"
#include "timer.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUCKETS 64u

struct waits {
    struct waits *next;
    struct psthread *thread;
    int fd;
    uint32_t wanted, got; /* EPOLL..., which are POLL... by value */
    struct ps_timer timer;
};
_Static_assert(EPOLLIN == POLLIN && EPOLLOUT == POLLOUT && EPOLLPRI == POLLPRI && EPOLLERR == POLLERR &&
                   EPOLLHUP == POLLHUP,
               "poll's bits are epoll's");
#define ALWAYS (EPOLLERR | EPOLLHUP)

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

/* Tells epoll what the descriptor's waiters want; nothing where there is none. 0 or an errno value. */
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
    ps_spin_lock(&b->lock);
    while (*link) {
        struct waits *w = *link;
        uint32_t got = events & (w->wanted | ALWAYS);
        if (w->fd != fd || !got) {
            link = &w->next;
            continue;
        }
        *link = w->next;
        ps_sub_release(&waiting, 1);
        w->got = got;
        w->next = taken;
        taken = w;
    }
    arm_locked(b, timer_epoll(), fd);
    ps_spin_unlock(&b->lock);
    while (taken) {
        struct waits *w = taken;
        taken = w->next; /* w is gone once its thread runs */
        ps_ready(w->thread, PS_BACK);
    }
}

/* What is so now. */
static int look_at_descriptor(int fd, short events, short *got)
{
    struct pollfd p = {.fd = fd, .events = events};
    if (poll(&p, 1, 0) < 0)
        return errno == EINTR ? 0 : errno;
    *got = p.revents;
    return p.revents & POLLNVAL ? EBADF : 0;
}

/* Without a poller. */
static int poll_by_turns(int fd, short events, short *got, uint64_t deadline_ns)
{
    for (;;) {
        int err = look_at_descriptor(fd, events, got);
        if (err || *got)
            return err;
        if (os_now_ns() >= deadline_ns)
            return ETIMEDOUT;
        psthread_yield();
    }
}

int psthread_poll(int fd, short events, short *happened, uint64_t deadline_ns)
{
    short got = 0, *out = happened ? happened : &got;
    *out = 0;
    int err = look_at_descriptor(fd, events, out);
    if (err || *out)
        return err;
    if (deadline_ns != PS_NEVER && os_now_ns() >= deadline_ns)
        return ETIMEDOUT;
    int epoll = timer_epoll();
    if (epoll < 0)
        return poll_by_turns(fd, events, out, deadline_ns);
    struct psthread *self = ps_self();
    struct bucket *b = descriptor_bucket(fd);
    struct waits me = {.thread = self,
                       .fd = fd,
                       .wanted = (uint32_t)(events & (POLLIN | POLLOUT | POLLPRI)) | ALWAYS,
                       .timer = {.deadline_ns = deadline_ns, .take = take_late_io_waiter, .arg = &me}};
    ps_spin_lock(&b->lock);
    me.next = b->first;
    b->first = &me;
    ps_add_relaxed(&waiting, 1);
    err = arm_locked(b, epoll, fd);
    if (err)
        take_out_locked(b, &me);
    ps_spin_unlock(&b->lock);
    if (err == EPERM) { /* a file: always ready */
        *out = events & (POLLIN | POLLOUT);
        return 0;
    }
    if (err)
        return err;
    if (ps_block_until(self, PS_WAIT_FD, (const void *)(uintptr_t)(unsigned)fd, &me.timer))
        return ETIMEDOUT;
    *out = (short)me.got;
    return 0;
}

/* Waits until `events`; the calls below then do what they do at once. True: go on. */
static bool wait_for_events(int fd, short events)
{
    int err = psthread_poll(fd, events, NULL, PS_NEVER);
    if (err)
        errno = err;
    return err == 0;
}
static bool again(ssize_t got) { return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR); }

ssize_t psthread_read(int fd, void *to, size_t bytes)
{
    ssize_t got = -1;
    do
        if (!wait_for_events(fd, POLLIN))
            return -1;
    while (again(got = read(fd, to, bytes)));
    return got;
}

ssize_t psthread_write(int fd, const void *from, size_t bytes)
{
    ssize_t got = -1;
    do
        if (!wait_for_events(fd, POLLOUT))
            return -1;
    while (again(got = write(fd, from, bytes)));
    return got;
}

int psthread_accept(int fd, struct sockaddr *address, socklen_t *length)
{
    int got = -1;
    do
        if (!wait_for_events(fd, POLLIN))
            return -1;
    while (again(got = accept(fd, address, length)));
    return got;
}

int psthread_connect(int fd, const struct sockaddr *address, socklen_t length)
{
    if (connect(fd, address, length) == 0)
        return 0;
    if (errno != EINPROGRESS && errno != EINTR)
        return -1;
    int err = 0;
    socklen_t bytes = sizeof err;
    if (!wait_for_events(fd, POLLOUT) || getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &bytes) != 0)
        return -1;
    errno = err;
    return err ? -1 : 0;
}
