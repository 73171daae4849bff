/* Calls that read, write, accept and connect without holding a vp: each waits by psthread_poll (poll.c).
 *
 * Callers: threads that may block.
 *
 * read and write ask the kernel not to wait (RWF_NOWAIT), also on a blocking descriptor. So a write of more bytes than
 * a pipe or a socket has room for does not hold the vp either. The kernel refuses RWF_NOWAIT before Linux 6.4, and for
 * a terminal. Then the thread waits until the descriptor is ready, and makes the plain call. recv and send have
 * MSG_DONTWAIT for this, on any kernel. */
#define _GNU_SOURCE
#include "os.h"
#include "psthread.h"
#include "race.h"
#include "timer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* Returns the moment until which a call on the socket may wait (SO_RCVTIMEO, SO_SNDTIMEO); PS_NEVER where it has no
 * limit. */
static uint64_t socket_deadline(int fd, short events)
{
    struct timeval limit = {0};
    socklen_t bytes = sizeof limit;
    if (getsockopt(fd, SOL_SOCKET, events == POLLIN ? SO_RCVTIMEO : SO_SNDTIMEO, &limit, &bytes) != 0 ||
        (limit.tv_sec == 0 && limit.tv_usec == 0) || limit.tv_sec > INT32_MAX)
        return PS_NEVER;
    return os_now_ns() + (uint64_t)limit.tv_sec * 1000000000 + (uint64_t)limit.tv_usec * 1000;
}

/* Waits until the descriptor is ready for `events`. Returns true when it is: the caller then tries its call again.
 * Returns false with errno set; EAGAIN means that the socket's time limit has come. */
static bool wait_for_events(int fd, short events)
{
    struct pollfd wanted = {.fd = fd, .events = events};
    int ready = psthread_poll(&wanted, 1, socket_deadline(fd, events));
    if (ready == 0)
        errno = EAGAIN;
    return ready > 0;
}
static bool again(ssize_t got) { return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR); }

/* Reads or writes as many bytes as possible without waiting, also on a blocking descriptor. Fails with EOPNOTSUPP where
 * the kernel or the C library cannot do that. It also does so in programs with the thread sanitizer, which does not
 * know these system calls. */
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

/* Does the work of read, or one step of write. */
static ssize_t move_some(int fd, bool writes, void *bytes, size_t n)
{
    struct stat st;
    if (n == 0 || os_fstat(fd, &st) != 0 || never_waits(st.st_mode))
        return move_plainly(fd, writes, bytes, n);
    bool able = is_stream(st.st_mode);
    if (able) {
        ssize_t got = move_at_once(fd, writes, bytes, n);
        able = got >= 0 || errno != EOPNOTSUPP;
        if (able && !again(got))
            return got;
    }
    if (!able && !is_open_for(fd, writes)) /* the descriptor will never be ready: the kernel returns the error */
        return move_plainly(fd, writes, bytes, n);
    ssize_t got = -1;
    do {
        if (!wait_for_events(fd, writes ? POLLOUT : POLLIN))
            return -1;
        /* the kernel refuses RWF_NOWAIT, or another thread was faster: makes the plain call, which may wait */
        if (!able || again(got = move_at_once(fd, writes, bytes, n)))
            got = move_plainly(fd, writes, bytes, n);
    } while (again(got));
    return got;
}

/* --- calls that go on until all bytes are moved --- */

/* Returns whether the kernel's own call would go on after it has moved a part of the bytes: the descriptor is a
 * blocking pipe or stream socket. */
static bool moves_all(int fd)
{
    struct stat st;
    int flags = fcntl(fd, F_GETFL), type = SOCK_STREAM;
    socklen_t bytes = sizeof type;
    if (flags < 0 || flags & O_NONBLOCK || os_fstat(fd, &st) != 0 || !is_stream(st.st_mode))
        return false;
    return S_ISFIFO(st.st_mode) || (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_STREAM);
}

struct transfer {
    int fd, flags;
    char *bytes;
    size_t n;
    const struct sockaddr *to;
    struct sockaddr *from;
    socklen_t to_length, *from_length;
};

/* Calls step, which moves some bytes, until all are moved, or until step fails or moves none. Makes only one step if
 * goes_on is false, or if the kernel's own call would return after a part (moves_all). Returns what the system call
 * would return. */
static ssize_t move_all(struct transfer t, ssize_t (*step)(const struct transfer *), bool goes_on)
{
    size_t done = 0;
    for (;;) {
        ssize_t got = step(&t);
        done += got > 0 ? (size_t)got : 0;
        if (got <= 0 || (size_t)got >= t.n || !goes_on || !moves_all(t.fd))
            return done ? (ssize_t)done : got;
        t.bytes += got;
        t.n -= (size_t)got;
        t.from = NULL;
        t.from_length = NULL;
    }
}

