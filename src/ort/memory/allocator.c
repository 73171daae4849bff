/* Memory allocators: traits, pools, fallbacks, on malloc and on pages of their own.
 *
 * Does: the traits alignment, pool_size, fallback, fb_data, pinned and partition. (partition "blocked" means what the
 * system does by itself.) Accepts sync_hint and access, which change nothing: all threads may use every allocator.
 * Pages of the high-bandwidth space are placed on the memory nodes that have it. Does not: know other kinds of memory;
 * the other spaces are the system's memory. A predefined allocator is malloc with a header, except for the pinned and
 * the high-bandwidth one.
 * Callers: any thread of the program, at any time.
 *
 * Pinned memory, and memory on chosen nodes, are whole pages from the system, one map for each piece. malloc's memory
 * cannot be locked: pieces share pages, and unlocking one piece would unlock its neighbours. Partition and
 * high-bandwidth space are wishes: the kernel may place pages elsewhere. If no node has such memory, or those nodes are
 * full, the piece is the system's memory, and the fallback trait has no effect, as in libgomp 13 and libmemkind. (The
 * kernel chooses a page's node when the page is touched. If all nodes that it may choose were full, it would end the
 * program.)
 *
 * Each piece has a header right before it, so that ort_free needs no handle. A struct allocator is written by
 * ort_allocator_make, then read by all. Exception: `used`, the bytes of the pool that are given out, with headers and
 * alignment. Taking is a compare-and-swap, giving back a subtraction; both are relaxed, since they order nothing.
 * Failures: no memory, or no more memory may be locked (RLIMIT_MEMLOCK). Then the fallback trait decides: the default
 * allocator, NULL, another allocator, or one line and abort(). Cost: malloc and 32 bytes; with a pool one
 * compare-and-swap. OpenMP 5.2 chapter 6, sections 18.13. */
#include "allocator.h"

#include <stdlib.h>
#include <string.h>

#include "atomic.h"
#include "check.h"
#include "ort.h"
#include "os.h"

enum partition { PARTITION_AS_SYSTEM, PARTITION_INTERLEAVED, PARTITION_NEAREST };

struct allocator {
    size_t alignment;
    uintptr_t pool_bytes; /* most bytes that `used` may have; UINTPTR_MAX: no limit */
    _Atomic uintptr_t used;
    uintptr_t fb_data;
    uint8_t fallback;
    bool pinned, high_bandwidth;
    enum partition partition;
};
/* The predefined allocators that are more than malloc. */
static struct allocator pinned = {
    .alignment = 1, .pool_bytes = UINTPTR_MAX, .fallback = ORT_TRAIT_NULL_FB, .pinned = true};
static struct allocator high_bandwidth = {
    .alignment = 1, .pool_bytes = UINTPTR_MAX, .fallback = ORT_TRAIT_DEFAULT_FB, .high_bandwidth = true};

struct header {
    void *base;                             /* the start of the memory, as malloc or os_map returned it */
    size_t bytes;                           /* size of that memory, which the pool counts */
    size_t usable : sizeof(size_t) * 8 - 1; /* bytes that the program asked for */
    size_t pages : 1;                       /* 1: base is a map of its own; 0: base is from malloc */
    uintptr_t allocator;                    /* handle of the allocator that gave the piece */
};

/* Returns value; if it is ORT_TRAIT_DEFAULT, returns fallback. Clears *good if value is neither this nor in [min,
 * max]. */
static uintptr_t among(uintptr_t value, uintptr_t min, uintptr_t max, uintptr_t fallback, bool *good)
{
    if (value == ORT_TRAIT_DEFAULT)
        return fallback;
    *good &= value >= min && value <= max;
    return value;
}

static bool set_trait(struct allocator *a, const struct ort_alloctrait *trait)
{
    bool good = true;
    uintptr_t value = trait->value;
    switch (trait->key) {
    case ORT_TRAIT_SYNC_HINT:
        among(value, ORT_TRAIT_CONTENDED, ORT_TRAIT_PRIVATE, ORT_TRAIT_CONTENDED, &good);
        break;
    case ORT_TRAIT_ALIGNMENT:
        a->alignment = value == ORT_TRAIT_DEFAULT ? 1 : value;
        good = a->alignment != 0 && (a->alignment & (a->alignment - 1)) == 0;
        break;
    case ORT_TRAIT_ACCESS:
        among(value, ORT_TRAIT_ALL, ORT_TRAIT_CGROUP, ORT_TRAIT_ALL, &good);
        break;
    case ORT_TRAIT_POOL_SIZE:
        a->pool_bytes = value; /* ORT_TRAIT_DEFAULT is UINTPTR_MAX: no limit */
        break;
    case ORT_TRAIT_FALLBACK:
        a->fallback = (uint8_t)among(value, ORT_TRAIT_DEFAULT_FB, ORT_TRAIT_ALLOCATOR_FB, ORT_TRAIT_DEFAULT_FB, &good);
        break;
    case ORT_TRAIT_FB_DATA:
        a->fb_data = value;
        break;
    case ORT_TRAIT_PINNED:
        a->pinned = among(value, ORT_TRAIT_FALSE, ORT_TRAIT_TRUE, ORT_TRAIT_FALSE, &good) == ORT_TRAIT_TRUE;
        break;
    case ORT_TRAIT_PARTITION:
        value = among(value, ORT_TRAIT_ENVIRONMENT, ORT_TRAIT_INTERLEAVED, ORT_TRAIT_ENVIRONMENT, &good);
        a->partition = value == ORT_TRAIT_INTERLEAVED ? PARTITION_INTERLEAVED
                       : value == ORT_TRAIT_NEAREST   ? PARTITION_NEAREST
                                                      : PARTITION_AS_SYSTEM;
        break;
    default:
        good = false;
    }
    return good;
}

