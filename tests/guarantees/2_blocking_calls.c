/* Members wait in the kernel, all at once, by the C library's calls; the last member lets them go when each of the
 * others is about to wait. More members than processors. The calls return what they do elsewhere, and keep errno.
 * [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>

#define N 8
#define ROUNDS 3

static _Atomic int about;
static int fd[2], polling;
static char byte;

static void in_regions(void (*wait)(int me), void (*let_go)(void))
{
    for (int round = 0; round < ROUNDS; round++) {
        about = 0;
#pragma omp parallel num_threads(N)
        {
            int me = omp_get_thread_num();
            if (me == N - 1) {
                while (about < N - 1)
                    usleep(100);
                let_go();
            } else {
                errno = 77;
                about++;
                wait(me);
                CHECK(errno == 77);
            }
        }
    }
}

/* --- descriptors --- */

static void let_go_bytes(void)
{
    for (int i = 0; i < N - 1; i++)
        CHECK(write(fd[1], "x", 1) == 1);
}
static void by_read(int me)
{
    char c = 0;
    (void)me;
    CHECK(read(fd[0], &c, 1) == 1 && c == 'x');
}
static void by_readv(int me)
{
    char c = 0;
    struct iovec part = {&c, 1};
    (void)me;
    CHECK(readv(fd[0], &part, 1) == 1 && c == 'x');
}
static void by_recv(int me)
{
    char c = 0;
    struct iovec part = {&c, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    switch (me % 3) {
    case 0:
        CHECK(recv(fd[0], &c, 1, 0) == 1 && c == 'x');
        break;
    case 1:
        CHECK(recvfrom(fd[0], &c, 1, 0, NULL, NULL) == 1 && c == 'x');
        break;
    default:
        CHECK(recvmsg(fd[0], &message, 0) == 1 && c == 'x');
    }
}
static void by_polls(int me)
{
    struct pollfd at = {.fd = fd[0], .events = POLLIN};
    struct epoll_event event;
    fd_set set;
    FD_ZERO(&set);
    FD_SET(fd[0], &set);
    switch (me % 6) {
    case 0:
        CHECK(poll(&at, 1, -1) == 1 && at.revents == POLLIN);
        break;
    case 1:
        CHECK(ppoll(&at, 1, NULL, NULL) == 1 && at.revents == POLLIN);
        break;
    case 2:
        CHECK(select(fd[0] + 1, &set, NULL, NULL, NULL) == 1 && FD_ISSET(fd[0], &set));
        break;
    case 3:
        CHECK(pselect(fd[0] + 1, &set, NULL, NULL, NULL, NULL) == 1 && FD_ISSET(fd[0], &set));
        break;
    case 4:
        CHECK(epoll_wait(polling, &event, 1, -1) == 1 && event.events == EPOLLIN);
        break;
    default:
        CHECK(epoll_pwait(polling, &event, 1, -1, NULL) == 1 && event.events == EPOLLIN);
    }
    by_read(me);
}

static void reads(void)
{
    CHECK(pipe(fd) == 0);
    in_regions(by_read, let_go_bytes);
    in_regions(by_readv, let_go_bytes);
}
static void receives(void)
{
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
    in_regions(by_recv, let_go_bytes);
}
static void polls(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    CHECK(pipe(fd) == 0 && (polling = epoll_create1(0)) >= 0);
    CHECK(epoll_ctl(polling, EPOLL_CTL_ADD, fd[0], &event) == 0);
    in_regions(by_polls, let_go_bytes);
}

/* A file that is not in memory (where the system lets go of it), read in pieces that end across its pages. */
enum { FILE_BYTES = 1234567, PIECE = 70001 };
static char file_name[] = "/var/tmp/2_blocking_calls.XXXXXX";
static char content(size_t at) { return (char)(at * 2654435761u >> 13); }
static void by_file(int me)
{
    static _Thread_local char piece[PIECE];
    int own = open(file_name, O_RDONLY);
    CHECK(own >= 0);
    for (size_t at = 0; at < FILE_BYTES;) {
        size_t wanted = FILE_BYTES - at < PIECE ? FILE_BYTES - at : PIECE;
        ssize_t got = me % 2 ? read(own, piece, PIECE) : pread(own, piece, PIECE, (off_t)at);
        CHECK(got == (ssize_t)wanted);
        for (size_t i = 0; i < wanted; i++)
            CHECK(piece[i] == content(at + i));
        at += wanted;
        CHECK(lseek(own, 0, SEEK_CUR) == (off_t)(me % 2 ? at : 0));
    }
    CHECK(read(own, piece, 0) == 0 && pread(own, piece, 1, FILE_BYTES) == 0 && close(own) == 0);
    errno = 0;
    CHECK(read(-1, piece, 1) == -1 && errno == EBADF);
    errno = 0;
    CHECK(pread(0, piece, 1, -1) == -1 && errno == EINVAL);
    errno = 77;
}
static void let_go_file(void) {}
static void files(void)
{
    static char all[FILE_BYTES];
    int of_all = mkstemp(file_name);
    for (size_t i = 0; i < FILE_BYTES; i++)
        all[i] = content(i);
    CHECK(of_all >= 0);
    for (size_t at = 0, part; at < FILE_BYTES; at += part) {
        part = FILE_BYTES - at < 4096 ? FILE_BYTES - at : 4096;
        CHECK(write(of_all, all + at, part) == (ssize_t)part);
    }
    CHECK(fsync(of_all) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        posix_fadvise(of_all, 0, 0, POSIX_FADV_DONTNEED);
        in_regions(by_file, let_go_file);
    }
    CHECK(unlink(file_name) == 0);
}

/* The pipe is full. */
static void by_write(int me)
{
    static const char page[4096] = "y";
    struct iovec part = {(void *)page, sizeof page};
    CHECK((me % 2 ? write(fd[1], page, sizeof page) : writev(fd[1], &part, 1)) == sizeof page);
}
static void drain(void)
{
    static char page[4096];
    for (int left = 16 + N - 1; left > 0; left--) {
        size_t n = 0;
        while (n < sizeof page) {
            ssize_t got = read(fd[0], page + n, sizeof page - n);
            CHECK(got > 0);
            n += (size_t)got;
        }
    }
}
static void writes(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        CHECK(pipe(fd) == 0 && fcntl(fd[1], F_SETPIPE_SZ, 16 * 4096) == 16 * 4096);
        for (int i = 0; i < 16; i++)
            by_write(i);
        about = 0;
#pragma omp parallel num_threads(N)
        if (omp_get_thread_num() == N - 1) {
            while (about < N - 1)
                usleep(100);
            drain();
        } else {
            about++;
            by_write(omp_get_thread_num());
        }
        close(fd[0]), close(fd[1]);
    }
}

