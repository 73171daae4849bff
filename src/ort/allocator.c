/* Memory allocators: traits, pools, fallbacks, on malloc.
 *
 * Does: what the traits alignment, pool_size, fallback and fb_data ask for. Takes note of sync_hint, access and partition, which change nothing
 * here: every allocator may be used by all threads. Does not: pin memory, know kinds of memory; allocators that ask for pinned or
 * high-bandwidth memory are refused (the null handle), as libgomp does without memkind.
 * Callers: any thread of the program, at any time. A predefined allocator is malloc with a header.
 *
 * Each piece has a header right before it, so that free knows all it needs whatever handle the program passes.
 *   struct allocator   written by ort_allocator_make, then read by all; but `used`: bytes of the pool that are given out, headers
 *                      and alignment included: compare-and-swap when taking, subtraction when giving back. Relaxed: it orders nothing.
 * Failures: what the fallback trait says: the default allocator, NULL, another allocator, or one line and abort().
 * Cost: malloc and 32 bytes; with a pool one compare-and-swap.
 * OpenMP 5.2 chapter 6, sections 18.13. */
#include "allocator.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "atomic.h"
#include "check.h"
#include "ort.h"
#include "os.h"

/* omp_alloctrait_key_t and omp_alloctrait_value_t. */
enum {
    KEY_SYNC_HINT = 1,
    KEY_ALIGNMENT,
    KEY_ACCESS,
    KEY_POOL_SIZE,
    KEY_FALLBACK,
    KEY_FB_DATA,
    KEY_PINNED,
    KEY_PARTITION
};
enum {
    FALSE_VALUE = 0,
    TRUE_VALUE = 1,
    CONTENDED = 3,
    PRIVATE = 6,
    ALL = 7,
    CGROUP = 10,
    DEFAULT_FB = 11,
    NULL_FB,
    ABORT_FB,
    ALLOCATOR_FB,
    ENVIRONMENT = 15,
    INTERLEAVED = 18
};
#define DEFAULT_VALUE UINTPTR_MAX

struct allocator {
    uintptr_t memspace;
    size_t alignment;
    uintptr_t pool_bytes; /* UINTPTR_MAX: no limit */
    _Atomic uintptr_t used;
    uintptr_t fb_data;
    uint8_t fallback;
};

struct header {
    void *base;          /* what malloc gave */
    size_t bytes;        /* of all, as the pool counts them */
    size_t usable;       /* that the program asked for */
    uintptr_t allocator; /* that gave it */
};

/* value, or fallback where it is the default; stays within [min, max], else *good is cleared. */
static uintptr_t among(uintptr_t value, uintptr_t min, uintptr_t max, uintptr_t fallback, bool *good)
{
    if (value == DEFAULT_VALUE)
        return fallback;
    *good &= value >= min && value <= max;
    return value;
}

static bool set_trait(struct allocator *a, const struct ort_alloctrait *trait, bool *pinned)
{
    bool good = true;
    uintptr_t value = trait->value;
    switch (trait->key) {
    case KEY_SYNC_HINT:
        among(value, CONTENDED, PRIVATE, CONTENDED, &good);
        break;
    case KEY_ALIGNMENT:
        a->alignment = value == DEFAULT_VALUE ? 1 : value;
        good = a->alignment != 0 && (a->alignment & (a->alignment - 1)) == 0;
        break;
    case KEY_ACCESS:
        among(value, ALL, CGROUP, ALL, &good);
        break;
    case KEY_POOL_SIZE:
        a->pool_bytes = value; /* the default value is no limit */
        break;
    case KEY_FALLBACK:
        a->fallback = (uint8_t)among(value, DEFAULT_FB, ALLOCATOR_FB, DEFAULT_FB, &good);
        break;
    case KEY_FB_DATA:
        a->fb_data = value;
        break;
    case KEY_PINNED:
        *pinned = among(value, FALSE_VALUE, TRUE_VALUE, FALSE_VALUE, &good) == TRUE_VALUE;
        break;
    case KEY_PARTITION:
        among(value, ENVIRONMENT, INTERLEAVED, ENVIRONMENT, &good);
        break;
    default:
        good = false;
    }
    return good;
}

