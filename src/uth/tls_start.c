/* Thread-local blocks: finds out whether blocks can be made, by trying one, and gives existing blocks the segments of
 * objects that are loaded later. The contract is tls.h; tls.c makes the blocks, and says what `epoch` is. */
#define _GNU_SOURCE
#include "tls_blocks.h"

#include "check.h"
#include "cpu.h"
#include "os.h"
#include "tls_images.h"
#include "tls_objects.h"
#include "uth.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* How often the first block is tried if the system refuses memory or a kernel thread: if it cannot be made, there are
 * no blocks. The waits between these tries take an eighth of a second in all. */
#define START_TRIES 8

/* The segments at the last look, and the room for their images. Under init_lock. */
static struct uth_tls_segment segments[UTH_TLS_MAX_SEGMENTS];
static unsigned num_segments;
static char images_now[32 * 1024];

/* --- objects that are loaded later --- */

#define FOR_EVER (~0ULL)

static const struct uth_tls_segment *seen_before(const struct uth_tls_segment *segment)
{
    for (unsigned i = 0; i < num_segments; i++)
        if (segments[i].object == segment->object && segments[i].module == segment->module)
            return &segments[i];
    return NULL;
}

static void initialise_segment(const struct uth_tls_segment *segment)
{
    for (struct uth_tls *tls = uth_blocks.all; tls != NULL; tls = tls->next_of_all) {
        char *to = (char *)tls->tp + segment->from_tp;
        memcpy(to, segment->image, segment->image_bytes);
        memset(to + segment->image_bytes, 0, segment->bytes - segment->image_bytes);
    }
}

/* Gives existing blocks the initial values of segments that dlopen has put into the static part of every thread's block
 * since the last look. (The dynamic linker does that for the threads that it knows.) `any_known` is false if the
 * dynamic linker could not be asked before (os_objects_visit): then no segment counts as new.
 * `beginning`: NULL, or an address in an object whose code has not run yet. Its segment is initialised even if it was
 * seen before: the dynamic linker may not have been through with it then, or another object's segment was there. It is
 * initialised once for each value of `loaded`, since objects that are loaded together begin one after the other.
 * Segments marked FOR_EVER are not initialised. */
static void initialise_new_segments(bool any_known, const void *beginning, unsigned long long loaded)
{
    /* Under init_lock; static, because it is too big for a small stack. */
    static struct uth_tls_segment now[UTH_TLS_MAX_SEGMENTS];
    unsigned n = uth_tls_objects_static(now, images_now, sizeof images_now);
    uth_tls_images_check(now, n);
    for (unsigned i = 0; i < n; i++) {
        const struct uth_tls_segment *before = seen_before(&now[i]);
        bool begins = (uintptr_t)beginning >= now[i].low && (uintptr_t)beginning < now[i].high;
        now[i].right_when = before != NULL ? before->right_when : 0;
        bool right = now[i].right_when == loaded || now[i].right_when == FOR_EVER;
        if (begins ? right : before != NULL || !any_known)
            continue;
        initialise_segment(&now[i]);
        if (beginning != NULL)
            now[i].right_when = loaded;
    }
    memcpy(segments, now, n * sizeof now[0]);
    num_segments = n;
}

_Atomic uint32_t uth_tls_asks;

void uth_tls_may_ask(uint32_t asks)
{
    uint32_t now = ps_load_relaxed(&uth_tls_asks);
    while (now < asks && !ps_cas_relaxed(&uth_tls_asks, &now, asks))
        continue;
}

/* Looks whether a loaded object may read floating-point status flags, or asks for a stack's bounds. Called by
 * uth_tls_init if there are blocks, and by look_at_objects after something was loaded. What was found once is not
 * looked for again. */
static void look_for_askers(void)
{
    if (!cpu_float_flags_kept() && uth_tls_objects_read_flags(uth_blocks.layout.shared_segment))
        uth_tls_keep_flags();
    if (uth_blocks.numbered && ps_load_relaxed(&uth_tls_asks) == UTH_TLS_ASKS_NOT &&
        os_objects_want("pthread_getattr_np"))
        uth_tls_may_ask(UTH_TLS_ASKS_MAYBE);
}

/* Looks at all loaded objects after something was loaded. `beginning`: see initialise_new_segments. Called under
 * init_lock. */