uintptr_t ort_allocator_make(uintptr_t memspace, int num_traits, const struct ort_alloctrait *traits)
{
    if (memspace == ORT_MEMSPACE_LLVM_DEFAULT || memspace == ORT_MEMSPACE_CGROUP)
        memspace = ORT_MEMSPACE_DEFAULT;
    if (memspace > ORT_MEMSPACE_LOW_LAT && memspace != ORT_MEMSPACE_MANAGED)
        return ORT_ALLOCATOR_NULL;
    struct allocator *a = malloc(sizeof *a);
    if (a == NULL)
        return ORT_ALLOCATOR_NULL;
    *a = (struct allocator){.alignment = 1, .pool_bytes = UINTPTR_MAX, .fallback = ORT_TRAIT_DEFAULT_FB};
    a->high_bandwidth = memspace == ORT_MEMSPACE_HIGH_BW;
    bool good = true;
    for (int i = 0; i < num_traits; i++)
        good &= set_trait(a, &traits[i]);
    if (good)
        return (uintptr_t)a;
    free(a);
    return ORT_ALLOCATOR_NULL;
}

/* Returns the allocator with this handle; NULL: it is plain malloc. */
static struct allocator *allocator_of(uintptr_t handle)
{
    if (handle > ORT_ALLOCATOR_RESERVED_MAX)
        return (struct allocator *)handle;
    return handle == ORT_ALLOCATOR_PINNED ? &pinned : handle == ORT_ALLOCATOR_HIGH_BW ? &high_bandwidth : NULL;
}

void ort_allocator_destroy(uintptr_t allocator)
{
    if (allocator > ORT_ALLOCATOR_RESERVED_MAX)
        free(allocator_of(allocator));
}

uintptr_t ort_allocator_default(void) { return ort_icv(ort_self())->default_allocator; }

void ort_allocator_set_default(uintptr_t allocator)
{
    struct ort_icv *icv = ort_icv_write(ort_self());
    if (icv != NULL)
        icv->default_allocator = allocator == ORT_ALLOCATOR_NULL ? ORT_ALLOCATOR_DEFAULT : allocator;
}

/* --- memory --- */

/* Takes `bytes` out of the pool. Returns false if the pool has not as many left. */
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

static bool chooses_nodes(const struct allocator *a)
{
    return a->partition != PARTITION_AS_SYSTEM || (a->high_bandwidth && os_memory_high_bandwidth());
}

/* Returns whether a piece gets a map of its own: if it is pinned, or if nodes are chosen and it has at least a page. */
static bool is_of_pages(const struct allocator *a, size_t bytes)
{
    return a != NULL && (a->pinned || (bytes >= os_page_size() && chooses_nodes(a)));
}

static void *take_pages(const struct allocator *a, size_t bytes)
{
    void *p = os_map(bytes);
    if (p != NULL && chooses_nodes(a)) /* before os_memory_lock, which touches the pages */
        os_memory_place(p, bytes, a->partition == PARTITION_INTERLEAVED, a->high_bandwidth);
    if (p != NULL && a->pinned && os_memory_lock(p, bytes) != 0) {
        os_unmap(p, bytes);
        return NULL;
    }
    return p;
}

/* Tries one allocator, without its fallback. Returns NULL if it cannot give the memory. */
static void *take_from_allocator(size_t alignment, size_t bytes, uintptr_t handle, bool zeroed)
{
    struct allocator *a = allocator_of(handle);
    size_t all = sizeof(struct header) + (alignment > sizeof(void *) ? alignment - sizeof(void *) : 0);
    if (__builtin_add_overflow(all, bytes, &all) || !pool_take(a, all))
        return NULL;
    bool pages = is_of_pages(a, all);
    char *base = PS_UNLIKELY(pages) ? take_pages(a, all) : zeroed ? calloc(1, all) : malloc(all);
    if (base == NULL) {
        pool_give(a, all);
        return NULL;
    }
    uintptr_t at = (uintptr_t)base + sizeof(struct header);
    at = (at + alignment - 1) & ~(uintptr_t)(alignment - 1);
    struct header *h = (struct header *)at - 1;
    *h = (struct header){.base = base, .bytes = all, .usable = bytes, .pages = pages, .allocator = handle};
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
        void *p = take_from_allocator(strictest, bytes, allocator, zeroed);
        if (p != NULL || a == NULL)
            return p;
        switch (a->fallback) {
        case ORT_TRAIT_DEFAULT_FB:
            allocator = ORT_ALLOCATOR_DEFAULT;
            break;
        case ORT_TRAIT_ALLOCATOR_FB:
            allocator = a->fb_data;
            if (allocator == ORT_ALLOCATOR_NULL)
                return NULL;
            break;
        case ORT_TRAIT_NULL_FB:
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
    if (PS_UNLIKELY(h->pages))
        os_unmap(h->base, h->bytes);
    else
        free(h->base);
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
    /* If old and new block are of one pool, the pool needs room only for the difference, although both blocks exist for
     * a moment. So the old block is not counted while the new one is taken. */
    struct allocator *pool = allocator == h->allocator ? allocator_of(allocator) : NULL;
    pool_give(pool, h->bytes);
    void *q = ort_alloc(1, bytes, allocator, false);
    pool_give(pool, 0 - h->bytes);
    if (q == NULL)
        return NULL;
    memcpy(q, p, bytes < h->usable ? bytes : h->usable);
    ort_free(p);
    return q;
}
