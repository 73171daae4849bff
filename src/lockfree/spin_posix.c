/* The spin locks on POSIX primitives alone (-DPS_PORTABLE=ON): "architecture support disabled", the slow column of
 * balder-threads-2004 table 1, and the mapping to POSIX mutexes of psthreads-2009 section 2.1.
 *
 * The words with the state of queues, barriers, mutexes and the like stay C11 atomics in this build: they are standard
 * C and need no port. So the state machines are the same, and are tested once. Waiting threads still block in the
 * scheduler. If a POSIX primitive held a waiting *thread*, it would hold the kernel thread, and a vp with a thousand
 * threads would deadlock. Calls that wait for another thread do not spin first (src/psthreads/thread/active_wait.h).
 *
 * Threads are not preempted, and a POSIX mutex belongs to the kernel thread that locked it. So no lock may be held
 * across a switch of contexts, which is already the rule of spin.h. A waiter holds its kernel thread here. That is safe
 * by the same rule: the holder runs on another kernel thread, and does not switch before it releases the lock.
 *
 * A lock keeps its four bytes, zero when free, so that public objects have one size and one static initialiser. A POSIX
 * mutex does not fit into four bytes; so a lock's address is hashed to an entry in a table of mutexes. An entry's mutex
 * guards the words of all locks that hash to it. A thread that finds its lock's word set waits on the entry's condition
 * variable. The release of a lock wakes all kernel threads that wait at its entry, also for other locks. Each of them
 * looks at its own lock's word again.
 * A fork handler makes the entries anew in the child, because the threads in their critical sections are not there. The
 * locks' words stay as they are.
 * Rejected: to hold the entry's mutex for as long as the lock (a thread with two locks of one entry would deadlock with
 * itself). pthread_spinlock_t in the four bytes (in glibc's x86-64 port zero means held).
 * Cost: two mutex pairs a critical section, and a condition variable where it is contended. */
#include "spin.h"

#if PS_PORTABLE

#include <pthread.h>

#define ENTRIES 64

static struct entry {
    PS_LINE_ALIGNED pthread_mutex_t mutex;
    pthread_cond_t released;
    unsigned waiting; /* number of kernel threads that wait on `released`; guarded by mutex */
} table[ENTRIES] = {[0 ... ENTRIES - 1] = {.mutex = PTHREAD_MUTEX_INITIALIZER, .released = PTHREAD_COND_INITIALIZER}};

static void make_entries(void)
{
    for (struct entry *e = table; e < table + ENTRIES; e++) {
        pthread_mutex_init(&e->mutex, NULL);
        pthread_cond_init(&e->released, NULL);
        e->waiting = 0;
    }
}

/* Registered by an early constructor: a child runs its fork handlers in the order of their registration, so this one
 * comes before those of later constructors. */
__attribute__((constructor(101))) static void spin_watch_forks(void) { pthread_atfork(NULL, NULL, make_entries); }

static struct entry *spin_entry(const struct ps_spin *lock)
{
    return &table[(uintptr_t)lock / sizeof(*lock) * UINT64_C(0x9E3779B97F4A7C15) >> 58];
}

void ps_spin_lock(struct ps_spin *lock)
{
    struct entry *e = spin_entry(lock);
    pthread_mutex_lock(&e->mutex);
    while (ps_load_relaxed(&lock->word)) {
        e->waiting++;
        pthread_cond_wait(&e->released, &e->mutex);
        e->waiting--;
    }
    ps_store_relaxed(&lock->word, 1);
    pthread_mutex_unlock(&e->mutex);
}

bool ps_spin_try_lock(struct ps_spin *lock)
{
    struct entry *e = spin_entry(lock);
    pthread_mutex_lock(&e->mutex);
    bool got = !ps_load_relaxed(&lock->word);
    ps_store_relaxed(&lock->word, 1);
    pthread_mutex_unlock(&e->mutex);
    return got;
}

void ps_spin_unlock(struct ps_spin *lock)
{
    struct entry *e = spin_entry(lock);
    pthread_mutex_lock(&e->mutex);
    ps_store_relaxed(&lock->word, 0);
    if (e->waiting)
        pthread_cond_broadcast(&e->released);
    pthread_mutex_unlock(&e->mutex);
}

#else
typedef int spin_posix_is_off; /* a translation unit may not be empty */
#endif