static void look_at_objects(unsigned long long loaded, const void *beginning)
{
    ps_store_seq(&uth_blocks.epoch, ps_load_relaxed(&uth_blocks.epoch) + 1);
    os_fence_all();
    ps_fence_seq();
    if (ps_load_relaxed(&uth_blocks.status) == UTH_BLOCKS_ON) {
        ps_spin_lock(&uth_blocks.lock);
        initialise_new_segments(ps_load_relaxed(&uth_tls_watch.seen) != 0, beginning, loaded);
        ps_spin_unlock(&uth_blocks.lock);
    }
    uth_stacks_look_again();
    look_for_askers();
    ps_store_release(&uth_tls_watch.seen, loaded);
    ps_store_release(&uth_blocks.epoch, ps_load_relaxed(&uth_blocks.epoch) + 1);
}

bool uth_tls_look_again(void)
{
    bool on = ps_load_acquire(&uth_blocks.status) == UTH_BLOCKS_ON; /* false: no block is initialised */
    if (PS_LIKELY(ps_load_acquire(&uth_blocks.epoch) % 2 == 0)) {
        if (PS_LIKELY(uth_tls_objects_same(ps_load_relaxed(&uth_tls_watch.seen))))
            return on;
        unsigned long long loaded = uth_tls_objects_loaded();
        if (loaded == 0 || (loaded == ps_load_relaxed(&uth_tls_watch.seen) && !uth_tls_objects_watched()))
            return on;
    }
    ps_spin_lock(&uth_blocks.init_lock);
    unsigned long long loaded = uth_tls_objects_loaded();
    if (loaded != ps_load_relaxed(&uth_tls_watch.seen) && loaded != 0)
        look_at_objects(loaded, NULL);
    if (loaded != 0)
        uth_tls_objects_watch(loaded);
    ps_spin_unlock(&uth_blocks.init_lock);
    return on;
}

void uth_tls_object_begins(const void *code)
{
    if (ps_load_acquire(&uth_blocks.status) == UTH_BLOCKS_UNKNOWN)
        return;
    int saved_errno = errno;
    ps_spin_lock(&uth_blocks.init_lock);
    unsigned long long loaded = uth_tls_objects_loaded();
    if (loaded != 0)
        look_at_objects(loaded, code);
    ps_spin_unlock(&uth_blocks.init_lock);
    errno = saved_errno;
}

/* --- a block is tried before any thread relies on it --- */

static __thread int probe = 12345;

/* Tries, in the block, what a thread needs. Returns NULL, or what does not work. Not inlined, so that the compiler
 * keeps no address that was computed from the caller's thread pointer. */
PS_NOINLINE static const char *try_inside(const struct uth_tls *tls, const void *stack, size_t bytes)
{
    pthread_mutex_t mutex;
    pthread_mutexattr_t recursive;
    pthread_attr_t attr;
    void *told = NULL, *volatile memory;
    size_t told_bytes = 0;
    if (cpu_get_tp() != tls->tp || (char *)pthread_self() != uth_tls_descriptor(tls))
        return "pthread_self() does not follow the thread pointer";
    if (probe != 12345 || errno != 0)
        return "thread-local variables do not have their initial values";
    probe = 1;
    errno = ERANGE;
    memory = malloc(100);
    if (memory == NULL) {
        uth_blocks.layout.refused_now = true;
        return "malloc does not work";
    }
    free(memory);
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    int error = pthread_mutex_init(&mutex, &recursive);
    error |= pthread_mutex_lock(&mutex);
    error |= pthread_mutex_lock(&mutex);
    error |= pthread_mutex_unlock(&mutex);
    error |= pthread_mutex_unlock(&mutex);
    if (error != 0)
        return "mutexes do not work";
    if (uth_blocks.numbered) /* the room that numbers blocks interposes pthread_getattr_np, which needs no test */
        return NULL;
    if (pthread_getattr_np(pthread_self(), &attr) != 0)
        return "pthread_getattr_np does not work";
    pthread_attr_getstack(&attr, &told, &told_bytes);
    pthread_attr_destroy(&attr);
    if (told != stack || told_bytes != bytes)
        return "pthread_getattr_np does not tell the stack";
    return NULL;
}

PS_NOINLINE static bool probe_is(int value) { return probe == value; }

