/* See threads_peers.h. All libraries are called through the same pointers: a call costs each the same. */
#include "threads_peers.h"

#include "psthread.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void need(int error, const char *what)
{
    if (error) {
        fprintf(stderr, "threads_table: %s: error %d\n", what, error);
        exit(1);
    }
}

/* --- psthreads --- */

static void ps_start(unsigned workers)
{
    psthread_config_t config = {.num_vps = workers};
    need(psthread_init(&config), "psthread_init");
}
static void *ps_create(thread_fn *fn, void *arg)
{
    psthread_t t;
    need(psthread_create(&t, NULL, fn, arg), "psthread_create");
    need(psthread_enqueue(t, PSTHREAD_VP_ANY), "psthread_enqueue");
    return t;
}
static void *ps_spawn(thread_fn *fn, void *arg)
{
    psthread_t t;
    need(psthread_spawn(&t, NULL, fn, arg), "psthread_spawn");
    return t;
}
static void ps_join(void *thread) { need(psthread_join(thread, NULL), "psthread_join"); }
static void *ps_barrier_make(unsigned count)
{
    psthread_barrier_t b;
    need(psthread_barrier_init(&b, count), "psthread_barrier_init");
    return b;
}
static void ps_barrier_wait(void *barrier, unsigned id) { psthread_barrier_wait(barrier, id); }
static void ps_barrier_free(void *barrier) { need(psthread_barrier_destroy(barrier), "psthread_barrier_destroy"); }

/* --- massivethreads --- */

static struct {
    void *(*create)(thread_fn *fn, void *arg);
    int (*join)(void *thread, void **result);
    void (*yield)(void);
    int (*barrier_init)(void *barrier, const void *attr, unsigned count);
    int (*barrier_wait)(void *barrier);
    int (*barrier_destroy)(void *barrier);
    int (*init)(void);
} myth;
enum { MYTH_OBJECT_BYTES = 1024 }; /* its barrier is smaller */

static void myth_start(unsigned workers)
{
    char number[16];
    snprintf(number, sizeof number, "%u", workers);
    setenv("MYTH_NUM_WORKERS", number, 1);
    myth.init();
}
static void myth_wait(void *thread) { need(myth.join(thread, NULL), "myth_join"); }
static void *myth_barrier_make(unsigned count)
{
    void *b = calloc(1, MYTH_OBJECT_BYTES);
    need(!b || myth.barrier_init(b, NULL, count), "myth_barrier_init");
    return b;
}
static void myth_barrier_meet(void *barrier, unsigned id)
{
    (void)id;
    myth.barrier_wait(barrier);
}
static void myth_barrier_free(void *barrier)
{
    myth.barrier_destroy(barrier);
    free(barrier);
}

/* --- Argobots: a pool for each execution stream, which take from each other's (its random work-stealing) --- */

enum { ABT_MOST_STREAMS = 64, ABT_SCHED_RANDWS = 3, ABT_POOL_RANDWS = 2, ABT_POOL_ACCESS_MPMC = 4 };
static struct {
    int (*init)(int argc, char **argv);
    int (*pool_create_basic)(int kind, int access, int automatic, void **pool);
    int (*xstream_self)(void **stream);
    int (*xstream_set_main_sched_basic)(void *stream, int predef, int num_pools, void **pools);
    int (*xstream_create_basic)(int predef, int num_pools, void **pools, void *config, void **stream);
    int (*self_get_last_pool)(void **pool);
    int (*thread_attr_create)(void **attr);
    int (*thread_create)(void *pool, thread_fn *fn, void *arg, void *attr, void **thread);
    int (*thread_free)(void **thread);
    int (*thread_yield)(void);
    int (*barrier_create)(uint32_t count, void **barrier);
    int (*barrier_wait)(void *barrier);
    int (*barrier_free)(void **barrier);
} abt;
static void *abt_attr;

static void *nothing(void *arg) { return arg; }

static void *abt_make(thread_fn *fn, void *arg)
{
    void *t, *pool;
    abt.self_get_last_pool(&pool);
    need(abt.thread_create(pool, fn, arg, abt_attr, &t), "ABT_thread_create");
    return t;
}
static void abt_wait(void *thread) { need(abt.thread_free(&thread), "ABT_thread_free"); }

