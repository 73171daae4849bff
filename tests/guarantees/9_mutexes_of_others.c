/* Mutexes of the kinds that the kernel compares, in memory that processes share, made by another process: this one has
 * made no attribute of such a kind. They exclude, their owner may wait inside in any way, members wait for conditions
 * with them; and the end of a process whose member holds a robust one is told. 9_mutexes_of_others [KIND] */
#define _GNU_SOURCE
#include "contend.h"
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>

static const struct kind {
    const char *name;
    int type, robust, protocol;
} kinds[] = {{"robust", PTHREAD_MUTEX_NORMAL, 1, 0},
             {"robust_recursive", PTHREAD_MUTEX_RECURSIVE, 1, 0},
             {"inheriting", PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_INHERIT},
             {"inheriting_recursive", PTHREAD_MUTEX_RECURSIVE, 0, PTHREAD_PRIO_INHERIT},
             {"inheriting_robust_checking", PTHREAD_MUTEX_ERRORCHECK, 1, PTHREAD_PRIO_INHERIT}};
static const struct kind *kind;

static struct shared {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    long count; /* guarded by the mutex */
    int turn;   /* likewise */
} * shared;

static void make(void)
{
    pthread_mutexattr_t attr;
    pthread_condattr_t cond_attr;
    pthread_mutexattr_init(&attr);
    CHECK(pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_mutexattr_settype(&attr, kind->type) == 0);
    CHECK(!kind->robust || pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST) == 0);
    CHECK(!kind->protocol || pthread_mutexattr_setprotocol(&attr, kind->protocol) == 0);
    CHECK(pthread_mutex_init(&shared->mutex, &attr) == 0);
    pthread_condattr_init(&cond_attr);
    CHECK(pthread_condattr_setpshared(&cond_attr, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_cond_init(&shared->cond, &cond_attr) == 0);
}

static void in_another_process(void (*run)(void))
{
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        run();
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/* Ordinary mutexes stay the thread's meanwhile. */
static pthread_mutex_t own = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static void visit(void)
{
    bool recursive = kind->type == PTHREAD_MUTEX_RECURSIVE;
    CHECK(pthread_mutex_lock(&shared->mutex) == 0);
    if (recursive)
        CHECK(pthread_mutex_trylock(&shared->mutex) == 0);
    CHECK(pthread_mutex_lock(&own) == 0);
    long before = shared->count;
    contend_stay();
    CHECK(shared->count == before);
    shared->count = before + 1;
    CHECK(pthread_mutex_lock(&own) == 0);
    CHECK(pthread_mutex_unlock(&own) == 0);
    if (kind->type == PTHREAD_MUTEX_ERRORCHECK)
        CHECK(pthread_mutex_lock(&shared->mutex) == EDEADLK);
    if (recursive)
        CHECK(pthread_mutex_unlock(&shared->mutex) == 0);
    CHECK(pthread_mutex_unlock(&own) == 0);
    CHECK(pthread_mutex_unlock(&shared->mutex) == 0);
    if (kind->type != PTHREAD_MUTEX_NORMAL)
        CHECK(pthread_mutex_unlock(&shared->mutex) == EPERM);
}

static void take_turns(void)
{
#pragma omp parallel num_threads(4)
    {
        int id = omp_get_thread_num(), n = omp_get_num_threads();
        for (int round = 0; round < 10; round++) {
            CHECK(pthread_mutex_lock(&shared->mutex) == 0);
            while (shared->turn != id)
                CHECK(pthread_cond_wait(&shared->cond, &shared->mutex) == 0);
            shared->turn = (id + 1) % n;
            CHECK(pthread_cond_broadcast(&shared->cond) == 0);
            CHECK(pthread_mutex_unlock(&shared->mutex) == 0);
        }
    }
}

/* The process ends while a member of its region holds the mutex; another one, on a kernel thread that lives as long,
 * has held it before. */
static void end_inside(void)
{
#pragma omp parallel num_threads(4)
    {
        CHECK(pthread_mutex_lock(&shared->mutex) == 0);
        CHECK(pthread_mutex_unlock(&shared->mutex) == 0);
#pragma omp barrier
        if (omp_get_thread_num() == 2) {
            CHECK(pthread_mutex_lock(&shared->mutex) == 0);
            _exit(0);
        }
#pragma omp barrier
    }
}

static void heir(void)
{
    int told = 0;
#pragma omp parallel num_threads(4) reduction(+ : told)
    {
        int result = pthread_mutex_lock(&shared->mutex);
        CHECK(result == 0 || result == EOWNERDEAD);
        if (result == EOWNERDEAD) {
            told++;
            CHECK(pthread_mutex_consistent(&shared->mutex) == 0);
        }
        CHECK(pthread_mutex_unlock(&shared->mutex) == 0);
    }
    CHECK(told == 1);
}

static const char *name(int i) { return kinds[i].name; }

static void run(int i)
{
    kind = &kinds[i];
    if (kind->protocol && getenv("ROOTS_LEAVE")) /* as in 9_mutexes.c */
        return;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    in_another_process(make);
    if (kind->robust) {
        in_another_process(end_inside); /* before this process has run a region: libgomp's children cannot otherwise */
        heir();
    }
    for (int hold = HOLD_COMPUTING; hold <= HOLD_IN_RUNTIME; hold++)
        contend_rounds(4, 2, (enum contend_hold)hold, NULL, visit);
    CHECK(shared->count == 24);
    take_turns();
}

int main(int argc, char **argv)
{
    in_a_process_each(sizeof kinds / sizeof kinds[0], name, run, argc > 1 ? argv[1] : NULL);
    return 0;
}
