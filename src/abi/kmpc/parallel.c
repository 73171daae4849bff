/* LLVM entry points: parallel and teams regions.
 *
 * __kmpc_fork_call gets the outlined function's arguments as a variable list of pointers. It copies them to an array,
 * normally on the caller's stack, which lives until the region ends. Each member calls the function with these
 * arguments (kmpc_invoke). */
#include <stdlib.h>

#include "emergency_pool.h"
#include "kmpc.h"
#include "kmpc_env.h"

/* Compilers rarely pass more arguments. For more the array is allocated. */
#define ARGS_ON_STACK 64

struct region {
    kmpc_microtask fn; /* must be first: ort_common_fn requires it, so that tools and debuggers find it */
    int argc;
    void **args;
    const void *caller;
    void *frame;
};

static void run_microtask(void *data)
{
    const struct region *r = data;
    struct ort_thread *t = ort_self_inline();
    int32_t gtid = kmpc_number(t), tid = (int32_t)t->id;
    if (PS_UNLIKELY(ort_tool_on())) /* the tool gets the frame from which the program's code is called */
        kmpc_invoke_traced(r->fn, &gtid, &tid, r->argc, r->args, &ort_tool_task(t->task)->frame.exit.ptr);
    else
        kmpc_invoke(r->fn, &gtid, &tid, r->argc, r->args);
}

__attribute__((constructor)) static void tell_common_fn(void) { ort_common_fn = run_microtask; }

/* Runs a region whose num_threads clause has a list. During the region the list's numbers after the first are
 * nthreads-var's elements for the inner levels. */
static void with_inner_threads(struct kmpc_thread *k, const struct ort_parallel *p)
{
    unsigned *list = k->inner_threads;
    struct ort_icv *icv = ort_icv_write(ort_self());
    k->inner_threads = NULL;
    if (icv != NULL) {
        const struct ort_icv before = *icv;
        icv->nthreads_list = list;
        icv->nthreads_rest = k->n_inner;
        ort_parallel(p);
        icv = ort_icv_write(ort_self());
        if (icv != NULL) {
            icv->nthreads_list = before.nthreads_list;
            icv->nthreads_rest = before.nthreads_rest;
        }
    } else {
        ort_parallel(p);
    }
    ort_mem_free(list);
}

static PS_COLD PS_NOINLINE void with_rare_clauses(struct kmpc_thread *k, const struct ort_parallel *p)
{
    kmpc_check_strict(k, p->num_threads);
    if (k->inner_threads != NULL)
        with_inner_threads(k, p);
    else
        ort_parallel(p);
}

static void open_region(struct region *r)
{
    struct kmpc_thread *k = kmpc_thread(ort_self_inline());
    if (PS_UNLIKELY(ps_load_relaxed(&kmpc_paused)))
        ps_store_relaxed(&kmpc_paused, false);
    struct ort_parallel p = {.fn = run_microtask,
                             .data = r,
                             .num_threads = k->num_threads,
                             .bind = (enum ort_bind)k->bind,
                             .caller = r->caller,
                             .frame = r->frame};
    k->num_threads = 0;
    k->bind = ORT_BIND_UNSET;
    if (PS_UNLIKELY((k->inner_threads != NULL) | (k->strict.severity != 0)))
        with_rare_clauses(k, &p);
    else
        ort_parallel(&p);
}

static void teams(struct region *r)
{
    struct kmpc_thread *k = kmpc_thread(ort_self());
    unsigned n = k->num_teams, limit = k->thread_limit;
    k->num_teams = 0;
    k->thread_limit = 0;
    if (n == 0)
        n = ort_settings.num_teams != 0 ? ort_settings.num_teams : 1;
    if (PS_UNLIKELY(kmpc_settings.teams_threads != 0)) {
        unsigned each = kmpc_settings.teams_threads > n ? kmpc_settings.teams_threads / n : 1;
        limit = limit == 0 ? ort_settings.teams_thread_limit : limit;
        limit = limit == 0 || limit > each ? each : limit;
    }
    if (PS_UNLIKELY(kmpc_settings.library == KMPC_SERIAL))
        n = limit = 1;
    struct ort_parallel p = {.fn = run_microtask,
                             .data = r,
                             .num_threads = n,
                             .bind = ORT_BIND_UNSET,
                             .caller = r->caller,
                             .frame = r->frame};
    ort_league(&p, limit);
}

