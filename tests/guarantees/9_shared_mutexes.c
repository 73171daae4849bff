/* Members of two processes share recursive and error-checking mutexes: one thread is inside, of either process, and
 * only that one finds itself there. */
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define N 4
#define PROCESSES 3
#define VISITS 60

static struct shared {
    pthread_mutex_t recursive, checking;
    int inside, ready;
} * shared;

static void init(pthread_mutex_t *mutex, int type)
{
    pthread_mutexattr_t attr;
    CHECK(pthread_mutexattr_init(&attr) == 0 && pthread_mutexattr_settype(&attr, type) == 0);
    CHECK(pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_mutex_init(mutex, &attr) == 0);
}

static void stay(void)
{
    CHECK(__atomic_fetch_add(&shared->inside, 1, __ATOMIC_ACQ_REL) == 0);
    for (volatile int i = 0; i < 20000; i++)
        continue;
    CHECK(__atomic_fetch_sub(&shared->inside, 1, __ATOMIC_ACQ_REL) == 1);
}

static void visit_recursive(void)
{
    CHECK(pthread_mutex_lock(&shared->recursive) == 0 && pthread_mutex_trylock(&shared->recursive) == 0);
    stay();
    CHECK(pthread_mutex_unlock(&shared->recursive) == 0 && pthread_mutex_unlock(&shared->recursive) == 0);
}

static void visit_checking(void)
{
    CHECK(pthread_mutex_lock(&shared->checking) == 0 && pthread_mutex_lock(&shared->checking) == EDEADLK);
    stay();
    CHECK(pthread_mutex_unlock(&shared->checking) == 0);
}

/* All processes at once. */
static void all_visit(void (*visit)(void))
{
    __atomic_add_fetch(&shared->ready, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&shared->ready, __ATOMIC_ACQUIRE) % PROCESSES)
        usleep(100);
#pragma omp parallel num_threads(N)
    for (int i = 0; i < VISITS; i++) {
        visit();
        if (i % 16 == 0) {
#pragma omp barrier
        }
    }
}

static void all_processes(void (*visit)(void))
{
    pid_t child[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        child[i] = fork();
        CHECK(child[i] >= 0);
        if (child[i] == 0) {
            all_visit(visit);
            exit(0);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        CHECK(waitpid(child[i], &status, 0) == child[i] && status == 0);
    }
}

int main(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    init(&shared->recursive, PTHREAD_MUTEX_RECURSIVE);
    init(&shared->checking, PTHREAD_MUTEX_ERRORCHECK);
    all_processes(visit_recursive);
    all_processes(visit_checking);
    return 0;
}
