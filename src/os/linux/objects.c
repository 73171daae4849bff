/* Tells which objects are loaded, and which names these objects need from other objects.
 *
 * Does: os_objects_visit calls dl_iterate_phdr, but never during a fork. The C library does not free the dynamic
 * linker's lock in a forked child: if another kernel thread held it at the fork, the child can never load anything, nor
 * ask again. Programs rarely ask, but this runtime does, when outermost regions begin. os_needed_visit asks without
 * this care: only constructors and destructors call it (os.h).
 * Callers: any thread; the call-back must not ask again, nor fork. Cost: two locks, some 20 ns.
 *
 * A dlopen of the program may be under way at a fork as well; then the lock is held in the child for ever. So the first
 * thread that asks in a child starts a kernel thread, the probe, which asks first; the thread waits for the probe, at
 * most PROBE_NS. If the probe does not return, no thread asks any more: regions use what was known before. If the probe
 * returns later, all threads ask again.
 * States of `asked`: SAFE (a process that was not forked) -> UNSURE (in a child) -> SAFE or HOPELESS; HOPELESS -> SAFE
 * when a late probe has returned. Changed under `asking`.
 *
 * Rejected: never asking in a child (multiprocessing's children import libraries); looking at the lock itself (private
 * to the C library). */
#include "atomic.h"
#include "fork_gate.h"
#include "loaded_object.h"
#include "os.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#define PROBE_NS 200000000
#define PROBE_STACK_BYTES ((size_t)64 * 1024)

enum { SAFE, UNSURE, HOPELESS };
static int asked = SAFE;
static _Atomic uint32_t probe_came_back;

static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t forks_watched;

/* In the child the lock's owner has another number, but an ordinary mutex does not compare it. */
static void asking_before_fork(void) { pthread_mutex_lock(&asking); }
static void after_fork(void) { pthread_mutex_unlock(&asking); }
static void asking_after_fork_in_child(void)
{
    if (asked == SAFE)
        asked = UNSURE;
    pthread_mutex_unlock(&asking);
}

/* Registers the fork handlers once. pthread_once cannot be used: a sanitizer's runtime may be the first caller, before
 * its own pthread_once can be called. */
void os_objects_init(void)
{
    if (ps_load_relaxed(&forks_watched) || ps_xchg_acq_rel(&forks_watched, 1))
        return;
    fork_gate_watch(); /* before the handler of `asking`, under which the probe is started */
    pthread_atfork(asking_before_fork, after_fork, asking_after_fork_in_child);
}

static int visit_no_object(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    (void)info;
    (void)bytes;
    (void)arg;
    return 1;
}

static void *probe_loader_lock(void *arg)
{
    dl_iterate_phdr(visit_no_object, arg);
    ps_store_release(&probe_came_back, 1);
    os_wake(&probe_came_back, 1);
    return NULL;
}

static int send_probe(void)
{
    os_thread thread;
    uint64_t end = os_now_ns() + PROBE_NS, now;
    ps_store_relaxed(&probe_came_back, 0);
    if (os_thread_start(&thread, probe_loader_lock, NULL, PROBE_STACK_BYTES, true) != 0)
        return SAFE; /* no kernel thread can be started: this process asks without a probe */
    os_thread_detach(thread);
    while (!ps_load_acquire(&probe_came_back) && (now = os_now_ns()) < end)
        os_park(&probe_came_back, 0, (int64_t)(end - now));
    return ps_load_acquire(&probe_came_back) ? SAFE : HOPELESS;
}

bool os_objects_visit(int (*visit)(struct dl_phdr_info *, size_t, void *), void *arg)
{
    os_objects_init();
    pthread_mutex_lock(&asking);
    if (asked == UNSURE)
        asked = send_probe();
    else if (PS_UNLIKELY(asked == HOPELESS) && ps_load_acquire(&probe_came_back))
        asked = SAFE;
    bool safe = asked == SAFE;
    if (safe)
        dl_iterate_phdr(visit, arg);
    pthread_mutex_unlock(&asking);
    return safe;
}

struct needed {
    void (*visit)(const char *file, void *arg);
    void *arg;
};

static int needed_of(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    const struct needed *n = arg;
    struct ps_loaded object = ps_loaded_of(info);
    (void)bytes;
    for (const ElfW(Dyn) *d = object.section; object.strings != NULL && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_NEEDED)
            n->visit(object.strings + d->d_un.d_val, n->arg);
    return 0;
}

void os_needed_visit(void (*visit)(const char *file, void *arg), void *arg)
{
    struct needed n = {visit, arg};
    dl_iterate_phdr(needed_of, &n);
}

struct wanted {
    const char *name;
    bool found;
};

static int look_into_object(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    struct wanted *w = arg;
    struct ps_loaded object = ps_loaded_of(info);
    (void)bytes;
    w->found = ps_loaded_wants(&object, w->name) != 0;
    return w->found;
}

bool os_objects_want(const char *name)
{
    struct wanted w = {name, false};
    os_objects_visit(look_into_object, &w);
    return w.found;
}

/* glibc's struct dl_find_object; `rest` is larger than its reserved fields. */
struct found_object {
    unsigned long long flags;
    void *start, *end;
    struct link_map *map;
    void *rest[12];
};
static int (*find_object)(void *address, struct found_object *found);

/* Runs when the library is loaded, because dlsym takes the dynamic linker's lock. */
__attribute__((constructor(101))) static void look_up(void)
{
    find_object = (int (*)(void *, struct found_object *))dlsym(RTLD_DEFAULT, "_dl_find_object");
}

struct link_map *os_object_at(const void *address, const void **start)
{
    struct found_object found;
    if (find_object == NULL || find_object((void *)(uintptr_t)address, &found) != 0)
        return NULL;
    *start = found.start;
    return found.map;
}
