/* Park and wake with POSIX primitives alone (-DPS_PORTABLE=ON, and systems without futexes). os.h has the contract.
 *
 * A word hashes to an entry with a mutex and a condition variable. The thread that parks compares the word under the
 * mutex; the thread that wakes takes the mutex before it signals. So a wake that follows the change of the word is not
 * lost. Words that share an entry share wake-ups: all sleepers of an entry wake and look again, which os.h allows.
 * States of an entry: `sleepers` is the number of threads in pthread_cond_wait, guarded by the mutex.
 * Failures: as in os.h. No EINTR: POSIX conditions do not report signals. Cost: a mutex pair, and a broadcast if a
 * thread sleeps. A fork handler takes all mutexes before a fork, so a child finds consistent entries.
 * Rejected: a semaphore for each kernel thread (a wake would need a list of sleepers for each word). */
#include "os.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#define ENTRIES 64

static struct entry {
    PS_LINE_ALIGNED pthread_mutex_t mutex;
    pthread_cond_t changed;
    int sleepers;
} table[ENTRIES];

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void lock_all(void)
{
    for (int i = 0; i < ENTRIES; i++)
        pthread_mutex_lock(&table[i].mutex);
}
static void unlock_all(void)
{
    for (int i = 0; i < ENTRIES; i++)
        pthread_mutex_unlock(&table[i].mutex);
}
static void make_conditions(void)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    for (int i = 0; i < ENTRIES; i++) {
        pthread_cond_init(&table[i].changed, &monotonic);
        table[i].sleepers = 0;
    }
    pthread_condattr_destroy(&monotonic);
}
/* Makes the conditions anew: the parent's sleepers are not in the child. */
static void park_after_fork_in_child(void)
{
    make_conditions();
    unlock_all();
}
static void make_table(void)
{
    for (int i = 0; i < ENTRIES; i++)
        pthread_mutex_init(&table[i].mutex, NULL);
    make_conditions();
    pthread_atfork(lock_all, unlock_all, park_after_fork_in_child);
}

static struct entry *park_entry(_Atomic uint32_t *word)
{
    pthread_once(&once, make_table);
    return &table[(uintptr_t)word / sizeof *word * UINT64_C(0x9E3779B97F4A7C15) >> 58];
}

int os_park(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns)
{
    struct entry *e = park_entry(word);
    int result = EAGAIN;
    pthread_mutex_lock(&e->mutex);
    if (ps_load_relaxed(word) == expected) {
        e->sleepers++;
        if (timeout_ns < 0) {
            result = pthread_cond_wait(&e->changed, &e->mutex);
        } else {
            uint64_t end = os_now_ns() + (uint64_t)timeout_ns;
            struct timespec until = {.tv_sec = (time_t)(end / 1000000000), .tv_nsec = (long)(end % 1000000000)};
            result = pthread_cond_timedwait(&e->changed, &e->mutex, &until);
        }
        e->sleepers--;
    }
    pthread_mutex_unlock(&e->mutex);
    return result;
}

int os_wake(_Atomic uint32_t *word, int n)
{
    struct entry *e = park_entry(word);
    pthread_mutex_lock(&e->mutex);
    int woken = e->sleepers;
    if (woken != 0)
        pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->mutex);
    return n >= 0 && woken > n ? n : woken;
}

void os_park_both(_Atomic uint32_t *word, uint32_t expected, _Atomic uint32_t *shared, uint32_t of_shared,
                  int64_t timeout_ns)
{
    bool soon = !shared || (timeout_ns >= 0 && timeout_ns < OS_SHARED_LOOK_NS);
    if (!shared || ps_load_relaxed(shared) == of_shared)
        os_park(word, expected, soon ? timeout_ns : OS_SHARED_LOOK_NS);
}

void os_wake_shared(_Atomic uint32_t *word) { (void)word; }

void os_yield(void) { sched_yield(); }