uintptr_t ort_allocator_make(uintptr_t memspace, int num_traits, const struct ort_alloctrait *traits)
{
    bool pinned = false;
    if (memspace > ORT_MEMSPACE_LOW_LAT)
        return ORT_ALLOCATOR_NULL;
    struct allocator *a = malloc(sizeof *a);
    if (a == NULL)
        return ORT_ALLOCATOR_NULL;
    *a = (struct allocator){.memspace = memspace, .alignment = 1, .pool_bytes = UINTPTR_MAX, .fallback = DEFAULT_FB};
    bool good = true;
    for (int i = 0; i < num_traits; i++)
        good &= set_trait(a, &traits[i], &pinned);
    if (good && !pinned && memspace != ORT_MEMSPACE_HIGH_BW)
        return (uintptr_t)a;
    free(a);
    return ORT_ALLOCATOR_NULL;
}

/* NULL for the predefined ones. */
static struct allocator *allocator_of(uintptr_t handle)
{
    return handle > ORT_ALLOCATOR_PREDEFINED_MAX ? (struct allocator *)handle : NULL;
}

void ort_allocator_destroy(uintptr_t allocator) { free(allocator_of(allocator)); }

uintptr_t ort_allocator_default(void) { return ort_icv(ort_self())->default_allocator; }

void ort_allocator_set_default(uintptr_t allocator)
{
    struct ort_icv *icv = ort_icv_write(ort_self());
    if (icv != NULL)
        icv->default_allocator = allocator == ORT_ALLOCATOR_NULL ? ORT_ALLOCATOR_DEFAULT : allocator;
}

/* --- memory ---------------------------------------------------------------------------------------------------------------- */

/* Takes `bytes` out of the pool; false: it has not so many. */
static bool pool_take(struct allocator *a, size_t bytes)
{
    if (a == NULL || a->pool_bytes == UINTPTR_MAX)
        return true;
    uintptr_t used = ps_load_relaxed(&a->used), sum;
    do {
        if (__builtin_add_overflow(used, bytes, &sum) || sum > a->pool_bytes)
            return false;
    } while (!ps_cas_relaxed(&a->used, &used, sum));
    return true;
}

static void pool_give(struct allocator *a, size_t bytes)
{
    if (a != NULL && a->pool_bytes != UINTPTR_MAX)
        ps_sub_relaxed(&a->used, bytes);
}

/* One try from one allocator; NULL: it cannot. */
static void *take(size_t alignment, size_t bytes, uintptr_t handle, bool zeroed)
{
    struct allocator *a = allocator_of(handle);
    size_t all = sizeof(struct header) + (alignment > sizeof(void *) ? alignment - sizeof(void *) : 0);
    if (__builtin_add_overflow(all, bytes, &all) || !pool_take(a, all))
        return NULL;
    char *base = zeroed ? calloc(1, all) : malloc(all);
    if (base == NULL) {
        pool_give(a, all);
        return NULL;
    }
    uintptr_t at = (uintptr_t)base + sizeof(struct header);
    at = (at + alignment - 1) & ~(uintptr_t)(alignment - 1);
    struct header *h = (struct header *)at - 1;
    *h = (struct header){.base = base, .bytes = all, .usable = bytes, .allocator = handle};
    return (void *)at;
}

