/* Signals for the process are handled by threads that the program knows, and that do not block them: while members
 * block them for the first time, each by itself, another process sends many. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>

#define CHILDREN 60
#define N 6

static _Thread_local volatile int known, blocks;
static volatile int strangers, blocked_ones;
static volatile long handled;
static volatile int *sends; /* shared with the sender */

static void on_signal(int number)
{
    (void)number;
    handled++;
    if (!known)
        strangers = 1;
    else if (blocks)
        blocked_ones = 1;
}

static void block_it(bool all)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    blocks = 1;
    if (all)
        waits_compute_us(100);
}

static void live(bool ends)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    known = 1;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
#pragma omp parallel num_threads(N)
    {
        known = 1;
        if (omp_get_thread_num() == N - 1)
            gettid();
        waits_compute_us(5000);
#pragma omp barrier
        if (omp_get_thread_num() == 0) {
            *sends = 1;
            while (handled == 0)
                waits_compute_us(10);
        }
#pragma omp barrier
        waits_compute_us(50 * omp_get_thread_num());
        if (omp_get_thread_num() > 0)
            block_it(!ends);
    }
    *sends = 0;
    CHECK(!strangers);
    CHECK(!blocked_ones);
    _exit(0);
}

static void send_to_children(bool ends)
{
    sends = mmap(NULL, sizeof *sends, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(sends != MAP_FAILED);
    for (int i = 0; i < CHILDREN; i++) {
        int status = 0;
        *sends = 0;
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            live(ends);
        }
        while (waitpid(child, &status, WNOHANG) == 0)
            if (*sends)
                kill(child, SIGUSR1);
        CHECK(status == 0);
    }
}

static void each(void) { send_to_children(false); }
static void and_ends(void) { send_to_children(true); }

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"each", each}, {"and_ends", and_ends}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
