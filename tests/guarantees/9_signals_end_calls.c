/* A signal to a member that is blocked in the kernel ends its call with EINTR where the call or the handler's flags
 * have it so, and does not where they have not. The same holds where the member stands in the way of the region's first
 * thread, which then sends the signal. Each try is in a process of its own, because later the member has a kernel
 * thread of its own. */
#define _GNU_SOURCE
#include "kinds.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>

#define TRIES 5
#define LOST_AT_MOST 2 /* the member may not have come to its call yet, where the machine is busy */
#define LOST 99

static pthread_t member;
static int inside, handled, returned, channel[2];
static sem_t semaphore;

static void on_signal(int number)
{
    (void)number;
    __atomic_add_fetch(&handled, 1, __ATOMIC_SEQ_CST);
}

static int in_nanosleep(void) { return nanosleep(&(struct timespec){50, 0}, NULL); }
static int in_poll(void) { return poll(&(struct pollfd){.fd = channel[0], .events = POLLIN}, 1, 50000); }
static int in_recv(void)
{
    char c;
    return (int)recv(channel[0], &c, 1, 0);
}
static int in_read(void)
{
    char c;
    return (int)read(channel[0], &c, 1);
}
static int in_sem_wait(void) { return sem_wait(&semaphore); }

static const struct {
    const char *name;
    int (*call)(void);
    int flags, ends;
} kinds[] = {
    {"nanosleep", in_nanosleep, SA_RESTART, 1},
    {"poll", in_poll, SA_RESTART, 1},
    {"recv", in_recv, 0, 1},
    {"read", in_read, 0, 1},
    {"sem_wait", in_sem_wait, 0, 1},
    {"restarted", in_read, SA_RESTART, 0},
};

static int within_ms(const int *flag, int ms)
{
    struct timespec end, now;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += ms / 1000;
    end.tv_nsec += ms % 1000 * 1000000L;
    do {
        if (__atomic_load_n(flag, __ATOMIC_SEQ_CST))
            return 1;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - end.tv_sec) * 1000000000L + now.tv_nsec - end.tv_nsec < 0);
    return 0;
}

/* As the first thread, which never sleeps. */
static void send_and_see(int ends)
{
    while (!within_ms(&inside, 1))
        continue;
    within_ms(&returned, 20);
    CHECK(!returned && pthread_kill(member, SIGUSR1) == 0);
    while (!within_ms(&handled, 1)) /* hangs where it does not arrive */
        continue;
    if (ends && !within_ms(&returned, 2000))
        _exit(LOST);
    if (!ends) {
        CHECK(!within_ms(&returned, 50) && write(channel[1], "x", 1) == 1);
        while (!within_ms(&returned, 1))
            continue;
    }
}

static void try_once(int kind)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = kinds[kind].flags;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, channel) == 0);
    CHECK(sem_init(&semaphore, 0, 0) == 0);
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 1)
            member = pthread_self();
#pragma omp barrier
        if (omp_get_thread_num() == 0)
            send_and_see(kinds[kind].ends);
        else {
            __atomic_store_n(&inside, 1, __ATOMIC_SEQ_CST);
            errno = 0;
            int result = kinds[kind].call();
            CHECK(kinds[kind].ends ? result == -1 && errno == EINTR : result == 1);
            CHECK(handled == 1);
            __atomic_store_n(&returned, 1, __ATOMIC_SEQ_CST);
        }
    }
}

int main(void)
{
    for (int kind = 0; kind < (int)(sizeof kinds / sizeof *kinds); kind++) {
        int lost = 0, status;
        for (int i = 0; i < TRIES; i++) {
            pid_t child = fork();
            CHECK(child >= 0);
            if (child == 0) {
                try_once(kind);
                _exit(0);
            }
            CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
            CHECK(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == LOST);
            lost += WEXITSTATUS(status) == LOST;
        }
        fprintf(stderr, "%s: %d of %d lost\n", kinds[kind].name, lost, TRIES);
        CHECK(lost <= LOST_AT_MOST);
    }
    return 0;
}
