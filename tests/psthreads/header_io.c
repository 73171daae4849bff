/* The part of the header test (header_test.c) that waits for file descriptors. */
#define _GNU_SOURCE
#include "header_support.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>

/* --- file descriptors --- */

/* One descriptor; what happened is left in *happened. */
static int poll_one(int fd, short events, short *happened, uint64_t deadline_ns)
{
    struct pollfd at = {.fd = fd, .events = events, .revents = -1};
    int ready = psthread_poll(&at, 1, deadline_ns);
    *happened = at.revents;
    return ready;
}

static int pipe_ends[2];
static void *polls(void *arg)
{
    short happened;
    CHECK(poll_one(pipe_ends[0], POLLIN, &happened, PSTHREAD_NEVER) == 1 && happened == POLLIN);
    steps++;
    return arg;
}
static void descriptors_are_waited_for(void **state)
{
    (void)state;
    with(1);
    short happened;
    steps = 0;
    assert_int_equal(pipe(pipe_ends), 0);
    psthread_t t = go(polls, NULL);
    let_run();
    assert_int_equal(steps, 0);
    assert_int_equal(poll_one(pipe_ends[0], POLLIN, &happened, psthread_now() + MS), 0);
    assert_int_equal(happened, 0);
    assert_int_equal(poll_one(pipe_ends[1], POLLOUT, &happened, 0), 1);
    assert_int_equal(happened, POLLOUT);
    assert_int_equal(write(pipe_ends[1], "x", 1), 1);
    assert_int_equal(psthread_join(t, NULL), 0);
    char c;
    assert_int_equal(psthread_read(pipe_ends[0], &c, 1), 1);
    assert_int_equal(c, 'x');
    close(pipe_ends[1]);
    assert_int_equal(poll_one(pipe_ends[0], POLLIN, &happened, PSTHREAD_NEVER), 1);
    assert_int_equal(happened & POLLHUP, POLLHUP);
    close(pipe_ends[0]);
    assert_int_equal(poll_one(pipe_ends[0], POLLIN, &happened, PSTHREAD_NEVER), 1);
    assert_int_equal(happened, POLLNVAL);
    assert_int_equal(poll_one(-1, POLLIN, &happened, psthread_now() + MS), 0);
    int file = open("/proc/self/exe", O_RDONLY);
    assert_true(file >= 0);
    assert_int_equal(poll_one(file, POLLIN, &happened, 0), 1);
    assert_int_equal(happened, POLLIN);
    assert_int_equal(poll_one(file, POLLPRI, &happened, psthread_now() + MS), 0); /* of which epoll knows nothing */
    close(file);
    errno = 0;
    assert_int_equal(psthread_poll(NULL, 1, PSTHREAD_NEVER), -1);
    assert_int_equal(errno, EFAULT);
    done();
}