static void abt_start(unsigned workers)
{
    void *pool[ABT_MOST_STREAMS], *mine[ABT_MOST_STREAMS], *stream, *thread, *no_config;
    need(workers > ABT_MOST_STREAMS, "too many streams for Argobots");
    need(abt.init(0, NULL), "ABT_init");
    need(abt.thread_attr_create(&abt_attr), "ABT_thread_attr_create");
    /* Its null handles are 0 or small numbers, as it was configured: a freed thread's tells. */
    thread = abt_make(nothing, NULL);
    need(abt.thread_free(&thread), "ABT_thread_free");
    no_config = thread ? (void *)0x04 : NULL; // NOLINT(performance-no-int-to-ptr)
    for (unsigned i = 0; i < workers; i++)
        need(abt.pool_create_basic(ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, 1, &pool[i]), "ABT_pool_create_basic");
    for (unsigned i = 0; i < workers; i++) {
        for (unsigned k = 0; k < workers; k++)
            mine[k] = pool[(i + k) % workers];
        if (i == 0) {
            need(abt.xstream_self(&stream), "ABT_xstream_self");
            need(abt.xstream_set_main_sched_basic(stream, ABT_SCHED_RANDWS, (int)workers, mine),
                 "ABT_xstream_set_main_sched_basic");
        } else {
            need(abt.xstream_create_basic(ABT_SCHED_RANDWS, (int)workers, mine, no_config, &stream),
                 "ABT_xstream_create_basic");
        }
    }
}
static void abt_yield(void) { abt.thread_yield(); }
static void *abt_barrier_make(unsigned count)
{
    void *b;
    need(abt.barrier_create(count, &b), "ABT_barrier_create");
    return b;
}
static void abt_barrier_meet(void *barrier, unsigned id)
{
    (void)id;
    abt.barrier_wait(barrier);
}
static void abt_barrier_free(void *barrier) { abt.barrier_free(&barrier); }

/* --- opening --- */

struct symbol {
    const char *name;
    void *to;
};

static int find(const char *library, const struct symbol *wanted, unsigned n)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    if (!handle) {
        fprintf(stderr, "threads_table: %s\n", dlerror());
        return 0;
    }
    for (unsigned i = 0; i < n; i++) {
        void *symbol = dlsym(handle, wanted[i].name);
        if (!symbol) {
            fprintf(stderr, "threads_table: %s has no %s\n", library, wanted[i].name);
            return 0;
        }
        memcpy(wanted[i].to, &symbol, sizeof symbol);
    }
    return 1;
}

const struct threads *threads_open(const char *what)
{
    static const struct symbol of_myth[] = {
        {"myth_create", &myth.create},
        {"myth_join", &myth.join},
        {"myth_yield", &myth.yield},
        {"myth_barrier_init", &myth.barrier_init},
        {"myth_init", &myth.init},
        {"myth_barrier_wait", &myth.barrier_wait},
        {"myth_barrier_destroy", &myth.barrier_destroy},
    };
    static const struct symbol of_abt[] = {
        {"ABT_init", &abt.init},
        {"ABT_pool_create_basic", &abt.pool_create_basic},
        {"ABT_xstream_self", &abt.xstream_self},
        {"ABT_xstream_set_main_sched_basic", &abt.xstream_set_main_sched_basic},
        {"ABT_xstream_create_basic", &abt.xstream_create_basic},
        {"ABT_self_get_last_pool", &abt.self_get_last_pool},
        {"ABT_thread_attr_create", &abt.thread_attr_create},
        {"ABT_thread_create", &abt.thread_create},
        {"ABT_thread_free", &abt.thread_free},
        {"ABT_thread_yield", &abt.thread_yield},
        {"ABT_barrier_create", &abt.barrier_create},
        {"ABT_barrier_wait", &abt.barrier_wait},
        {"ABT_barrier_free", &abt.barrier_free},
    };
    static const struct threads ours = {ps_start,        ps_create,       ps_join,        psthread_yield,
                                        ps_barrier_make, ps_barrier_wait, ps_barrier_free};
    static const struct threads ours_spawned = {ps_start,        ps_spawn,        ps_join,        psthread_yield,
                                                ps_barrier_make, ps_barrier_wait, ps_barrier_free};
    static struct threads theirs;
    if (strcmp(what, "psthreads") == 0)
        return &ours;
    if (strcmp(what, "psthreads-spawn") == 0)
        return &ours_spawned;
    if (strncmp(what, "massivethreads=", 15) == 0) {
        if (!find(what + 15, of_myth, sizeof of_myth / sizeof of_myth[0]))
            return NULL;
        theirs = (struct threads){myth_start,        myth.create,       myth_wait,        myth.yield,
                                  myth_barrier_make, myth_barrier_meet, myth_barrier_free};
        return &theirs;
    }
    if (strncmp(what, "argobots=", 9) == 0) {
        if (!find(what + 9, of_abt, sizeof of_abt / sizeof of_abt[0]))
            return NULL;
        theirs = (struct threads){abt_start,        abt_make,         abt_wait,        abt_yield,
                                  abt_barrier_make, abt_barrier_meet, abt_barrier_free};
        return &theirs;
    }
    fprintf(stderr, "threads_table: %s: want psthreads, psthreads-spawn, massivethreads=LIBRARY or argobots=LIBRARY\n",
            what);
    return NULL;
}
