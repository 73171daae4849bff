/* The C library's calls that wait in the kernel. A thread that is about to wait lets a spare use its vp's processor
 * meanwhile. See blocking.h and calls.h.
 *
 * A spare is needed only if work is ready behind the caller, and the call will wait. Whether it will wait is found out
 * before the call. For a read, a write or an accept on a descriptor that blocks, the runtime calls poll with a time-out
 * of 0. For read and pread of a file it tries to read the first and the last byte from memory (RWF_NOWAIT). For a
 * semaphore it reads the value. A call whose flags or time-out forbid waiting does not wait. All other calls are taken
 * to wait. */
#define _GNU_SOURCE
#include "calls.h"

#if defined(__GLIBC__)

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "blocking.h"
#include "os.h"

/* Defines the function `name` in the C library's place, with the version `node`. If no vp comes for the work that is
 * ready behind the caller (blocking_vp), `will` is evaluated. If it holds, the call is taken to wait. */
#define INTERPOSE_WAITS(will, node, type, name, parameters, arguments)                    \
    NEXT(name, type parameters);                                                          \
    static PS_NOINLINE type slow_##name parameters                                        \
    {                                                                                     \
        int error = errno;                                                                \
        struct vp *vp = blocking_vp();                                                    \
        if (vp && (will))                                                                 \
            blocking_begin(vp);                                                           \
        errno = error;                                                                    \
        type result = CALL_NEXT(name) arguments;                                          \
        blocking_end(vp);                                                                 \
        return result;                                                                    \
    }                                                                                     \
    PS_EXPORT type interposed_##name parameters                                           \
    {                                                                                     \
        return blocking_may_matter() ? slow_##name arguments : CALL_NEXT(name) arguments; \
    }                                                                                     \
    VERSIONS(name, node)

/* --- descriptors --- */

/* Returns how many of the descriptors are ready now; negative: an error. */
static int ready_now(struct pollfd *at, nfds_t n)
{
    return (int)os_system_call(SYS_ppoll, (long)at, (long)n, (long)&(struct timespec){0}, 0, 0, 0);
}

static bool is_blocking(int fd) { return !(os_system_call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0) & O_NONBLOCK); }

static bool not_ready(int fd, short events)
{
    struct pollfd at = {.fd = fd, .events = events};
    return ready_now(&at, 1) == 0 && is_blocking(fd);
}

typedef const struct iovec *parts;
typedef struct sockaddr *address;
typedef const struct sockaddr *to_address;
typedef const struct timespec *duration;

NEXT(read, ssize_t(int fd, void *to, size_t n));
NEXT(pread64, ssize_t(int fd, void *to, size_t n, off_t at));
static bool is_file(int fd, struct stat *about) { return os_fstat(fd, about) == 0 && S_ISREG(about->st_mode); }

static bool byte_is_away(int fd, off_t at)
{
    char byte;
    struct iovec one = {&byte, 1};
    return os_system_call(SYS_preadv2, fd, (long)&one, 1, at, 0, RWF_NOWAIT) == -EAGAIN;
}

/* Returns whether the read of a file will wait for the disk: whether the first or the last byte to be read is not in
 * memory. With O_DIRECT it always will. A file system that cannot tell is taken for one that need not wait. at -1: the
 * read begins at the file's position. */
static bool waits_for_disk(int fd, off_t at, size_t n, off_t end)
{
    if (os_system_call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0) & O_DIRECT)
        return true;
    if (at < 0)
        at = os_system_call(SYS_lseek, fd, 0, SEEK_CUR, 0, 0, 0);
    if (n == 0 || at < 0 || at >= end)
        return false;
    off_t last = n < (size_t)(end - at) ? at + (off_t)n - 1 : end - 1;
    return byte_is_away(fd, at) || byte_is_away(fd, last);
}