static struct sockaddr_un address = {.sun_family = AF_UNIX};
static socklen_t address_bytes;
static int listening;
static void by_accept(int me)
{
    int got = me % 2 ? accept(listening, NULL, NULL) : accept4(listening, NULL, NULL, SOCK_CLOEXEC);
    CHECK(got >= 0 && close(got) == 0);
}
static void connect_to_all(void)
{
    for (int i = 0; i < N - 1; i++) {
        int to = socket(AF_UNIX, SOCK_STREAM, 0);
        CHECK(to >= 0 && connect(to, (struct sockaddr *)&address, address_bytes) == 0 && close(to) == 0);
    }
}
static void accepts(void)
{
    /* a name without a file */
    int n = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "psthreads-%d", (int)getpid());
    address_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    listening = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(bind(listening, (struct sockaddr *)&address, address_bytes) == 0 && listen(listening, N) == 0);
    in_regions(by_accept, connect_to_all);
}

static char path[] = "/tmp/2_blocking_calls.XXXXXX";
static int held;
static void by_flock(int me)
{
    int own = open(path, O_RDONLY);
    (void)me;
    CHECK(own >= 0 && flock(own, LOCK_SH) == 0 && flock(own, LOCK_UN) == 0 && close(own) == 0);
}
static void unlock(void) { CHECK(flock(held, LOCK_UN) == 0); }
static void locks_of_files(void)
{
    held = mkstemp(path);
    CHECK(held >= 0);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(flock(held, LOCK_EX) == 0);
        about = 0;
#pragma omp parallel num_threads(N)
        if (omp_get_thread_num() == N - 1) {
            while (about < N - 1)
                usleep(100);
            unlock();
        } else {
            about++;
            by_flock(omp_get_thread_num());
        }
    }
    CHECK(fsync(held) == 0 && fdatasync(held) == 0 && unlink(path) == 0);
}

/* --- threads and processes --- */