enum { PIPES = 3 };
static int pipes[PIPES][2];
static void *polls_several(void *arg)
{
    struct pollfd at[PIPES + 3] = {{.fd = -1, .events = POLLIN}, {.fd = pipes[0][0]}};
    for (int i = 0; i < PIPES; i++)
        at[i + 2] = (struct pollfd){.fd = pipes[i][0], .events = POLLIN};
    at[PIPES + 2] = (struct pollfd){.fd = pipes[0][0], .events = POLLPRI}; /* for the third time */
    CHECK(psthread_poll(at, PIPES + 3, PSTHREAD_NEVER) == 1);
    for (int i = 0; i < PIPES + 3; i++)
        CHECK(at[i].revents == (i == *(int *)arg + 2 ? POLLIN : 0));
    steps++;
    return NULL;
}
/* One of several wakes a thread, whichever it is; and the deadline does. */
static void several_descriptors_are_waited_for(void **state)
{
    (void)state;
    with(1);
    char c;
    steps = 0;
    for (int i = 0; i < PIPES; i++)
        assert_int_equal(pipe(pipes[i]), 0);
    for (int i = 0; i < PIPES; i++) {
        psthread_t t = go(polls_several, &i);
        let_run();
        assert_int_equal(steps, i);
        assert_int_equal(write(pipes[i][1], "x", 1), 1);
        assert_int_equal(psthread_join(t, NULL), 0);
        assert_int_equal(read(pipes[i][0], &c, 1), 1);
    }
    struct pollfd at[2] = {{.fd = pipes[0][0], .events = POLLIN}, {.fd = pipes[1][0], .events = POLLIN}};
    uint64_t until = psthread_now() + MS;
    assert_int_equal(psthread_poll(at, 2, until), 0);
    assert_true(psthread_now() >= until);
    assert_int_equal(psthread_poll(NULL, 0, psthread_now() + MS), 0);
    close(pipes[1][0]);
    assert_int_equal(psthread_poll(at, 2, PSTHREAD_NEVER), 1);
    assert_true(at[0].revents == 0 && at[1].revents == POLLNVAL);
    close(pipes[1][1]);
    for (int i = 0; i < PIPES; i += 2) {
        close(pipes[i][0]);
        close(pipes[i][1]);
    }
    done();
}

/* Without a descriptor for an epoll set: the thread looks in turns with the others. */
static void polling_needs_no_descriptor(void **state)
{
    (void)state;
    with(1);
    struct rlimit before, none;
    steps = 0;
    for (int i = 0; i < PIPES; i++)
        assert_int_equal(pipe(pipes[i]), 0);
    psthread_sleep(psthread_now() + MS); /* the poller is there */
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){.rlim_cur = 16, .rlim_max = before.rlim_max}; /* but poll takes so many */
    int fill[64], n = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    while (n < 64 && (fill[n] = dup(0)) >= 0)
        n++;
    int last = PIPES - 1;
    psthread_t t = go(polls_several, &last);
    let_run();
    assert_int_equal(steps, 0);
    assert_int_equal(write(pipes[last][1], "x", 1), 1);
    assert_int_equal(psthread_join(t, NULL), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    while (n > 0)
        close(fill[--n]);
    for (int i = 0; i < PIPES; i++) {
        close(pipes[i][0]);
        close(pipes[i][1]);
    }
    done();
}

static void *polls_for_a_while(void *arg)
{
    short happened;
    uint64_t until = psthread_now() + 20 * MS;
    int ready = poll_one(pipe_ends[0], POLLIN, &happened, until);
    CHECK(psthread_now() >= until && (ready == 0 || happened == POLLNVAL));
    return arg;
}
static void a_closed_descriptor_wakes_nobody(void **state)
{
    (void)state;
    with(1);
    assert_int_equal(pipe(pipe_ends), 0);
    psthread_t t = go(polls_for_a_while, NULL);
    let_run();
    close(pipe_ends[0]);
    assert_int_equal(psthread_join(t, NULL), 0);
    close(pipe_ends[1]);
    done();
}

/* A deadline leaves the descriptor with the poller. Its number may become another file's, while a copy keeps the first
 * one alive: what happens to that file does not concern a thread that waits for the other. */
static void reports_for_another_file_wake_nobody(void **state)
{
    (void)state;
    with(1);
    int first[2], second[2], copy;
    char c;
    short happened;
    steps = 0;
    assert_int_equal(pipe(first), 0);
    assert_int_equal(pipe(second), 0);
    assert_int_equal(poll_one(first[0], POLLIN, &happened, psthread_now() + MS), 0);
    assert_true((copy = dup(first[0])) >= 0);
    assert_int_equal(dup2(second[0], first[0]), first[0]);
    pipe_ends[0] = first[0];
    psthread_t t = go(polls, NULL);
    let_run();
    assert_int_equal(write(first[1], "x", 1), 1);
    psthread_sleep(psthread_now() + 10 * MS);
    let_run();
    assert_int_equal(steps, 0);
    assert_int_equal(write(second[1], "y", 1), 1);
    assert_int_equal(psthread_join(t, NULL), 0);
    assert_int_equal(psthread_read(first[0], &c, 1), 1);
    assert_int_equal(c, 'y');
    const int all[] = {first[0], first[1], second[0], second[1], copy};
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
        close(all[i]);
    done();
}

