/* Waiting for file descriptors without a vp: psthread_poll, and read, write, accept and connect on top of it.
 *
 * The poller (timer.c) has each descriptor that a thread waits for in its epoll set, one-shot: an event disarms it. A
 * waiter stands in a bucket by the descriptor's number. The bucket's lock guards its list, and orders what epoll is
 * told. epoll is always told what all waiters for the descriptor want together:
 *   waiter   lock; push; arm (add or modify); unlock; block
 *   event    lock; take the waiters that it concerns; arm again for the rest; unlock; ready
 *   late     lock; take out; unlock (it stays armed: the event finds no waiter, and nothing is armed again)
 * No event is lost: epoll reports what is so when it is armed, not only what changes. An event may belong to another
 * file: one that was closed under this number while a copy keeps it open. So a woken thread looks at the descriptor,
 * and waits again if it is not ready.
 *
 * A descriptor that epoll does not take (a regular file: EPERM) is always ready, as for poll. A descriptor that is
 * closed while a thread waits for it does not wake that thread, as with epoll. Failures: ENOMEM, ENOSPC from epoll;
 * EBADF. Cost of a wait: four system calls, one of them the poller's.
 *
 * read and write ask the kernel not to wait (RWF_NOWAIT), also on a blocking descriptor. So a write of more than a pipe
 * or a socket has room for holds no vp either. Where the kernel cannot (before Linux 6.4; a terminal), they wait for
 * the descriptor to be ready, and then call. */
#define _GNU_SOURCE
#include "address_wait.h"
#include "os.h"
#include "psthread.h"
#include "race.h"
#include "spin.h"
#include "timer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
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
        taken = w->next; /* w is gone once its thread runs */
        ps_ready(w->thread, PS_BACK);
        readied++;
    }
    ps_sub_release(&waiting, readied); /* deadlock.c: not before they are ready */
}

