/* A member forks, and a handler that runs before the fork waits for another member, which has begun or not. That one
 * goes on, however few kernel threads there are, and then the fork. The handler is registered as the program begins.
 * "regions": the handler in the child opens one. */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 4
#define MEMBERS 3

static atomic_int waits, answered;
static bool opens_in_child;

static void before_fork(void)
{
    atomic_store(&waits, 1);
    while (!atomic_load(&answered))
        usleep(100);
}

static void after_fork_in_child(void)
{
    int members = 0;
    if (!opens_in_child)
        return;
#pragma omp parallel num_threads(MEMBERS) reduction(+ : members)
    {
#pragma omp barrier
        members++;
    }
    CHECK(members >= 1);
}

__attribute__((constructor)) static void begin(void) { pthread_atfork(before_fork, NULL, after_fork_in_child); }

static void fork_here(void)
{
    pid_t child = fork();
    int status;
    if (child == 0)
        _exit(0);
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

static void answer(void)
{
    while (!atomic_load(&waits))
        usleep(100);
    atomic_store(&answered, 1);
}

static void region(int forks, bool all_begin)
{
    atomic_store(&waits, 0);
    atomic_store(&answered, 0);
#pragma omp parallel num_threads(MEMBERS)
    {
        if (all_begin) {
#pragma omp barrier
        }
        if (omp_get_thread_num() == forks)
            fork_here();
        else
            answer();
    }
}

int main(int argc, char **argv)
{
    opens_in_child = argc > 1 && strcmp(argv[1], "regions") == 0;
    for (int round = 0; round < ROUNDS; round++) {
        region(round % MEMBERS, true);
        region(round % MEMBERS, false);
    }
    return 0;
}
