/* kmp_ and kmpc_ routines: libomp's extensions, for C and, with an underscore, for Fortran (arguments by reference).
 *
 * The stack size has an effect only before the first region, as with libomp. The block time that kmp_set_blocktime sets
 * is kept for kmp_get_blocktime, and has no other effect. Masks are sets of processors. Outside of regions a thread may
 * bind its kernel thread by a mask. In a region it may not (-1), because members have no kernel thread of their own.
 * Memory is malloc's. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "env.h"
#include "kmpc.h"
#include "kmpc_env.h"
#include "os.h"
#include "place.h"

/* GET, DO and SET define the function kmp_<name> and its name for Fortran. SET also defines kmpc_<name>, for compilers
 * where Fortran has the kmp_ names. */
#define GET(type, name, value)                          \
    PS_EXPORT type kmp_##name(void) { return (value); } \
    KMPC_FORTRAN(kmp_##name)
#define DO(name, action)                          \
    PS_EXPORT void kmp_##name(void) { (action); } \
    KMPC_FORTRAN(kmp_##name)
#define SET(type, name, function)                                         \
    PS_EXPORT void kmp_##name(type value) { function(value); }            \
    PS_EXPORT void kmp_##name##_(const type *value) { function(*value); } \
    PS_EXPORT void kmpc_##name(type value) { function(value); }

/* --- settings --- */

size_t kmpc_stack_bytes(void)
{
    return ort_settings.stack_bytes != 0 ? ort_settings.stack_bytes : os_thread_default_stack();
}
static size_t stack_bytes_now(void)
{
    ort_env_ask();
    return kmpc_stack_bytes();
}
static void set_stack_bytes(size_t bytes)
{
    ort_env_ask();
    if (bytes != 0)
        ort_settings.stack_bytes = bytes;
}
static int stack_bytes_int(void) { return stack_bytes_now() > INT_MAX ? INT_MAX : (int)stack_bytes_now(); }

static void set_stack_bytes_int(int bytes) { set_stack_bytes(bytes > 0 ? (size_t)bytes : 0); }

GET(int, get_stacksize, stack_bytes_int());
GET(size_t, get_stacksize_s, stack_bytes_now());
SET(int, set_stacksize, set_stack_bytes_int)
SET(size_t, set_stacksize_s, set_stack_bytes)

static const struct kmpc_settings *settings_now(void)
{
    ort_env_ask();
    return &kmpc_settings;
}
static void set_blocktime(int ms)
{
    ort_env_ask();
    kmpc_settings.blocktime = (struct kmpc_time){.amount = ms < 0 ? 0 : ms};
}
GET(int, get_blocktime, settings_now()->blocktime.amount);
SET(int, set_blocktime, set_blocktime)

/* Sets the library's kind. Inside of a region the call is ignored. Serial gives the caller's teams one member, whatever
 * the program asks for. With the other kinds teams are as large as the environment says. Each call also sets the
 * caller's nthreads-var: to 1, or back to its first value. */
static void set_library(int kind)
{
    struct ort_thread *t = ort_self();
    if (kind < KMPC_SERIAL || kind > KMPC_THROUGHPUT || t->team->parent != NULL)
        return;
    struct ort_icv *icv = ort_icv_write(t);
    if (icv == NULL)
        return;
    kmpc_settings.library = (enum kmpc_library)kind;
    icv->nthreads = kind == KMPC_SERIAL ? 1 : ort_settings.initial.nthreads;
    icv->thread_limit = kind == KMPC_SERIAL ? 1 : ort_settings.initial.thread_limit;
}
GET(int, get_library, settings_now()->library);
SET(int, set_library, set_library)
DO(set_library_serial, set_library(KMPC_SERIAL));
DO(set_library_turnaround, set_library(KMPC_TURNAROUND));
DO(set_library_throughput, set_library(KMPC_THROUGHPUT));
DO(set_warnings_on, ps_warn_quiet = false);
DO(set_warnings_off, ps_warn_quiet = true);

/* Reads settings from a text ("KMP_BLOCKTIME=1|..."). Most cannot be changed any more, since the environment was read
 * when the library was loaded. */
static void set_defaults(const char *text)
{
    char *copy = text == NULL ? NULL : strdup(text), *rest = copy;
    ort_env_ask();
    for (char *one; copy != NULL && (one = strsep(&rest, "|")) != NULL;) {
        char *value = strchr(one, '=');
        if (value != NULL)
            *value++ = '\0';
        if (*one != '\0' && (value == NULL || !kmpc_set_default(one, value)) && !ps_warn_quiet)
            ps_warn("kmp_set_defaults(\"%s%s%s\") cannot be set now; using the environment instead", one,
                    value == NULL ? "" : "=", value == NULL ? "" : value);
    }
    free(copy);
}
PS_EXPORT void kmp_set_defaults(const char *text) { set_defaults(text); }
PS_EXPORT void kmp_set_defaults_(const char *text, PS_UNUSED size_t length) { set_defaults(text); }
PS_EXPORT void kmpc_set_defaults(const char *text) { set_defaults(text); }

/* Ignored: the ring of work-sharing constructs has a fixed size. */
static void set_num_buffers(PS_UNUSED int n) {}
SET(int, set_disp_num_buffers, set_num_buffers)

/* --- memory --- */

static void *aligned(size_t bytes, size_t alignment)
{
    void *p;
    if (alignment < sizeof(void *))
        alignment = sizeof(void *);
    return posix_memalign(&p, alignment, bytes) == 0 ? p : NULL;
}

#define MEMORY(prefix)                                                                                            \
    PS_EXPORT void *prefix##_malloc(size_t bytes) { return malloc(bytes); }                                       \
    PS_EXPORT void *prefix##_aligned_malloc(size_t bytes, size_t alignment) { return aligned(bytes, alignment); } \
    PS_EXPORT void *prefix##_calloc(size_t n, size_t bytes) { return calloc(n, bytes); }                          \
    PS_EXPORT void *prefix##_realloc(void *p, size_t bytes) { return realloc(p, bytes); }                         \
    PS_EXPORT void prefix##_free(void *p) { free(p); }
MEMORY(kmp)
MEMORY(kmpc)
PS_EXPORT void *kmp_malloc_(const size_t *bytes) { return malloc(*bytes); }
PS_EXPORT void *kmp_aligned_malloc_(const size_t *bytes, const size_t *alignment)
{
    return aligned(*bytes, *alignment);
}
PS_EXPORT void *kmp_calloc_(const size_t *n, const size_t *bytes) { return calloc(*n, *bytes); }
PS_EXPORT void *kmp_realloc_(void **p, const size_t *bytes) { return realloc(*p, *bytes); }
PS_EXPORT void kmp_free_(void **p) { free(*p); }

/* --- masks --- */

PS_EXPORT void kmp_create_affinity_mask(void **mask) { *mask = calloc(1, sizeof(struct os_cpuset)); }
KMPC_FORTRAN(kmp_create_affinity_mask);
PS_EXPORT void kmp_destroy_affinity_mask(void **mask)
{
    free(*mask);
    *mask = NULL;
}
KMPC_FORTRAN(kmp_destroy_affinity_mask);
static bool may_use(int cpu)
{
    struct os_cpuset all;
    os_affinity_at_start(&all);
    return cpu >= 0 && os_cpuset_has(&all, (unsigned)cpu);
}
static int max_proc(void) { return kmpc_settings.no_affinity ? 0 : (int)sysconf(_SC_NPROCESSORS_CONF); }
/* Adds the processor to a mask, or removes it. Returns 0; -1: no such processor, or masks are disabled; -2: the process
 * may not use it. */
static int change(int cpu, void **mask, bool on)
{
    if (cpu < 0 || cpu >= max_proc())
        return -1;
    if (!may_use(cpu))
        return -2;
    struct os_cpuset *set = *mask;
    if (on)
        set->bits[cpu / 64] |= UINT64_C(1) << cpu % 64;
    else
        set->bits[cpu / 64] &= ~(UINT64_C(1) << cpu % 64);
    return 0;
}
static int contains(int cpu, void **mask)
{
    return cpu < 0 || cpu >= max_proc() ? -1 : may_use(cpu) && os_cpuset_has(*mask, (unsigned)cpu);
}
/* Stores processors in *mask. For a root that the program has bound these are the processors to which it is bound; for
 * other callers, the processors of the caller's place, or without places all processors of the process. Returns 0; -1:
 * there are no masks. */
PS_EXPORT int kmp_get_affinity(void **mask)
{
    struct ort_thread *t = ort_self();
    const struct ort_places *list = ort_places();
    struct ort_place place;
    struct os_cpuset all, *to = *mask;
    if (kmpc_settings.no_affinity)
        return -1;
    os_affinity_at_start(&all);
    *to = all;
    if (t->team->parent == NULL && os_affinity_get(to) == 0 && memcmp(to, &all, sizeof all) != 0)
        return 0;
    if (list != NULL && !(kmpc_settings.reset && t->team->parent == NULL) && ort_place_of(t, &place)) {
        os_cpuset_zero(to);
        for (unsigned i = list->first[place.place]; i < list->first[place.place + 1]; i++)
            os_cpuset_add(to, list->cpu[i]);
    }
    return 0;
}
KMPC_FORTRAN(kmp_get_affinity);
PS_EXPORT int kmp_set_affinity(void **mask)
{
    if (kmpc_settings.no_affinity || mask == NULL || *mask == NULL || ort_self()->team->parent != NULL)
        return -1;
    return os_affinity_set(*mask);
}

KMPC_FORTRAN(kmp_set_affinity);
PS_EXPORT void kmp_set_thread_affinity_mask_initial(void)
{
    struct os_cpuset all;
    os_affinity_at_start(&all);
    os_affinity_set(&all);
}
GET(int, get_affinity_max_proc, max_proc());

#define MASK(name, call)                                             \
    PS_EXPORT int kmp_##name(int cpu, void **mask) { return call; }  \
    PS_EXPORT int kmpc_##name(int cpu, void **mask) { return call; } \
    PS_EXPORT int32_t kmp_##name##_(const int32_t *of, void **mask)  \
    {                                                                \
        int cpu = *of;                                               \
        return call;                                                 \
    }
MASK(set_affinity_mask_proc, change(cpu, mask, true))
MASK(unset_affinity_mask_proc, change(cpu, mask, false))
MASK(get_affinity_mask_proc, contains(cpu, mask))

/* --- for libomptarget and others --- */

/* Returns 0: disabled, 1: default, 2: mandatory. */
PS_EXPORT int __kmpc_get_target_offload(void)
{
    return ort_settings.offload == ORT_OFFLOAD_DISABLED ? 0 : ort_settings.offload == ORT_OFFLOAD_MANDATORY ? 2 : 1;
}
PS_EXPORT int __kmpc_pause_resource(int kind) { return kmpc_pause(kind); }

/* --- Fortran's names of libomp that libgomp has with other arguments, or not at all --- */

PS_EXPORT int kmpc_control_tool_(const int *command, const int *modifier, void *argument)
{
    struct ort_thread *t = ort_self();
    int result;
    ORT_TOOL_TRACED(t, result = ort_tool_control((uint64_t)*command, (uint64_t)*modifier, argument, ORT_CALLER),
                    result = ORT_TOOL_NONE);
    return result;
}
KMPC_AS(control_tool_);

/* Objects of interoperability come from devices other than the host. There are none, so each object is empty (-1) and
 * has no properties. */
#define EMPTY (-1)
#define INTEROP(type, name, nothing)                                                            \
    PS_EXPORT type name(PS_UNUSED const void *object, PS_UNUSED const int *property, int *code) \
    {                                                                                           \
        if (code != NULL)                                                                       \
            *code = EMPTY;                                                                      \
        return nothing;                                                                         \
    }
INTEROP(intptr_t, omp_get_interop_int_, 0)
INTEROP(void *, omp_get_interop_ptr_, NULL)
INTEROP(const char *, kmpc_get_interop_str_, NULL)
KMPC_AS(get_interop_str_);

#define NO_TEXT(name)                                                                                            \
    PS_EXPORT const char *kmpc_##name(PS_UNUSED const void *object, PS_UNUSED const int *which) { return NULL; } \
    KMPC_AS(name)
NO_TEXT(get_interop_name_);
NO_TEXT(get_interop_type_desc_);
NO_TEXT(get_interop_rc_desc_);
PS_EXPORT int omp_get_num_interop_properties_(PS_UNUSED const void *object) { return 0; }