static ssize_t write_some(const struct transfer *t) { return move_some(t->fd, true, t->bytes, t->n); }

#define RETRY_NS UINT64_C(1000000)

static ssize_t send_some(const struct transfer *t)
{
    ssize_t got;
    /* On an AF_UNIX datagram socket EAGAIN may mean that the receiver's queue is full. poll does not tell when that
     * queue has room, so this thread sleeps before each further attempt. */
    bool waited = t->to && t->to->sa_family == AF_UNIX;
    for (; again(got = sendto(t->fd, t->bytes, t->n, t->flags | MSG_DONTWAIT, t->to, t->to_length)); waited = true) {
        if (waited) /* also after a poll that said "ready" although send would wait */
            psthread_sleep(psthread_now() + RETRY_NS);
        if (!wait_for_events(t->fd, POLLOUT))
            return -1;
    }
    return got;
}

static ssize_t receive_some(const struct transfer *t)
{
    ssize_t got;
    for (bool waited = false;
         again(got = recvfrom(t->fd, t->bytes, t->n, t->flags | MSG_DONTWAIT, t->from, t->from_length));
         waited = true) {
        if (waited) /* poll said "ready", perhaps for the queue of errors, but recv would wait */
            psthread_sleep(psthread_now() + RETRY_NS);
        if (!wait_for_events(t->fd, POLLIN))
            return -1;
    }
    return got;
}

/* Returns true if the kernel's own call is to be made: the call does not wait, or it peeks until all bytes are there.
 * Only the kernel can see whether they are. */
static bool is_the_kernels(int flags)
{
    return flags & (MSG_DONTWAIT | MSG_OOB | MSG_ERRQUEUE) || (flags & MSG_PEEK && flags & MSG_WAITALL);
}

ssize_t psthread_read(int fd, void *to, size_t bytes) { return move_some(fd, false, to, bytes); }

ssize_t psthread_write(int fd, const void *from, size_t bytes)
{
    struct transfer t = {.fd = fd, .bytes = (char *)(uintptr_t)from, .n = bytes};
    return move_all(t, write_some, true);
}

ssize_t psthread_recvfrom(int fd, void *to, size_t bytes, int flags, struct sockaddr *address, socklen_t *length)
{
    struct transfer t = {.fd = fd, .flags = flags, .bytes = to, .n = bytes, .from = address, .from_length = length};
    if (is_the_kernels(flags))
        return recvfrom(fd, to, bytes, flags, address, length);
    return move_all(t, receive_some, flags & MSG_WAITALL);
}
ssize_t psthread_recv(int fd, void *to, size_t bytes, int flags)
{
    return psthread_recvfrom(fd, to, bytes, flags, NULL, NULL);
}

ssize_t psthread_sendto(int fd, const void *from, size_t bytes, int flags, const struct sockaddr *address,
                        socklen_t length)
{
    struct transfer t = {
        .fd = fd, .flags = flags, .bytes = (char *)(uintptr_t)from, .n = bytes, .to = address, .to_length = length};
    if (flags & MSG_DONTWAIT)
        return sendto(fd, from, bytes, flags, address, length);
    return move_all(t, send_some, true);
}
ssize_t psthread_send(int fd, const void *from, size_t bytes, int flags)
{
    return psthread_sendto(fd, from, bytes, flags, NULL, 0);
}

/* --- connections --- */

static bool listens(int fd)
{
    int yes = 0;
    socklen_t bytes = sizeof yes;
    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &yes, &bytes) == 0 && yes;
}

int psthread_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
    int got = -1;
    if (!listens(fd)) /* the socket will never be ready: the kernel returns the error */
        return accept4(fd, address, length, flags);
    do
        if (!wait_for_events(fd, POLLIN))
            return -1;
    while (again(got = accept4(fd, address, length, flags)));
    return got;
}
int psthread_accept(int fd, struct sockaddr *address, socklen_t *length)
{
    return psthread_accept4(fd, address, length, 0);
}

int psthread_connect(int fd, const struct sockaddr *address, socklen_t length)
{
    int err;
    /* EAGAIN of a local socket means that the listener's queue is full. poll does not tell when it has room, so this
     * thread sleeps and tries again. For other sockets EAGAIN is an error. */
    while ((err = connect(fd, address, length)) != 0 && errno == EAGAIN && address->sa_family == AF_UNIX)
        psthread_sleep(psthread_now() + RETRY_NS);
    if (err == 0)
        return 0;
    if (errno != EINPROGRESS && errno != EINTR)
        return -1;
    socklen_t bytes = sizeof err;
    err = 0;
    if (!wait_for_events(fd, POLLOUT)) {
        if (errno == EAGAIN)
            errno = EINPROGRESS; /* as connect fails when a blocking socket's limit has come */
        return -1;
    }
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &bytes) != 0)
        return -1;
    errno = err;
    return err ? -1 : 0;
}