static const char *try_block(void)
{
    char here[64];
    struct uth_tls *tls = uth_tls_make();
    uth_blocks.layout.refused_now = tls == NULL;
    if (tls == NULL)
        return "no memory for a block";
    void *own = cpu_get_tp();
    uth_tls_set_stack(tls, here, sizeof here);
    uth_tls_enter(tls, tls, os_thread_id());
    const char *why = try_inside(tls, here, sizeof here);
    uth_tls_end(tls);
    uth_tls_leave(own);
    if (why == NULL && !probe_is(12345))
        why = "thread-local variables of a block are not its own";
    uth_tls_put(tls);
    return why;
}

/* Returns why there can be no blocks; NULL: there can be. *refused, if a reason is returned: machine and program would
 * allow blocks, but making one failed. *sanitized: a sanitizer forbids them, and the program has thread-local variables
 * that threads will share. (If the sanitizer is linked into the program, its variables cannot be told from the
 * program's.) */
static const char *find_out(bool *refused, bool *sanitized)
{
    *refused = *sanitized = false;
    if (!cpu_tp_settable())
        return "this context port cannot set the thread pointer";
    static const char *const inits[] = {"__asan_init", "__tsan_init", "__lsan_init"};
    const void *init = NULL;
    for (unsigned i = 0; i < sizeof inits / sizeof inits[0] && init == NULL; i++)
        init = uth_tls_symbol(inits[i]);
    /* ours: this build has a sanitizer. Then its programs contain the runtime's variables, and need no warning. */
    const bool ours = PS_ASAN + PS_TSAN > 0;
    *sanitized = init != NULL && !ours && uth_tls_objects_of_program(init);
    if (init != NULL || ours)
        return "a sanitizer keeps its own state in the kernel thread's (psrun --ee pthreads gives each thread its own)";
    *refused = true;
    const char *why = uth_tls_find_layout(&uth_blocks.layout);
    return why != NULL ? why : try_block();
}

/* Calls find_out again while making a block fails, which may be for a moment only: UTH_TLS_TRIES times in all, or
 * START_TRIES times while the system refuses a kernel thread or memory. */
static const char *find_out_patiently(bool *refused, bool *sanitized)
{
    const char *why = find_out(refused, sanitized);
    for (int i = 1; why != NULL && *refused && i < (uth_blocks.layout.refused_now ? START_TRIES : UTH_TLS_TRIES); i++) {
        uth_tls_wait_ns((int64_t)UTH_TLS_MOMENT_NS << (i - 1));
        why = find_out(refused, sanitized);
    }
    return why;
}

bool uth_tls_init(enum uth_tls_mode mode, bool verbose)
{
    if (ps_load_acquire(&uth_blocks.status) != UTH_BLOCKS_UNKNOWN)
        return uth_tls_enabled();
    ps_spin_lock(&uth_blocks.init_lock);
    if (ps_load_relaxed(&uth_blocks.status) == UTH_BLOCKS_UNKNOWN) {
        int next = UTH_BLOCKS_OFF;
        ps_store_relaxed(&uth_tls_watch.seen, uth_tls_objects_loaded());
        uth_tls_objects_watch(ps_load_relaxed(&uth_tls_watch.seen));
        if (mode != UTH_TLS_NEVER) {
            num_segments = uth_tls_objects_static(segments, images_now, sizeof images_now);
            uth_tls_images_check(segments, num_segments);
            /* All blocks are made later, so these segments are never to be initialised again. Moreover a segment of
             * malloc's may be in use before its object begins. */
            for (unsigned i = 0; i < num_segments; i++)
                segments[i].right_when = FOR_EVER;
            bool refused, sanitized;
            const char *why = find_out_patiently(&refused, &sanitized);
            bool needed = mode == UTH_TLS_ALWAYS || uth_tls_objects_wanted();
            if (why == NULL)
                next = UTH_BLOCKS_ON;
            else if (verbose || mode == UTH_TLS_ALWAYS || sanitized ||
                     (refused && (needed || uth_blocks.layout.refused_now)))
                ps_warn("user-level threads share their kernel thread's thread-local storage: %s", why);
            ps_store_relaxed(&uth_tls_missing, why != NULL && needed && refused);
            if (why == NULL)
                look_for_askers();
        }
        ps_store_release(&uth_blocks.status, next);
    }
    ps_spin_unlock(&uth_blocks.init_lock);
    return uth_tls_enabled();
}
