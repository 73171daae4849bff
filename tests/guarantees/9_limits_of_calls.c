/* A call of a member's with a relative time limit ends in time while the region's first thread waits and goes on, again
 * and again. [KIND] */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LIMIT_MS 100
#define HELD_MS 25   /* longer than a thread may keep another from its kernel thread */
#define MOST_MS 3000 /* on a busy machine */
#define LONGEST_MS 8000

static double now_ms(void) { return omp_get_wtime() * 1e3; }
static void compute_ms(double ms)
{
    for (double end = now_ms() + ms; now_ms() < end;)
        ;
}

static const struct timespec limit = {0, LIMIT_MS * 1000000L};

static void by_poll(void) { CHECK(poll(NULL, 0, LIMIT_MS) == 0); }
static void by_ppoll(void) { CHECK(ppoll(NULL, 0, &limit, NULL) == 0); }
static void by_select(void)
{
    struct timeval time = {0, LIMIT_MS * 1000L};
    CHECK(select(0, NULL, NULL, NULL, &time) == 0);
}
static void by_epoll_wait(void)
{
    struct epoll_event event;
    int file = epoll_create1(0);
    CHECK(file >= 0 && epoll_wait(file, &event, 1, LIMIT_MS) == 0 && close(file) == 0);
}
static void by_nanosleep(void) { CHECK(nanosleep(&limit, NULL) == 0); }
static void by_usleep(void) { CHECK(usleep(LIMIT_MS * 1000) == 0); }
static void by_sigtimedwait(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    CHECK(sigtimedwait(&set, NULL, &limit) == -1 && errno == EAGAIN);
}
static void by_semtimedop(void)
{
    struct sembuf take = {0, -1, 0};
    int set = semget(IPC_PRIVATE, 1, 0600);
    CHECK(set >= 0 && semtimedop(set, &take, 1, &limit) == -1 && errno == EAGAIN && semctl(set, 0, IPC_RMID) == 0);
}
static void by_futex(void)
{
    int word = 0;
    CHECK(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &limit, NULL, 0) == -1 && errno == ETIMEDOUT);
}

static const struct {
    const char *name;
    void (*call)(void);
} kinds[] = {
    {"poll", by_poll},
    {"ppoll", by_ppoll},
    {"select", by_select},
    {"epoll_wait", by_epoll_wait},
    {"nanosleep", by_nanosleep},
    {"usleep", by_usleep},
    {"sigtimedwait", by_sigtimedwait},
    {"semtimedop", by_semtimedop},
    {"futex", by_futex},
};

/* The first two wait for each other at a lock, which each of them keeps for a while. */
static void hand_to_and_fro(omp_lock_t *lock, const int *ended, double ms, double until)
{
    int over = 0;
    while (!over && now_ms() < until) {
        omp_set_lock(lock);
        compute_ms(ms);
        omp_unset_lock(lock);
        compute_ms(0.05);
#pragma omp atomic read
        over = *ended;
    }
}

static void check(const char *name, void (*call)(void))
{
    omp_lock_t lock;
    double took = 0, until = now_ms() + LONGEST_MS;
    int ended = 0;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(3)
    {
        if (omp_get_thread_num() == 2) {
            double begin = now_ms();
            call();
            took = now_ms() - begin;
#pragma omp atomic write
            ended = 1;
        } else {
            hand_to_and_fro(&lock, &ended, omp_get_thread_num() == 0 ? 1 : HELD_MS, until);
        }
    }
    omp_destroy_lock(&lock);
    if (took < LIMIT_MS - 1 || took > MOST_MS)
        fprintf(stderr, "%s: %.0f ms\n", name, took);
    CHECK(took >= LIMIT_MS - 1 && took <= MOST_MS);
}

int main(int argc, char **argv)
{
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (argc < 2 || strcmp(argv[argc - 1], kinds[i].name) == 0)
                check(kinds[i].name, kinds[i].call);
    return 0;
}