/* Linux 6.4 and later can say of a pipe's blocking end what it would do at once. */
static bool kernel_reads_at_once(int fd)
{
#if defined(__GLIBC__) && defined(RWF_NOWAIT) && !PS_TSAN
    char c;
    const struct iovec part = {&c, 1};
    return preadv2(fd, &part, 1, -1, RWF_NOWAIT) == 1 || errno == EAGAIN;
#else
    (void)fd;
    return false;
#endif
}

#define MUCH ((size_t)1 << 20) /* more than a pipe or a socket takes */
static char much[MUCH];
static void *writes_much(void *fd)
{
    CHECK(psthread_write(*(int *)fd, much, MUCH) == (ssize_t)MUCH);
    close(*(int *)fd);
    return NULL;
}
/* One vp, and no other kernel thread that could help: the reader runs while the writer waits. */
static void long_writes_hold_no_vp(void **state)
{
    (void)state;
    static char got[70000];
    with(1);
    for (int kind = 0; kind < 2; kind++) {
        int ends[2];
        size_t all = 0;
        assert_int_equal(kind == 0 ? pipe(ends) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        if (!kernel_reads_at_once(ends[0]))
            break;
        psthread_t t = go(writes_much, &ends[1]);
        for (ssize_t n; (n = psthread_read(ends[0], got, sizeof got)) > 0;)
            all += (size_t)n;
        assert_int_equal(all, MUCH);
        assert_int_equal(psthread_join(t, NULL), 0);
        close(ends[0]);
    }
    done();
}

static void calls_that_would_not_wait(void **state)
{
    (void)state;
    with(1);
    int ends[2], fd, more;
    char c = 'c';
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(psthread_read(ends[0], &c, 0), 0); /* though nothing is there */
    assert_int_equal(psthread_write(ends[1], &c, 0), 0);
    errno = 0;
    assert_int_equal(psthread_read(ends[1], &c, 1), -1); /* not open for it */
    assert_int_equal(errno, EBADF);
    errno = 0;
    assert_int_equal(psthread_write(ends[0], &c, 1), -1);
    assert_int_equal(errno, EBADF);
    errno = 0;
    assert_int_equal(psthread_accept(ends[0], NULL, NULL), -1);
    assert_int_equal(errno, ENOTSOCK);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    errno = 0;
    assert_int_equal(psthread_accept(ends[0], NULL, NULL), -1); /* it does not listen */
    assert_int_equal(errno, EINVAL);
    close(ends[0]);
    close(ends[1]);
    /* what is nonblocking is written in part, as by write */
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    ssize_t part = psthread_write(ends[1], much, MUCH);
    assert_true(part > 0 && part < (ssize_t)MUCH);
    close(ends[0]);
    close(ends[1]);
    /* all of a file at once, and its end */
    assert_true((fd = open("/proc/self/exe", O_RDONLY)) >= 0);
    assert_int_equal(psthread_read(fd, much, 5000), 5000);
    assert_true((more = (int)lseek(fd, 0, SEEK_END)) > 0);
    assert_int_equal(psthread_read(fd, much, 1), 0);
    close(fd);
    done();
}

static void *sends_much(void *fd)
{
    CHECK(psthread_send(*(int *)fd, much, MUCH, 0) == (ssize_t)MUCH);
    CHECK(psthread_sendto(*(int *)fd, "end", 3, MSG_NOSIGNAL, NULL, 0) == 3);
    steps++;
    return NULL;
}
/* One vp, and no other kernel thread that could help, as above. */
static void sockets_hold_no_vp(void **state)
{
    (void)state;
    static char got[MUCH];
    with(1);
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    errno = 0;
    assert_int_equal(psthread_recv(ends[0], got, 1, MSG_DONTWAIT), -1);
    assert_true(errno == EAGAIN || errno == EWOULDBLOCK);
    steps = 0;
    psthread_t t = go(sends_much, &ends[1]);
    ssize_t part = psthread_recv(ends[0], got, MUCH, 0); /* blocks: nothing has been sent yet */
    assert_true(part > 0 && part < (ssize_t)MUCH);
    assert_int_equal(steps, 0);
    assert_int_equal(psthread_recv(ends[0], got, MUCH - (size_t)part, MSG_WAITALL), MUCH - (size_t)part);
    assert_int_equal(psthread_recv(ends[0], got, 1, MSG_PEEK), 1);
    assert_int_equal(psthread_recv(ends[0], got, 10, 0), 3);
    assert_memory_equal(got, "end", 3);
    assert_int_equal(psthread_join(t, NULL), 0);
    do
        part = psthread_send(ends[1], much, MUCH, MSG_DONTWAIT);
    while (part > 0);
    assert_true(errno == EAGAIN || errno == EWOULDBLOCK);
    close(ends[0]);
    errno = 0;
    assert_int_equal(psthread_send(ends[1], "x", 1, MSG_NOSIGNAL), -1);
    assert_int_equal(errno, EPIPE);
    close(ends[1]);
    done();
}

static struct sockaddr_un mailbox = {.sun_family = AF_UNIX};
enum { LETTERS = 100 }; /* more than a local socket keeps */
static void *sends_letters(void *fd)
{
    for (char i = 0; i < LETTERS; i++)
        CHECK(psthread_sendto(*(int *)fd, &i, 1, 0, (struct sockaddr *)&mailbox, sizeof mailbox) == 1);
    return NULL;
}
static void letters_come_with_their_address(void **state)
{
    (void)state;
    with(1);
    struct sockaddr_un from;
    socklen_t length = sizeof from;
    char letter[2] = "";
    int box = socket(AF_UNIX, SOCK_DGRAM, 0), sender = socket(AF_UNIX, SOCK_DGRAM, 0);
    snprintf(mailbox.sun_path + 1, sizeof mailbox.sun_path - 1, "psthreads-mail-test-%d", (int)getpid());
    assert_int_equal(bind(box, (struct sockaddr *)&mailbox, sizeof mailbox), 0);
    from = mailbox;
    from.sun_path[1] = 'P';
    assert_int_equal(bind(sender, (struct sockaddr *)&from, sizeof from), 0);
    psthread_t t = go(sends_letters, &sender);
    for (char i = 0; i < LETTERS; i++) {
        struct sockaddr_un seen = {0};
        length = sizeof seen;
        assert_int_equal(psthread_recvfrom(box, letter, 2, i % 2 ? MSG_WAITALL : 0, (struct sockaddr *)&seen, &length),
                         1);
        assert_int_equal(letter[0], i);
        assert_memory_equal(seen.sun_path, from.sun_path, sizeof from.sun_path);
    }
    assert_int_equal(psthread_join(t, NULL), 0);
    close(box);
    close(sender);
    done();
}

static void waits_for_sockets_have_their_limit(void **state)
{
    (void)state;
    with(1);
    int ends[2];
    char c;
    const struct timeval limit = {.tv_usec = 2000};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
    assert_int_equal(setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit), 0);
    uint64_t since = psthread_now();
    for (int i = 0; i < 2; i++) {
        errno = 0;
        assert_int_equal(i ? psthread_read(ends[0], &c, 1) : psthread_recv(ends[0], &c, 1, 0), -1);
        assert_true(errno == EAGAIN || errno == EWOULDBLOCK);
    }
    assert_true(psthread_now() - since >= 4 * MS);
    ssize_t part = psthread_send(ends[0], much, MUCH, 0);
    assert_true(part > 0 && part < (ssize_t)MUCH);
    close(ends[0]);
    close(ends[1]);
    done();
}