static PS_ALWAYS_INLINE void with_arguments(int argc, kmpc_microtask fn, va_list list, void (*go)(struct region *))
{
    void *few[ARGS_ON_STACK];
    struct region r = {.fn = fn, .argc = argc, .args = few, .caller = ORT_CALLER, .frame = ORT_FRAME};
    if (PS_UNLIKELY(argc > ARGS_ON_STACK)) {
        r.args = ort_mem_get((size_t)argc * sizeof *r.args);
        PS_CHECK(r.args != NULL, "no memory for the %d arguments of a region", argc);
    }
    for (int i = 0; i < argc; i++)
        r.args[i] = va_arg(list, void *);
    go(&r);
    if (r.args != few)
        ort_mem_free(r.args);
}

PS_EXPORT void __kmpc_fork_call(struct kmpc_location *where, int32_t argc, kmpc_microtask fn, ...)
{
    KMPC_NOT_NULL(where, fn, "the region's function");
    va_list list;
    va_start(list, fn);
    with_arguments(argc, fn, list, open_region);
    va_end(list);
}

/* For a parallel construct with an if clause. The region's function has one argument, or none (argument is NULL). If
 * the condition is false, the region has one thread. */
PS_EXPORT void __kmpc_fork_call_if(struct kmpc_location *where, int32_t argc, kmpc_microtask fn, int32_t condition,
                                   void *argument)
{
    KMPC_NOT_NULL(where, fn, "the region's function");
    struct region r = {
        .fn = fn, .argc = argument == NULL ? 0 : argc, .args = &argument, .caller = ORT_CALLER, .frame = ORT_FRAME};
    if (!condition) {
        struct kmpc_thread *k = kmpc_thread(ort_self());
        k->num_threads = 1;
        k->strict.severity = 0;
    }
    open_region(&r);
}

PS_EXPORT void __kmpc_fork_teams(struct kmpc_location *where, int32_t argc, kmpc_microtask fn, ...)
{
    KMPC_NOT_NULL(where, fn, "the region's function");
    va_list list;
    va_start(list, fn);
    ORT_TOOL_CALL(ort_self(), with_arguments(argc, fn, list, teams));
    va_end(list);
}

/* --- a region of one thread: compiled code calls the region's function itself --- */

/* Called when a region of one thread has begun, if its num_threads clause has a list. The list's next number becomes
 * nthreads-var for the inner level. The other numbers are dropped. */
static PS_COLD PS_NOINLINE void serialized_inner_threads(struct kmpc_thread *k)
{
    struct ort_icv *icv = ort_icv_write(ort_self());
    if (icv != NULL)
        icv->nthreads = k->inner_threads[0];
    ort_mem_free(k->inner_threads);
    k->inner_threads = NULL;
}

PS_EXPORT void __kmpc_serialized_parallel(PS_UNUSED struct kmpc_location *where, PS_UNUSED int32_t gtid)
{
    struct kmpc_thread *k = kmpc_thread(ort_self());
    struct ort_parallel p = {
        .num_threads = 1, .bind = (enum ort_bind)k->bind, .caller = ORT_CALLER, .frame = ORT_FRAME};
    k->num_threads = 0;
    k->strict.severity = 0;
    k->bind = ORT_BIND_UNSET;
    ort_parallel_start(&p);
    if (PS_UNLIKELY(k->inner_threads != NULL))
        serialized_inner_threads(k);
}

PS_EXPORT void __kmpc_end_serialized_parallel(PS_UNUSED struct kmpc_location *where, PS_UNUSED int32_t gtid)
{
    ort_parallel_end();
}
