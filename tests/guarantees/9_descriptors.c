/* The program's descriptors are its own while regions run: a file, a copy, a pipe and a socket get the lowest numbers
 * that are free, and a forked child has its parent's descriptors and no others. */
#define _GNU_SOURCE
#include "check.h"
#include "waits.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define N 4
#define REGIONS 60
#define HIGHEST 64

static volatile int over;
static int lowest; /* from here on numbers are free */

static void *redirect(void *arg)
{
    (void)arg;
    while (!over) {
        int pair[2], more[2];
        close(0);
        CHECK(open("/dev/null", O_RDONLY) == 0);
        CHECK(dup(0) == lowest);
        CHECK(pipe(pair) == 0 && pair[0] == lowest + 1 && pair[1] == lowest + 2);
        CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, more) == 0 && more[0] == lowest + 3 && more[1] == lowest + 4);
        for (int i = 0; i < 5; i++)
            close(lowest + i);
    }
    return NULL;
}

static void *fork_children(void *arg)
{
    (void)arg;
    while (!over) {
        pid_t child = fork();
        int status;
        CHECK(child >= 0);
        if (child == 0) {
            for (int i = lowest; i < HIGHEST; i++)
                if (fcntl(i, F_GETFD) >= 0)
                    _exit(1);
            _exit(0);
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    return NULL;
}

/* Some wait for a processor, some in the kernel, some for each other. */
static void live(void)
{
    for (int i = 0; i < REGIONS; i++) {
#pragma omp parallel num_threads(N)
        {
            if (omp_get_thread_num() == i % N)
                usleep(25000);
            else
                waits_compute_us(500);
#pragma omp barrier
            waits_compute_us(100);
        }
    }
}

static void beside(void *(*other)(void *arg))
{
    pthread_t thread;
    over = 0;
    CHECK(pthread_create(&thread, NULL, other, NULL) == 0);
    live();
    over = 1;
    CHECK(pthread_join(thread, NULL) == 0);
}

/* A program may have closed all, and may have no descriptor left. */
static void *close_all(void *arg)
{
    struct rlimit most;
    CHECK(getrlimit(RLIMIT_NOFILE, &most) == 0);
    most.rlim_cur = (rlim_t)lowest;
    CHECK(setrlimit(RLIMIT_NOFILE, &most) == 0);
    while (!over) {
        CHECK(open("/dev/null", O_RDONLY) < 0);
        close(0);
        CHECK(open("/dev/null", O_RDONLY) == 0);
    }
    return arg;
}

int main(void)
{
    for (int i = 3; i < HIGHEST; i++)
        close(i);
    lowest = dup(0);
    CHECK(lowest == 3);
    close(lowest);
#pragma omp parallel num_threads(N)
    usleep(1000); /* the first region */
    beside(redirect);
    beside(fork_children);
    beside(close_all);
    return 0;
}