void *ort_alloc(size_t alignment, size_t bytes, uintptr_t allocator, bool zeroed)
{
    if (bytes == 0)
        return NULL;
    if (alignment < sizeof(void *))
        alignment = sizeof(void *);
    if (allocator == ORT_ALLOCATOR_NULL)
        allocator = ort_allocator_default();
    for (;;) {
        struct allocator *a = allocator_of(allocator);
        size_t strictest = a != NULL && a->alignment > alignment ? a->alignment : alignment;
        void *p = take(strictest, bytes, allocator, zeroed);
        if (p != NULL || a == NULL)
            return p;
        switch (a->fallback) {
        case DEFAULT_FB:
            allocator = ORT_ALLOCATOR_DEFAULT;
            break;
        case ALLOCATOR_FB:
            allocator = a->fb_data;
            if (allocator == ORT_ALLOCATOR_NULL)
                return NULL;
            break;
        case NULL_FB:
            return NULL;
        default:
            ps_fatal("no memory: an allocator with the abort_fb trait cannot give %zu bytes", bytes);
        }
    }
}

void ort_free(void *p)
{
    if (p == NULL)
        return;
    struct header *h = (struct header *)p - 1;
    pool_give(allocator_of(h->allocator), h->bytes);
    free(h->base);
}

/* In place of a move: malloc may be able to extend what it has. NULL: not possible. */
static void *try_extend(struct header *h, size_t bytes)
{
    struct allocator *a = allocator_of(h->allocator);
    size_t before = h->bytes, all;
    /* realloc keeps malloc's alignment only */
    if ((char *)(h + 1) != (char *)h->base + sizeof *h || (a != NULL && a->alignment > sizeof(void *)))
        return NULL;
    if (__builtin_add_overflow(bytes, sizeof *h, &all) || !pool_take(a, all > before ? all - before : 0))
        return NULL;
    struct header *moved = realloc(h->base, all);
    if (moved == NULL) {
        pool_give(a, all > before ? all - before : 0);
        return NULL;
    }
    pool_give(a, all < before ? before - all : 0);
    moved->base = moved;
    moved->bytes = all;
    moved->usable = bytes;
    return moved + 1;
}

void *ort_realloc(void *p, size_t bytes, uintptr_t allocator)
{
    if (p == NULL)
        return ort_alloc(1, bytes, allocator, false);
    if (bytes == 0) {
        ort_free(p);
        return NULL;
    }
    struct header *h = (struct header *)p - 1;
    if (allocator == ORT_ALLOCATOR_NULL)
        allocator = h->allocator;
    void *q = allocator == h->allocator ? try_extend(h, bytes) : NULL;
    if (q != NULL)
        return q;
    q = ort_alloc(1, bytes, allocator, false);
    if (q == NULL)
        return NULL;
    memcpy(q, p, bytes < h->usable ? bytes : h->usable);
    ort_free(p);
    return q;
}

/* --- OMP_ALLOCATOR --------------------------------------------------------------------------------------------------------- */

static const char *const names[] = {NULL,
                                    "omp_default_mem_alloc",
                                    "omp_large_cap_mem_alloc",
                                    "omp_const_mem_alloc",
                                    "omp_high_bw_mem_alloc",
                                    "omp_low_lat_mem_alloc",
                                    "omp_cgroup_mem_alloc",
                                    "omp_pteam_mem_alloc",
                                    "omp_thread_mem_alloc"};

const char *ort_allocator_name(uintptr_t allocator)
{
    return allocator <= ORT_ALLOCATOR_PREDEFINED_MAX ? names[allocator] : NULL;
}

void ort_allocator_env_read(void)
{
    const char *text = os_env("OMP_ALLOCATOR");
    if (text == NULL)
        return;
    const char *at = text;
    while (isspace((unsigned char)*at))
        at++;
    size_t length = strlen(at);
    while (length > 0 && isspace((unsigned char)at[length - 1]))
        length--;
    for (uintptr_t i = ORT_ALLOCATOR_DEFAULT; i <= ORT_ALLOCATOR_PREDEFINED_MAX; i++)
        if (strlen(names[i]) == length && strncasecmp(at, names[i], length) == 0) {
            ort_settings.initial.default_allocator = i;
            return;
        }
    ps_warn("OMP_ALLOCATOR=\"%s\" is not a predefined allocator's name; using %s instead", text,
            names[ORT_ALLOCATOR_DEFAULT]);
}
