/* The monitor (balder-threads-2004 section 2): mutual exclusion and waiting inside it, in one object.
 *
 * Entry and leave are those of the paper's figure 2, which is this folder's mutex. wait and notify are those of the
 * condition variable. So all that mutex.c and cond.c say holds: spinning for about two switches before a thread blocks,
 * no convoy, bounded starvation, no lost wake-up. A notified thread enters again like any other thread: after the
 * notifier has left, and perhaps after other threads. So it must test its condition again (Mesa's semantics; Hoare's
 * would need a switch for each notify).
 *
 * Callers: any thread; enter and wait may block. wait and leave must be called inside the monitor. Otherwise they
 * return EPERM: in a checked build always, in other builds if no thread is inside. notify should be, too: outside it
 * may come before a thread that is about to wait, and be lost.
 * Rejected: nested entry by the holder: wait would have to know how many levels to leave. */
#include "mutex.h"
#include "psthread.h"

#include <errno.h>

struct monitor {
    psthread_mutex_t mutex;
    psthread_cond_t notified;
};
_Static_assert(sizeof(struct monitor) <= sizeof(psthread_monitor_t), "a monitor fits");

static struct monitor *monitor_inside(psthread_monitor_t *monitor) { return (struct monitor *)(void *)monitor; }

int psthread_monitor_init(psthread_monitor_t *monitor)
{
    *monitor = (psthread_monitor_t)PSTHREAD_MONITOR_INITIALIZER;
    return 0;
}

int psthread_monitor_destroy(psthread_monitor_t *monitor)
{
    int error = psthread_cond_destroy(&monitor_inside(monitor)->notified);
    return error ? error : psthread_mutex_destroy(&monitor_inside(monitor)->mutex);
}

int psthread_monitor_enter(psthread_monitor_t *monitor) { return psthread_mutex_lock(&monitor_inside(monitor)->mutex); }

int psthread_monitor_leave(psthread_monitor_t *monitor)
{
    return psthread_mutex_unlock(&monitor_inside(monitor)->mutex);
}

int psthread_monitor_wait(psthread_monitor_t *monitor)
{
    return psthread_cond_wait(&monitor_inside(monitor)->notified, &monitor_inside(monitor)->mutex);
}

int psthread_monitor_notify(psthread_monitor_t *monitor)
{
    return psthread_cond_signal(&monitor_inside(monitor)->notified);
}

int psthread_monitor_notify_all(psthread_monitor_t *monitor)
{
    return psthread_cond_broadcast(&monitor_inside(monitor)->notified);
}