/* What is so now. */
static int look_at_descriptor(int fd, short events, short *got)
{
    struct pollfd p = {.fd = fd, .events = events};
    if (fd < 0) /* which poll passes over */
        return EBADF;
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

/* Until epoll tells of the descriptor. ETIMEDOUT, or what epoll refuses it with. */
static int wait_for_report(int epoll, int fd, short events, uint64_t deadline_ns)
{
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
    int err = arm_locked(b, epoll, fd);
    if (err)
        take_out_locked(b, &me);
    ps_spin_unlock(&b->lock);
    if (err)
        return err;
    bool late = ps_block_until(self, PS_WAIT_FD, (const void *)(uintptr_t)(unsigned)fd, &me.timer);
    return late ? ETIMEDOUT : 0;
}

int psthread_poll(int fd, short events, short *happened, uint64_t deadline_ns)
{
    short got = 0, *out = happened ? happened : &got;
    int err = 0;
    *out = 0;
    while (!err) {
        err = look_at_descriptor(fd, events, out);
        if (err || *out)
            return err;
        if (deadline_ns != PS_NEVER && os_now_ns() >= deadline_ns) {
            ps_tried_in_vain();
            return ETIMEDOUT;
        }
        int epoll = timer_epoll();
        if (epoll < 0)
            return poll_by_turns(fd, events, out, deadline_ns);
        err = wait_for_report(epoll, fd, events, deadline_ns);
    }
    if (err != EPERM)
        return err;
    *out = events & (POLLIN | POLLOUT); /* a file: always ready */
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

/* A read or a write of what can be had at once, whether the descriptor is O_NONBLOCK or not. EOPNOTSUPP: the kernel
 * cannot. The program's thread sanitizer knows no such calls. */
static ssize_t move_at_once(int fd, bool writes, void *bytes, size_t n)
{
#if defined(__GLIBC__) && defined(RWF_NOWAIT) && !PS_TSAN
    const struct iovec part = {bytes, n};
    if (!ps_race_enabled())
        return writes ? pwritev2(fd, &part, 1, -1, RWF_NOWAIT) : preadv2(fd, &part, 1, -1, RWF_NOWAIT);
#endif
    (void)fd, (void)writes, (void)bytes, (void)n;
    errno = EOPNOTSUPP;
    return -1;
}

static ssize_t move_plainly(int fd, bool writes, void *bytes, size_t n)
{
    return writes ? write(fd, bytes, n) : read(fd, bytes, n);
}

static bool is_stream(mode_t mode) { return S_ISFIFO(mode) || S_ISSOCK(mode); }
static bool never_waits(mode_t mode) { return S_ISREG(mode) || S_ISBLK(mode) || S_ISDIR(mode); }
static bool is_open_for(int fd, bool writes)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != (writes ? O_RDONLY : O_WRONLY);
}

/* read, or one step of write. */
static ssize_t move_some(int fd, bool writes, void *bytes, size_t n)
{
    struct stat st;
    if (n == 0 || fstat(fd, &st) != 0 || never_waits(st.st_mode))
        return move_plainly(fd, writes, bytes, n);
    bool able = is_stream(st.st_mode);
    if (able) {
        ssize_t got = move_at_once(fd, writes, bytes, n);
        able = got >= 0 || errno != EOPNOTSUPP;
        if (able && !again(got))
            return got;
    }
    if (!able && !is_open_for(fd, writes)) /* which it never is ready for */
        return move_plainly(fd, writes, bytes, n);
    ssize_t got = -1;
    do {
        if (!wait_for_events(fd, writes ? POLLOUT : POLLIN))
            return -1;
        if (!able || again(got = move_at_once(fd, writes, bytes, n))) /* another thread was first */
            got = move_plainly(fd, writes, bytes, n);
    } while (again(got));
    return got;
}

/* Whether write would go on where a part has been written. */
static bool writes_all(int fd)
{
    struct stat st;
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && !(flags & O_NONBLOCK) && fstat(fd, &st) == 0 && is_stream(st.st_mode);
}

ssize_t psthread_read(int fd, void *to, size_t bytes) { return move_some(fd, false, to, bytes); }

ssize_t psthread_write(int fd, const void *from, size_t bytes)
{
    char *at = (char *)(uintptr_t)from;
    ssize_t got = move_some(fd, true, at, bytes);
    size_t done = got > 0 ? (size_t)got : 0;
    while (got > 0 && done < bytes && writes_all(fd)) {
        got = move_some(fd, true, at + done, bytes - done);
        done += got > 0 ? (size_t)got : 0;
    }
    return done ? (ssize_t)done : got;
}

static bool listens(int fd)
{
    int yes = 0;
    socklen_t bytes = sizeof yes;
    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &yes, &bytes) == 0 && yes;
}

int psthread_accept(int fd, struct sockaddr *address, socklen_t *length)
{
    int got = -1;
    if (!listens(fd)) /* which it never is ready for */
        return accept(fd, address, length);
    do
        if (!wait_for_events(fd, POLLIN))
            return -1;
    while (again(got = accept(fd, address, length)));
    return got;
}

#define RETRY_NS UINT64_C(1000000)

int psthread_connect(int fd, const struct sockaddr *address, socklen_t length)
{
    int err;
    /* EAGAIN of a local socket: the listener's queue is full, and nothing tells when it is not. Of others it is an
     * error. */
    while ((err = connect(fd, address, length)) != 0 && errno == EAGAIN && address->sa_family == AF_UNIX)
        psthread_sleep(psthread_now() + RETRY_NS);
    if (err == 0)
        return 0;
    if (errno != EINPROGRESS && errno != EINTR)
        return -1;
    socklen_t bytes = sizeof err;
    err = 0;
    if (!wait_for_events(fd, POLLOUT) || getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &bytes) != 0)
        return -1;
    errno = err;
    return err ? -1 : 0;
}