static PS_NOINLINE ssize_t slow_read(int fd, void *to, size_t n, off_t at)
{
    int error = errno;
    struct vp *vp = blocking_vp();
    struct stat about;
    if (vp && (is_file(fd, &about) ? waits_for_disk(fd, at, n, about.st_size) : not_ready(fd, POLLIN)))
        blocking_begin(vp);
    else
        vp = NULL;
    errno = error;
    ssize_t result = at < 0 ? CALL_NEXT(read)(fd, to, n) : CALL_NEXT(pread64)(fd, to, n, at);
    blocking_end(vp);
    return result;
}
PS_EXPORT ssize_t interposed_read(int fd, void *to, size_t n)
{
    return blocking_may_matter() ? slow_read(fd, to, n, -1) : CALL_NEXT(read)(fd, to, n);
}
VERSIONS(read, GLIBC_2_2_5);
PS_EXPORT ssize_t interposed_pread64(int fd, void *to, size_t n, off_t at)
{
    return at >= 0 && blocking_may_matter() ? slow_read(fd, to, n, at) : CALL_NEXT(pread64)(fd, to, n, at);
}
VERSIONS(pread64, GLIBC_2_2_5);
PS_EXPORT ssize_t interposed_pread(int fd, void *to, size_t n, off_t at) { return interposed_pread64(fd, to, n, at); }
VERSIONS(pread, GLIBC_2_2_5);
INTERPOSE_WAITS(not_ready(fd, POLLOUT), GLIBC_2_2_5, ssize_t, write, (int fd, const void *from, size_t n),
                (fd, from, n));
INTERPOSE_WAITS(not_ready(fd, POLLIN), GLIBC_2_2_5, ssize_t, readv, (int fd, parts to, int n), (fd, to, n));
INTERPOSE_WAITS(not_ready(fd, POLLOUT), GLIBC_2_2_5, ssize_t, writev, (int fd, parts from, int n), (fd, from, n));
INTERPOSE_WAITS(!(flags & MSG_DONTWAIT) && not_ready(fd, POLLIN), GLIBC_2_2_5, ssize_t, recv,
                (int fd, void *to, size_t n, int flags), (fd, to, n, flags));
INTERPOSE_WAITS(!(flags & MSG_DONTWAIT) && not_ready(fd, POLLIN), GLIBC_2_2_5, ssize_t, recvfrom,
                (int fd, void *to, size_t n, int flags, address from, socklen_t *bytes),
                (fd, to, n, flags, from, bytes));
INTERPOSE_WAITS(!(flags & MSG_DONTWAIT) && not_ready(fd, POLLIN), GLIBC_2_2_5, ssize_t, recvmsg,
                (int fd, struct msghdr *message, int flags), (fd, message, flags));
INTERPOSE_WAITS(!(flags & MSG_DONTWAIT) && not_ready(fd, POLLOUT), GLIBC_2_2_5, ssize_t, send,
                (int fd, const void *from, size_t n, int flags), (fd, from, n, flags));
INTERPOSE_WAITS(!(flags & MSG_DONTWAIT) && not_ready(fd, POLLOUT), GLIBC_2_2_5, ssize_t, sendto,
                (int fd, const void *from, size_t n, int flags, to_address to, socklen_t bytes),
                (fd, from, n, flags, to, bytes));
INTERPOSE_WAITS(!(flags & MSG_DONTWAIT) && not_ready(fd, POLLOUT), GLIBC_2_2_5, ssize_t, sendmsg,
                (int fd, const struct msghdr *message, int flags), (fd, message, flags));
INTERPOSE_WAITS(not_ready(fd, POLLIN), GLIBC_2_2_5, int, accept, (int fd, address from, socklen_t *bytes),
                (fd, from, bytes));
INTERPOSE_WAITS(not_ready(fd, POLLIN), GLIBC_2_10, int, accept4, (int fd, address from, socklen_t *bytes, int flags),
                (fd, from, bytes, flags));
INTERPOSE_WAITS(is_blocking(fd), GLIBC_2_2_5, int, connect, (int fd, to_address to, socklen_t bytes), (fd, to, bytes));
INTERPOSE_WAITS(!(operation & LOCK_NB), GLIBC_2_2_5, int, flock, (int fd, int operation), (fd, operation));
INTERPOSE_WAITS(true, GLIBC_2_2_5, int, fsync, (int fd), (fd));
INTERPOSE_WAITS(true, GLIBC_2_2_5, int, fdatasync, (int fd), (fd));

/* As INTERPOSE_WAITS, for poll and ppoll. The runtime finds out whether the call will wait by a poll of its own. If
 * that poll finds ready descriptors, the program gets its result: some files tell of a change only once, so a second
 * poll might find nothing. */
#define INTERPOSE_POLL(will, node, name, parameters, arguments)                           \
    NEXT(name, int parameters);                                                           \
    static PS_NOINLINE int slow_##name parameters                                         \
    {                                                                                     \
        int error = errno, ready = 0;                                                     \
        struct vp *vp = (will) ? blocking_vp() : NULL;                                    \
        if (vp && (ready = ready_now(at, n)) == 0)                                        \
            blocking_begin(vp);                                                           \
        errno = error;                                                                    \
        if (ready > 0)                                                                    \
            return ready;                                                                 \
        int result = CALL_NEXT(name) arguments;                                           \
        blocking_end(ready == 0 ? vp : NULL);                                             \
        return result;                                                                    \
    }                                                                                     \
    PS_EXPORT int interposed_##name parameters                                            \
    {                                                                                     \
        return blocking_may_matter() ? slow_##name arguments : CALL_NEXT(name) arguments; \
    }                                                                                     \
    VERSIONS(name, node)
