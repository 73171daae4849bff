/* LLVM entry points: the calling thread's number, and the clauses that compiled code passes in calls of their own.
 *
 * A bitmap under a lock has the numbers that are taken. A thread takes the lowest free number when its storage is made,
 * and returns it when the storage is freed. So numbers stay small, however many threads come and go. Failures: without
 * memory, even in the core's emergency pool, the program ends with one line. */
#include <limits.h>
#include <string.h>

#include "display.h"
#include "emergency_pool.h"
#include "env.h"
#include "kmpc.h"
#include "kmpc_env.h"
#include "own_lock.h"

ORT_OWN_LOCK(numbers_lock)
static uint64_t *taken;
static size_t words;

static int32_t take_number(void)
{
    ort_own_lock(&numbers_lock);
    size_t w = 0;
    while (w < words && taken[w] == UINT64_MAX)
        w++;
    if (w == words) {
        size_t more = words == 0 ? 16 : 2 * words;
        uint64_t *larger = ort_mem_zeroed(more * sizeof *taken);
        PS_CHECK(larger != NULL, "no memory for the numbers of %zu threads", more * 64);
        if (words > 0)
            memcpy(larger, taken, words * sizeof *taken);
        ort_mem_free(taken);
        taken = larger;
        words = more;
    }
    unsigned bit = (unsigned)__builtin_ctzll(~taken[w]);
    taken[w] |= UINT64_C(1) << bit;
    ort_own_unlock(&numbers_lock);
    return (int32_t)(w * 64 + bit);
}

static void give_back(struct ort_local *local)
{
    struct kmpc_thread *k = (struct kmpc_thread *)(void *)local;
    kmpc_threadprivate_free(k->copies);
    ort_mem_free(k->inner_threads);
    ort_own_lock(&numbers_lock);
    taken[k->number / 64] &= ~(UINT64_C(1) << (k->number % 64));
    ort_own_unlock(&numbers_lock);
    ort_mem_free(k);
}

void kmpc_asked_as_libomp(void)
{
    if (ps_load_relaxed(&ort_display_as_libomp) || ps_xchg_acq_rel(&ort_display_as_libomp, true))
        return;
    ort_env_ask();
    ort_env_read_late();
    kmpc_env_read_late();
    if (kmpc_settings.show)
        kmpc_settings_show();
    if (ort_display_env_otherwise != NULL && ort_display_env_wish != ORT_DISPLAY_NOTHING)
        kmpc_display_env(ort_display_env_wish == ORT_DISPLAY_VERBOSE);
}

PS_NOINLINE struct kmpc_thread *kmpc_thread_make(struct ort_thread *t)
{
    struct kmpc_thread *k = ort_mem_zeroed(sizeof *k);
    PS_CHECK(k != NULL, "no memory for what compiled code wants of a thread");
    k->local.free = give_back;
    k->number = take_number();
    kmpc_asked_as_libomp();
    k->bind = ORT_BIND_UNSET;
    t->local = &k->local;
    return k;
}

/* Stores in t the number (gtid) of the thread that has t's state (kmpc_carrier), and returns it. Neither that thread
 * nor its number changes while t exists. */
PS_NOINLINE int32_t kmpc_number_make(struct ort_thread *t)
{
    int32_t number = kmpc_thread(t)->number;
    t->number = (uint32_t)number + 1;
    return number;
}

void kmpc_fatal(const struct kmpc_location *where, const char *entry, const char *what)
{
    ps_fatal("%s: %s (source %s)", entry, what, where != NULL && where->source != NULL ? where->source : "unknown");
}

/* --- the calling thread --- */

static PS_NOINLINE int32_t number_of_new(void) { return kmpc_number(ort_self()); }
PS_EXPORT int32_t __kmpc_global_thread_num(PS_UNUSED struct kmpc_location *where)
{
    struct ort_thread *t = ee_local_inline();
    if (PS_UNLIKELY(t == NULL) || PS_UNLIKELY(t->number == 0))
        return number_of_new();
    return (int32_t)t->number - 1;
}
PS_EXPORT int32_t __kmpc_bound_thread_num(PS_UNUSED struct kmpc_location *where) { return (int32_t)ort_self()->id; }
PS_EXPORT int32_t __kmpc_bound_num_threads(PS_UNUSED struct kmpc_location *where)
{
    return (int32_t)ort_self()->team->n;
}
PS_EXPORT int32_t __kmpc_in_parallel(PS_UNUSED struct kmpc_location *where)
{
    return ort_self()->team->active_level > 0;
}
PS_EXPORT int32_t __kmpc_ok_to_fork(PS_UNUSED struct kmpc_location *where) { return 1; }

static int32_t count_numbers(void)
{
    int32_t n = 0;
    ort_own_lock(&numbers_lock);
    for (size_t w = 0; w < words; w++)
        n += __builtin_popcountll(taken[w]);
    ort_own_unlock(&numbers_lock);
    return n > 0 ? n : 1;
}
PS_EXPORT int32_t __kmpc_global_num_threads(PS_UNUSED struct kmpc_location *where) { return count_numbers(); }
PS_EXPORT int kmp_get_num_known_threads(void) { return count_numbers(); }
KMPC_FORTRAN(kmp_get_num_known_threads);

