/* Locks of the runtime's own data, which are free in the child of every fork.
 *
 * Two kinds. ORT_OWN_LOCK guards data of the runtime, for a few instructions or a malloc. While a thread holds such a
 * lock, the thread runs no code of the program, makes no switch, and takes no other lock of this kind. A thread that
 * forks takes all of them first (ort_own_before_fork), and releases them in the parent and in the child. So in the
 * child none is held, and no data is half changed.
 * ORT_CHILD_FREES lists words that a thread takes by ort_lock and holds while the program computes an atomic update. A
 * fork does not wait for the program; instead the child frees these words, because the threads that held them are not
 * in the child.
 * Callers: any thread, on any stack; not a signal handler. Constructors make the lists, which later are only read.
 * Rejected: ort_lock for the runtime's data (its holders may switch, and a fork in a signal handler cannot take it);
 * freeing the runtime's locks in the child, too (it would leave lists half changed). */
#ifndef PS_ORT_OWN_LOCK_H
#define PS_ORT_OWN_LOCK_H

#include <stddef.h>

#include "spin.h"

struct ort_own_lock {
    struct ps_spin spin;
    struct ort_own_lock *next;
};

static inline void ort_own_lock(struct ort_own_lock *lock) { ps_spin_lock(&lock->spin); }
static inline void ort_own_unlock(struct ort_own_lock *lock) { ps_spin_unlock(&lock->spin); }

/* Adds the lock to the list of those that a fork takes. */
void ort_own_lock_made(struct ort_own_lock *lock);
#define ORT_OWN_LOCK(name)           \
    static struct ort_own_lock name; \
    __attribute__((constructor)) static void name##_made(void) { ort_own_lock_made(&name); }

/* n words, `stride` bytes apart, which the child of a fork sets to 0. */
struct ort_child_frees {
    void *first;
    size_t n, stride;
    struct ort_child_frees *next;
};
void ort_child_frees_made(struct ort_child_frees *words);
#define ORT_CHILD_FREES(name, place, count, bytes)                                                    \
    static struct ort_child_frees name = {.first = (void *)(place), .n = (count), .stride = (bytes)}; \
    __attribute__((constructor)) static void name##_made(void) { ort_child_frees_made(&name); }

/* Called by the thread that forks: before the fork, after it in the parent, after it in the child. */
void ort_own_before_fork(void);
void ort_own_after_fork(void);
void ort_own_after_fork_in_child(void);

#endif