static sem_t semaphore;
static struct timespec in_a_minute(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    return until;
}
static void by_semaphore(int me)
{
    struct timespec until = in_a_minute();
    CHECK((me % 2 ? sem_wait(&semaphore) : sem_timedwait(&semaphore, &until)) == 0);
}
static void post_all(void)
{
    for (int i = 0; i < N - 1; i++)
        sem_post(&semaphore);
}
static void semaphores(void)
{
    struct timespec past = {0};
    sem_init(&semaphore, 0, 0);
    in_regions(by_semaphore, post_all);
#pragma omp parallel num_threads(N)
    CHECK(sem_timedwait(&semaphore, &past) == -1 && errno == ETIMEDOUT);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int generation;
static void by_condition(int me)
{
    struct timespec until = in_a_minute();
    pthread_mutex_lock(&mutex);
    for (int now = generation; now == generation;)
        CHECK((me % 2 ? pthread_cond_wait(&condition, &mutex) : pthread_cond_timedwait(&condition, &mutex, &until)) ==
              0);
    pthread_mutex_unlock(&mutex);
}
static void broadcast(void)
{
    usleep(2000); /* those that have announced themselves take the mutex first, as a rule */
    for (int i = 0; i < 2000; i++) {
        pthread_mutex_lock(&mutex);
        generation++;
        pthread_cond_broadcast(&condition);
        pthread_mutex_unlock(&mutex);
        usleep(10);
    }
}
static void conditions(void) { in_regions(by_condition, broadcast); }

static pthread_barrier_t barrier;
static void by_barrier(int me)
{
    int result = pthread_barrier_wait(&barrier);
    (void)me;
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
}
static void last_at_barrier(void) { by_barrier(0); }
static void barriers(void)
{
    pthread_barrier_init(&barrier, NULL, N);
    in_regions(by_barrier, last_at_barrier);
}

static void *wait_for_post(void *arg)
{
    while (sem_wait(&semaphore) != 0)
        ;
    return arg;
}
static void by_join(int me)
{
    pthread_t thread;
    void *result = NULL;
    CHECK(pthread_create(&thread, NULL, wait_for_post, &about) == 0);
    (void)me;
    CHECK(pthread_join(thread, &result) == 0 && result == &about);
}
static void joins(void)
{
    sem_init(&semaphore, 0, 0);
    in_regions(by_join, post_all);
}

static pid_t child[N];
static void by_waitpid(int me)
{
    int status = -1;
    CHECK(waitpid(child[me], &status, 0) == child[me] && WIFEXITED(status) && WEXITSTATUS(status) == me);
}
static void let_children_go(void) { let_go_bytes(); }
static void children(void)
{
    CHECK(pipe(fd) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        for (int id = 0; id < N - 1; id++)
            if ((child[id] = fork()) == 0) {
                CHECK(read(fd[0], &byte, 1) == 1);
                _exit(id);
            }
        about = 0;
#pragma omp parallel num_threads(N)
        if (omp_get_thread_num() == N - 1) {
            while (about < N - 1)
                usleep(100);
            let_children_go();
        } else {
            about++;
            by_waitpid(omp_get_thread_num());
        }
    }
}

/* --- time --- */

static void sleeps(void)
{
#pragma omp parallel num_threads(N)
    for (int i = 0; i < 10; i++) {
        struct timespec before, after, pause = {.tv_nsec = 1000000}, left;
        clock_gettime(CLOCK_MONOTONIC, &before);
        errno = 77;
        switch (omp_get_thread_num() % 3) {
        case 0:
            CHECK(usleep(1000) == 0);
            break;
        case 1:
            CHECK(nanosleep(&pause, &left) == 0);
            break;
        default:
            CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, &left) == 0);
        }
        CHECK(errno == 77);
        clock_gettime(CLOCK_MONOTONIC, &after);
        CHECK((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec >= 1000000);
        errno = 0;
        pause.tv_nsec = -1;
        CHECK(nanosleep(&pause, NULL) == -1 && errno == EINVAL);
    }
}

/* --- jumps --- */

static sigjmp_buf out;
static _Atomic int jumps, over, armed;
static void jump(int number)
{
    (void)number;
    siglongjmp(out, 1);
}
static void *send_to(void *target)
{
    for (int last = -1; !over;) {
        if (armed && jumps != last) { /* it has come back */
            last = jumps;
            CHECK(pthread_kill(*(pthread_t *)target, SIGUSR1) == 0);
        }
        usleep(20);
    }
    return NULL;
}

/* A handler leaves a call that waits, and may stand anywhere in it. */
static void jumps_out(void)
{
    static pthread_t target, sender;
    signal(SIGUSR1, jump);
#pragma omp parallel num_threads(N)
    if (omp_get_thread_num() == 0) {
        struct pollfd none = {.fd = -1};
        target = pthread_self();
        CHECK(pthread_create(&sender, NULL, send_to, &target) == 0);
        while (jumps < 2000)
            if (sigsetjmp(out, 1))
                jumps++;
            else
                for (armed = 1;;)
                    poll(&none, 1, 1);
        over = 1;
        signal(SIGUSR1, SIG_IGN);
        CHECK(pthread_join(sender, NULL) == 0);
    } else {
        while (!over)
            usleep(50);
    }
    in_regions(by_semaphore, post_all);
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"reads", reads},
                                           {"files", files},
                                           {"receives", receives},
                                           {"polls", polls},
                                           {"writes", writes},
                                           {"accepts", accepts},
                                           {"locks_of_files", locks_of_files},
                                           {"semaphores", semaphores},
                                           {"conditions", conditions},
                                           {"barriers", barriers},
                                           {"joins", joins},
                                           {"children", children},
                                           {"sleeps", sleeps},
                                           {"jumps_out", jumps_out}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