PS_EXPORT void __kmpc_begin(PS_UNUSED struct kmpc_location *where, PS_UNUSED int32_t flags) { ort_self(); }
PS_EXPORT void __kmpc_end(PS_UNUSED struct kmpc_location *where) {}

/* --- clauses of the next construct --- */

/* As in the omp_ routines, less than one thread counts as one. */
static unsigned threads(int32_t n) { return n > 0 ? (unsigned)n : 1; }

PS_EXPORT void __kmpc_push_num_threads(PS_UNUSED struct kmpc_location *where, PS_UNUSED int32_t gtid, int32_t n)
{
    kmpc_thread(ort_self())->num_threads = threads(n);
}

/* num_threads(strict: n). If there cannot be n threads, severity 1 warns, and 2 ends the program
 * (kmpc_check_strict). */
PS_EXPORT void __kmpc_push_num_threads_strict(struct kmpc_location *where, PS_UNUSED int32_t gtid, int32_t n,
                                              int severity, const char *message)
{
    struct kmpc_thread *k = kmpc_thread(ort_self());
    k->num_threads = threads(n);
    k->strict.severity = severity == 2 ? 2 : 1;
    k->strict.message =
        message != NULL ? message : "the region cannot have the threads that its strict num_threads clause asks for";
    k->strict.source = where != NULL && where->source != NULL ? where->source : "unknown";
}

void kmpc_check_strict(struct kmpc_thread *k, unsigned wanted)
{
    int severity = k->strict.severity;
    k->strict.severity = 0;
    if (severity == 0 || kmpc_settings.library == KMPC_SERIAL || ort_parallel_size_now(ort_self(), wanted) >= wanted)
        return;
    if (severity == 2)
        ps_fatal("%s (source %s)", k->strict.message, k->strict.source);
    ps_warn("%s (source %s)", k->strict.message, k->strict.source);
}

/* Keeps a list's numbers after the first; they are for the inner levels (parallel.c). */
static void set_inner_threads(struct kmpc_thread *k, uint32_t length, const int32_t *list)
{
    ort_mem_free(k->inner_threads);
    k->inner_threads = length > 1 ? ort_mem_get((length - 1) * sizeof *k->inner_threads) : NULL;
    k->n_inner = length - 1;
    for (uint32_t i = 1; k->inner_threads != NULL && i < length; i++)
        k->inner_threads[i - 1] = threads(list[i]);
}

PS_EXPORT void __kmpc_push_num_threads_list(struct kmpc_location *where, PS_UNUSED int32_t gtid, uint32_t length,
                                            const int32_t *list)
{
    if (length > 0 && list == NULL)
        kmpc_fatal(where, "__kmpc_push_num_threads_list", "the list is a null pointer");
    if (length == 0)
        return;
    struct kmpc_thread *k = kmpc_thread(ort_self());
    k->num_threads = threads(list[0]);
    set_inner_threads(k, length, list);
}

PS_EXPORT void __kmpc_push_num_threads_list_strict(struct kmpc_location *where, int32_t gtid, uint32_t length,
                                                   const int32_t *list, int severity, const char *message)
{
    if (length > 0)
        KMPC_NOT_NULL(where, list, "the list");
    __kmpc_push_num_threads_list(where, gtid, length, list);
    if (length > 0)
        __kmpc_push_num_threads_strict(where, gtid, list[0], severity, message);
}

PS_EXPORT void __kmpc_pop_num_threads(PS_UNUSED struct kmpc_location *where, PS_UNUSED int32_t gtid) {}

/* The numbers are those of omp_proc_bind_t; clang has a second one (5) for primary. Other numbers mean the default. */
PS_EXPORT void __kmpc_push_proc_bind(PS_UNUSED struct kmpc_location *where, PS_UNUSED int32_t gtid, int bind)
{
    if (bind == 5)
        bind = ORT_BIND_PRIMARY;
    if (bind >= ORT_BIND_FALSE && bind <= ORT_BIND_SPREAD)
        kmpc_thread(ort_self())->bind = bind;
}

PS_EXPORT void __kmpc_push_num_teams(PS_UNUSED struct kmpc_location *where, PS_UNUSED int32_t gtid, int32_t teams,
                                     int32_t limit)
{
    struct kmpc_thread *k = kmpc_thread(ort_self());
    k->num_teams = teams > 0 ? (unsigned)teams : 0;
    k->thread_limit = limit > 0 ? (unsigned)limit : 0;
}

PS_EXPORT void __kmpc_push_num_teams_51(struct kmpc_location *where, PS_UNUSED int32_t gtid, int32_t lower,
                                        int32_t upper, int32_t limit)
{
    if (lower > upper)
        kmpc_fatal(where, "__kmpc_push_num_teams_51", "num_teams has a lower bound above its upper bound");
    struct kmpc_thread *k = kmpc_thread(ort_self());
    /* Without bounds the ICVs decide. With two bounds any number between them is allowed; the core makes as many teams
     * as it is asked for. */
    k->num_teams = upper > 0 ? (unsigned)upper : 0;
    k->thread_limit = limit > 0 ? (unsigned)limit : 0;
}

PS_EXPORT void __kmpc_set_thread_limit(PS_UNUSED struct kmpc_location *where, PS_UNUSED int32_t gtid, int32_t limit)
{
    struct ort_icv *icv = limit > 0 ? ort_icv_write(ort_self()) : NULL;
    if (icv != NULL)
        icv->thread_limit = (unsigned)limit;
}
