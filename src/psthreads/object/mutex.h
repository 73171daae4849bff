/* The mutex as the other synchronisation objects of this room see it. */
#ifndef PS_MUTEX_H
#define PS_MUTEX_H

#include "psthread.h"
#include "spin.h"
#include "waitq.h"

#include <stdbool.h>

/* What stands in a psthread_mutex_t: mutex.c tells of each field. */
struct ps_mutex {
    _Atomic uint32_t state;
    struct ps_spin lock;
    struct ps_waitq queue;
    _Atomic(struct psthread *) owner;
};
#define PS_MUTEX_LOCKED 1u /* in state */

/* Whether the caller holds the mutex. An unchecked build does not know, and says true. */
bool ps_mutex_held(psthread_mutex_t *mutex);

/* As psthread_mutex_unlock, but never gives way: for a caller that stands in a queue already. Does not block. */
int ps_mutex_unlock(psthread_mutex_t *mutex);

#endif
