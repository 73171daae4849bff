/* Asking the dynamic linker what is loaded.
 *
 * Does: dl_iterate_phdr, in such a way that no fork comes in between. The dynamic linker's lock is not looked after at a fork: a
 * child that is born while another kernel thread holds it can never load anything, nor ask again. Programs do not ask all the time,
 * but this runtime does, at each outermost region.
 * Callers: anybody; the call-back must not ask again, nor fork. Cost: two locks, some 20 ns.
 *
 * Rejected: asking no more in a child (its own dlopen would hang all the same). */
#include "atomic.h"
#include "os.h"

#include <link.h>
#include <pthread.h>

static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The lock's owner may be another kernel thread in the child only by its number: an ordinary mutex does not look at that. */
static void before_fork(void) { pthread_mutex_lock(&asking); }
static void after_fork(void) { pthread_mutex_unlock(&asking); }
static void watch_forks(void) { pthread_atfork(before_fork, after_fork, after_fork); }

void os_objects_init(void) { pthread_once(&once, watch_forks); }

void os_objects_visit(int (*visit)(struct dl_phdr_info *, size_t, void *), void *arg)
{
    os_objects_init();
    pthread_mutex_lock(&asking);
    dl_iterate_phdr(visit, arg);
    pthread_mutex_unlock(&asking);
}
