/* A rwlock lets in one writer or several readers, whatever those inside do: they compute on, block in the kernel, or
 * wait in the runtime. No thread is taken for the one that holds it (EDEADLK). So does a spin lock with one thread.
 * 9_rwlocks computing|blocked|runtime [loaded|KIND] */
#define _GNU_SOURCE
#include "contend.h"
#include <errno.h>
#include <pthread.h>

enum mode { WRITE, READ, READ_AGAIN, TRY, TIMED, SPIN };
static const struct kind {
    const char *name;
    int prefers;
    enum mode owner, others;
} kinds[] = {{"writers", PTHREAD_RWLOCK_PREFER_READER_NP, WRITE, WRITE},
             {"writer_readers", PTHREAD_RWLOCK_PREFER_READER_NP, WRITE, READ},
             {"reader_writers", PTHREAD_RWLOCK_PREFER_READER_NP, READ, WRITE},
             {"readers", PTHREAD_RWLOCK_PREFER_READER_NP, READ, READ},
             {"reader_again_writers", PTHREAD_RWLOCK_PREFER_READER_NP, READ_AGAIN, WRITE},
             {"prefers_writers", PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, WRITE, WRITE},
             {"prefers_writers_readers", PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, WRITE, READ},
             {"writers_try", PTHREAD_RWLOCK_PREFER_READER_NP, WRITE, TRY},
             {"writers_timed", PTHREAD_RWLOCK_PREFER_READER_NP, TIMED, TIMED},
             {"spin", 0, SPIN, SPIN}};

static const struct kind *kind;
static enum contend_hold hold;
static pthread_rwlock_t lock;
static pthread_spinlock_t spin;
static int writers, readers; /* inside now */

static void take(enum mode mode)
{
    struct timespec until;
    int result;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 30;
    if (mode == SPIN)
        CHECK(pthread_spin_lock(&spin) == 0);
    else if (mode == READ || mode == READ_AGAIN)
        CHECK(pthread_rwlock_rdlock(&lock) == 0);
    else if (mode == TIMED)
        CHECK(pthread_rwlock_timedwrlock(&lock, &until) == 0);
    else if (mode == WRITE)
        CHECK(pthread_rwlock_wrlock(&lock) == 0);
    else {
        while ((result = pthread_rwlock_trywrlock(&lock)) == EBUSY)
            usleep(100);
        CHECK(result == 0);
    }
}

static void visit(void)
{
    enum mode mode = omp_get_thread_num() == contend.owner ? kind->owner : kind->others;
    bool reads = mode == READ || mode == READ_AGAIN;
    int *mine = reads ? &readers : &writers;
    take(mode);
    __atomic_fetch_add(mine, 1, __ATOMIC_ACQ_REL);
    contend_stay();
    if (mode == READ_AGAIN && kind->prefers == PTHREAD_RWLOCK_PREFER_READER_NP)
        take(mode); /* readers that are inside may take it again */
    CHECK(__atomic_load_n(&writers, __ATOMIC_ACQUIRE) == !reads &&
          (reads || !__atomic_load_n(&readers, __ATOMIC_ACQUIRE)));
    __atomic_fetch_sub(mine, 1, __ATOMIC_ACQ_REL);
    if (mode == READ_AGAIN)
        CHECK(pthread_rwlock_unlock(&lock) == 0);
    CHECK((mode == SPIN ? pthread_spin_unlock(&spin) : pthread_rwlock_unlock(&lock)) == 0);
}

static const char *name(int i) { return kinds[i].name; }

static void run(int i)
{
    pthread_rwlockattr_t attr;
    kind = &kinds[i];
    pthread_rwlockattr_init(&attr);
    CHECK(pthread_rwlockattr_setkind_np(&attr, kind->prefers) == 0 && pthread_rwlock_init(&lock, &attr) == 0);
    CHECK(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE) == 0);
    contend.shared = true; /* threads that may be inside together are counted here */
    contend_rounds(4, 3, hold, NULL, visit);
}

int main(int argc, char **argv)
{
    const char *only = contend_arguments(argc, argv, 1, &hold);
    in_a_process_each(sizeof kinds / sizeof kinds[0], name, run, only);
    return 0;
}