INTERPOSE_POLL(timeout != 0, GLIBC_2_2_5, poll, (struct pollfd * at, nfds_t n, int timeout), (at, n, timeout));
INTERPOSE_POLL(!timeout || timeout->tv_sec || timeout->tv_nsec, GLIBC_2_4, ppoll,
               (struct pollfd * at, nfds_t n, duration timeout, const sigset_t *mask), (at, n, timeout, mask));
INTERPOSE_WAITS(!timeout || timeout->tv_sec || timeout->tv_usec, GLIBC_2_2_5, int, select,
                (int n, fd_set *in, fd_set *out, fd_set *except, struct timeval *timeout),
                (n, in, out, except, timeout));
INTERPOSE_WAITS(!timeout || timeout->tv_sec || timeout->tv_nsec, GLIBC_2_2_5, int, pselect,
                (int n, fd_set *in, fd_set *out, fd_set *except, duration timeout, const sigset_t *mask),
                (n, in, out, except, timeout, mask));
INTERPOSE_WAITS(timeout != 0, GLIBC_2_3_2, int, epoll_wait, (int fd, struct epoll_event *at, int n, int timeout),
                (fd, at, n, timeout));
INTERPOSE_WAITS(timeout != 0, GLIBC_2_6, int, epoll_pwait,
                (int fd, struct epoll_event *at, int n, int timeout, const sigset_t *mask), (fd, at, n, timeout, mask));

/* --- time --- */

INTERPOSE_WAITS(true, GLIBC_2_2_5, int, nanosleep, (duration time, struct timespec *left), (time, left));
INTERPOSE_WAITS(true, GLIBC_2_17, int, clock_nanosleep,
                (clockid_t clock, int flags, duration time, struct timespec *left), (clock, flags, time, left));
OLD_VERSION_UNLESS(GLIBC_2_17, clock_nanosleep, GLIBC_2_2_5);
INTERPOSE_WAITS(true, GLIBC_2_2_5, int, usleep, (useconds_t us), (us));
INTERPOSE_WAITS(true, GLIBC_2_2_5, unsigned, sleep, (unsigned seconds), (seconds));

/* --- other threads and processes --- */

static bool is_zero(sem_t *semaphore)
{
    int value;
    return sem_getvalue(semaphore, &value) == 0 && value <= 0;
}

INTERPOSE_WAITS(is_zero(at), GLIBC_2_34, int, sem_wait, (sem_t * at), (at));
OLD_VERSION(sem_wait, GLIBC_2_2_5);
INTERPOSE_WAITS(is_zero(at), GLIBC_2_34, int, sem_timedwait, (sem_t * at, duration until), (at, until));
OLD_VERSION(sem_timedwait, GLIBC_2_2_5);
INTERPOSE_WAITS(is_zero(at), GLIBC_2_34, int, sem_clockwait, (sem_t * at, clockid_t clock, duration until),
                (at, clock, until));
OLD_VERSION(sem_clockwait, GLIBC_2_30);
INTERPOSE_WAITS(true, GLIBC_2_34, int, pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier));
OLD_VERSION(pthread_barrier_wait, GLIBC_2_2_5);
INTERPOSE_WAITS(true, GLIBC_2_34, int, pthread_join, (pthread_t thread, void **its), (thread, its));
OLD_VERSION(pthread_join, GLIBC_2_2_5);
INTERPOSE_WAITS(true, GLIBC_2_2_5, pid_t, wait, (int *status), (status));
INTERPOSE_WAITS(!(options & WNOHANG), GLIBC_2_2_5, pid_t, waitpid, (pid_t pid, int *status, int options),
                (pid, status, options));
INTERPOSE_WAITS(!(options & WNOHANG), GLIBC_2_2_5, pid_t, wait4,
                (pid_t pid, int *status, int options, struct rusage *usage), (pid, status, options, usage));
INTERPOSE_WAITS(!(options & WNOHANG), GLIBC_2_2_5, int, waitid, (idtype_t kind, id_t id, siginfo_t *info, int options),
                (kind, id, info, options));

#endif
