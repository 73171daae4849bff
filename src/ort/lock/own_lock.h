/* Locks of the runtime's own, which no fork finds held.
 *
 * Two kinds. ORT_OWN_LOCK: around data of the runtime, for some instructions or a malloc. While it is held, no code of
 * the program runs, no switch happens, and no other lock of this kind is taken. A fork takes them all
 * (ort_own_before_fork) and lets go in parent and child: a child is born with none held, and with nothing half changed.
 * ORT_CHILD_FREES: words of ort_lock around what the program computes in the middle of an atomic update. No fork waits
 * for the program there; the child frees them, since the thread that held one is not in the child.
 * Callers: any thread on any stack; not a signal handler. The list is made by constructors, and only read later.
 * Rejected: ort_lock around the runtime's data (its holders switch, a fork in a handler cannot); freeing those too
 * (lists half changed). */
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

void ort_own_lock_made(struct ort_own_lock *lock);
#define ORT_OWN_LOCK(name)           \
    static struct ort_own_lock name; \
    __attribute__((constructor)) static void name##_made(void) { ort_own_lock_made(&name); }

/* n words, `stride` bytes apart. */
struct ort_child_frees {
    void *first;
    size_t n, stride;
    struct ort_child_frees *next;
};
void ort_child_frees_made(struct ort_child_frees *words);
#define ORT_CHILD_FREES(name, place, count, bytes)                                                    \
    static struct ort_child_frees name = {.first = (void *)(place), .n = (count), .stride = (bytes)}; \
    __attribute__((constructor)) static void name##_made(void) { ort_child_frees_made(&name); }

void ort_own_before_fork(void);
void ort_own_after_fork(void);
void ort_own_after_fork_in_child(void);

#endif
