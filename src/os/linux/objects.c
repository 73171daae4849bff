/* Asking the dynamic linker what is loaded, and loading something.
 *
 * Does: dl_iterate_phdr, in such a way that no fork comes in between. The dynamic linker's lock is not looked after at a fork: a
 * child that is born while another kernel thread holds it can never load anything, nor ask again. Programs do not ask all the time,
 * but this runtime does, at each outermost region.
 * The same holds for what this runtime loads itself (hwloc): os_loading_begin ... os_loading_end let no fork come in between.
 * Callers: anybody; the call-back must not ask again, nor fork. Cost: two locks, some 20 ns.
 *
 * Who loads waits for the dynamic linker's own lock, which another thread may hold while a constructor of its library runs a region, and
 * that takes any other lock of ours. So who loads holds nothing else of ours; several may load at once (readers go first); and a fork waits
 * for them before it takes anything else: its handler is registered last (os_loading_init).
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

static pthread_rwlock_t loading = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t loading_once = PTHREAD_ONCE_INIT;

static void wait_for_loaders(void) { pthread_rwlock_wrlock(&loading); }
static void let_load(void) { pthread_rwlock_unlock(&loading); }
/* Made anew: the number of its owner, which the unlock looks at, is not the child's. */
static void let_child_load(void) { loading = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER; }
static void watch_forks_for_loaders(void) { pthread_atfork(wait_for_loaders, let_load, let_child_load); }

void os_loading_init(void) { pthread_once(&loading_once, watch_forks_for_loaders); }
void os_loading_begin(void) { pthread_rwlock_rdlock(&loading); }
void os_loading_end(void) { pthread_rwlock_unlock(&loading); }

void os_objects_visit(int (*visit)(struct dl_phdr_info *, size_t, void *), void *arg)
{
    os_objects_init();
    pthread_mutex_lock(&asking);
    dl_iterate_phdr(visit, arg);
    pthread_mutex_unlock(&asking);
}
