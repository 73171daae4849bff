/* Handlers of fork. See calls.h. */
#define _GNU_SOURCE
#include "calls.h"

#include <pthread.h>

#include "../life.h"

/* Handlers of fork: pthread_atfork is this one, in the object that calls it. The runtime's own come first of all, in an
 * order of their own. */
extern void *__dso_handle __attribute__((visibility("hidden")));
NEXT(__register_atfork, int(void (*)(void), void (*)(void), void (*)(void), void *));
PS_EXPORT int answer___register_atfork(void (*before)(void), void (*parent)(void), void (*child)(void), void *object)
{
    if (object != __dso_handle)
        life_watch_forks();
    return CALL_NEXT(__register_atfork)(before, parent, child, object);
}
VERSIONS(__register_atfork, "GLIBC_2.3.2");
