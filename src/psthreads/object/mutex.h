/* The mutex as the other synchronisation objects of this folder see it. */
#ifndef PS_MUTEX_H
#define PS_MUTEX_H

#include "psthread.h"
#include "spin.h"
#include "waitq.h"

#include <stdbool.h>

/* The contents of a psthread_mutex_t: mutex.c describes each field. */
struct ps_mutex {
    _Atomic uint32_t state;
    struct ps_spin lock;
    struct ps_waitq queue;
    _Atomic(struct psthread *) owner;
};
#define PS_MUTEX_LOCKED 1u /* a bit of `state` */

/* Returns whether the caller holds the mutex. An unchecked build only knows whether any thread holds it. */
bool ps_mutex_held(psthread_mutex_t *mutex);

/* As psthread_mutex_unlock, but never yields: for a caller that is in a queue already. Does not block. */
int ps_mutex_unlock(psthread_mutex_t *mutex);

#endif