static void *accepts(void *arg)
{
    int fd = psthread_accept(*(int *)arg, NULL, NULL);
    CHECK(fd >= 0);
    close(fd);
    return NULL;
}
/* A local socket whose queue is full tells no thread when it is not. */
static void who_connects_waits_for_room(void **state)
{
    (void)state;
    enum { CLIENTS = 6 };
    with(1);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listens = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), client[CLIENTS];
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "psthreads-full-test-%d", (int)getpid());
    assert_int_equal(bind(listens, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listens, 0), 0);
    for (int i = 0; i < CLIENTS; i++) {
        client[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        go(accepts, &listens);
    }
    for (int i = 0; i < CLIENTS; i++)
        assert_int_equal(psthread_connect(client[i], (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(psthread_waitall(), 0);
    for (int i = 0; i < CLIENTS; i++)
        close(client[i]);
    close(listens);
    done();
}

static void *connects(void *arg)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    char c = 0;
    CHECK(fd >= 0 && psthread_connect(fd, arg, sizeof(struct sockaddr_un)) == 0);
    CHECK(psthread_read(fd, &c, 1) == 1 && c == 'y'); /* blocks: nothing is there yet */
    steps++;
    close(fd);
    return NULL;
}
static void calls_give_the_systems_results(void **state)
{
    (void)state;
    with(1);
    char c = 'y';
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    errno = 0;
    assert_int_equal(psthread_read(-1, &c, 1), -1);
    assert_int_equal(errno, EBADF);
    errno = 0;
    assert_int_equal(psthread_write(-1, &c, 1), -1);
    assert_int_equal(errno, EBADF);
    errno = 0;
    assert_int_equal(psthread_accept(-1, NULL, NULL), -1);
    assert_int_equal(errno, EBADF);
    errno = 0;
    assert_int_equal(psthread_recv(-1, &c, 1, 0), -1);
    assert_int_equal(errno, EBADF);
    errno = 0;
    assert_int_equal(psthread_send(0, &c, 1, 0), -1);
    assert_int_equal(errno, ENOTSOCK);
    errno = 0;
    assert_int_equal(psthread_connect(-1, (struct sockaddr *)&address, sizeof address), -1);
    assert_int_equal(errno, EBADF);
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "psthreads-header-test-%d", (int)getpid());
    int listens = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    assert_true(listens >= 0);
    assert_int_equal(bind(listens, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listens, 1), 0);
    steps = 0;
    psthread_t t = go(connects, &address);
    int fd = psthread_accept4(listens, NULL, NULL, SOCK_CLOEXEC); /* blocks: no thread has connected yet */
    assert_true(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
    let_run();
    assert_int_equal(steps, 0);
    assert_int_equal(psthread_write(fd, &c, 1), 1);
    assert_int_equal(psthread_join(t, NULL), 0);
    assert_int_equal(psthread_read(fd, &c, 1), 0); /* its end */
    close(fd);
    close(listens);
    done();
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(descriptors_are_waited_for),
    cmocka_unit_test(several_descriptors_are_waited_for),
    cmocka_unit_test(polling_needs_no_descriptor),
    cmocka_unit_test(a_closed_descriptor_wakes_nobody),
    cmocka_unit_test(reports_for_another_file_wake_nobody),
    cmocka_unit_test(long_writes_hold_no_vp),
    cmocka_unit_test(calls_that_would_not_wait),
    cmocka_unit_test(sockets_hold_no_vp),
    cmocka_unit_test(letters_come_with_their_address),
    cmocka_unit_test(waits_for_sockets_have_their_limit),
    cmocka_unit_test(who_connects_waits_for_room),
    cmocka_unit_test(calls_give_the_systems_results),
};
const struct test_part header_io = TEST_PART(tests);
