/* Every kind of mutex excludes, whatever its owner does inside: it computes on, blocks in the kernel, or waits in
 * the runtime. Its owner, and no other thread, may take it again (recursive), is told so (error-checking), and may give
 * it back. 9_mutexes computing|blocked|runtime [loaded|KIND] */
#define _GNU_SOURCE
#include "contend.h"
#include <errno.h>
#include <pthread.h>
#include <threads.h>

enum ask { LOCK, TIMED, CLOCK, TRY };
static const struct kind {
    const char *name;
    int type, robust, protocol, c11; /* c11: a mtx_t of this type */
    enum ask ask;
} kinds[] = {{"normal", PTHREAD_MUTEX_NORMAL, 0, 0, -1, LOCK},
             {"recursive", PTHREAD_MUTEX_RECURSIVE, 0, 0, -1, LOCK},
             {"recursive_timed", PTHREAD_MUTEX_RECURSIVE, 0, 0, -1, TIMED},
             {"recursive_try", PTHREAD_MUTEX_RECURSIVE, 0, 0, -1, TRY},
             {"error_checking", PTHREAD_MUTEX_ERRORCHECK, 0, 0, -1, LOCK},
             {"error_checking_clock", PTHREAD_MUTEX_ERRORCHECK, 0, 0, -1, CLOCK},
             {"adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, 0, 0, -1, LOCK},
             {"c11_plain", 0, 0, 0, mtx_plain, LOCK},
             {"c11_recursive", 0, 0, 0, mtx_recursive, LOCK},
             {"c11_recursive_timed", 0, 0, 0, mtx_recursive | mtx_timed, TIMED},
             {"robust", PTHREAD_MUTEX_NORMAL, 1, 0, -1, LOCK},
             {"robust_recursive", PTHREAD_MUTEX_RECURSIVE, 1, 0, -1, LOCK},
             {"inheriting", PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_INHERIT, -1, LOCK},
             {"inheriting_recursive", PTHREAD_MUTEX_RECURSIVE, 0, PTHREAD_PRIO_INHERIT, -1, LOCK},
             {"inheriting_robust_checking", PTHREAD_MUTEX_ERRORCHECK, 1, PTHREAD_PRIO_INHERIT, -1, LOCK}};

static const struct kind *kind;
static pthread_mutex_t mutex;
static mtx_t c11;
static long count; /* guarded by the lock */

static void make(void)
{
    pthread_mutexattr_t attr;
    if (kind->c11 >= 0) {
        CHECK(mtx_init(&c11, kind->c11) == thrd_success);
        return;
    }
    pthread_mutexattr_init(&attr);
    CHECK(pthread_mutexattr_settype(&attr, kind->type) == 0);
    CHECK(!kind->robust || pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST) == 0);
    CHECK(!kind->protocol || pthread_mutexattr_setprotocol(&attr, kind->protocol) == 0);
    CHECK(pthread_mutex_init(&mutex, &attr) == 0);
}

static void take(void)
{
    struct timespec until;
    clock_gettime(kind->ask == CLOCK ? CLOCK_MONOTONIC : CLOCK_REALTIME, &until);
    until.tv_sec += 30;
    if (kind->c11 >= 0) {
        CHECK((kind->ask == TIMED ? mtx_timedlock(&c11, &until) : mtx_lock(&c11)) == thrd_success);
        return;
    }
    int result;
    while ((result = kind->ask == TIMED   ? pthread_mutex_timedlock(&mutex, &until)
                     : kind->ask == CLOCK ? pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &until)
                     : kind->ask == TRY   ? pthread_mutex_trylock(&mutex)
                                          : pthread_mutex_lock(&mutex)) == EBUSY)
        usleep(100);
    CHECK(result == 0);
}

static void give(void)
{
    CHECK((kind->c11 >= 0 ? mtx_unlock(&c11) != thrd_success : pthread_mutex_unlock(&mutex)) == 0);
}

static void visit(void)
{
    bool recursive = kind->c11 >= 0 ? (kind->c11 & mtx_recursive) != 0 : kind->type == PTHREAD_MUTEX_RECURSIVE;
    take();
    if (recursive)
        take();
    long before = count;
    contend_stay();
    CHECK(count == before);
    count = before + 1;
    if (kind->c11 < 0 && kind->type == PTHREAD_MUTEX_ERRORCHECK && !kind->robust)
        CHECK(pthread_mutex_lock(&mutex) == EDEADLK);
    if (recursive)
        give();
    compute_ms(0.01);
    CHECK(count == before + 1);
    give();
    if (kind->c11 < 0 && kind->type != PTHREAD_MUTEX_NORMAL && kind->type != PTHREAD_MUTEX_ADAPTIVE_NP)
        CHECK(pthread_mutex_unlock(&mutex) == EPERM); /* another's, or no thread's */
}

static enum contend_hold hold;
static const char *name(int i) { return kinds[i].name; }

/* ROOTS_LEAVE: the region's first thread is away from its kernel thread at every opportunity. It cannot give back there
 * what it has taken at home, where priority is inherited (docs/guarantees.md). */
static void run(int i)
{
    kind = &kinds[i];
    if (kind->protocol && getenv("ROOTS_LEAVE"))
        return;
    make();
    contend_rounds(4, 3, hold, NULL, visit);
    CHECK(count == 12);
}

int main(int argc, char **argv)
{
    const char *only = contend_arguments(argc, argv, 1, &hold);
    in_a_process_each(sizeof kinds / sizeof kinds[0], name, run, only);
    return 0;
}
