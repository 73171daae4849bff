/* A member forks, and a handler that runs before the fork waits for another member, which has begun. That one goes on,
 * however few kernel threads there are, and then the fork. The handler is registered before any library's, so it is the
 * last to run, as the C library's own waits in fork are. */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 4
#define MEMBERS 3

static atomic_int waits, answered;

static void before_fork(void)
{
    atomic_store(&waits, 1);
    while (!atomic_load(&answered))
        usleep(100);
}

static void begin(int argc, char **argv, char **environment)
{
    (void)argc, (void)argv, (void)environment;
    pthread_atfork(before_fork, NULL, NULL);
}
__attribute__((section(".preinit_array"), used)) static void (*begins)(int, char **, char **) = begin;

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

int main(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        atomic_store(&waits, 0);
        atomic_store(&answered, 0);
#pragma omp parallel num_threads(MEMBERS)
        {
#pragma omp barrier
            if (omp_get_thread_num() == round % MEMBERS)
                fork_here();
            else
                answer();
        }
    }
    return 0;
}
