/* Underlying threads: stacks made late, cached, shared in batches, given back; switching with the sanitizers told.
 *
 * Does not schedule and never waits, but for uth_saved_soon. The contract with its states is uth.h.
 *
 * A uth's descriptor lies at the top of its own stack: one mapping, one page touched, and an overflow, which runs away
 * downwards, cannot reach it. Stacks are a whole number of pages apart, so equal depths of all stacks would fall into
 * the same sets of the first-level cache. Therefore each top is lowered by a few lines, its colour.
 *
 * The way of a stack:   system -> cache of a vp <-> shared list <-> cache of another vp
 *                          ^------------------------------'
 * A cache is its owner's alone. Past UTH_CACHE_MAX stacks it gives a batch to the shared list; an empty one takes a
 * batch. The shared list is an array of slots, each empty or the first uth of a chain of up to UTH_BATCH:
 *   put   compare-and-swap NULL -> batch (release: the chain's links and stacks are written before)
 *   take  exchange -> NULL (acquire: pairs with it)
 * The vp that took a batch owns it. So there is no ABA, and no lock that a forked child could find held. All slots
 * full:
 * the stacks go back to the system. shared_batches is a hint only (relaxed): it saves the scan of an empty array.
 *
 * Memory: a stack that was used has touched pages. A cache keeps up to UTH_CACHE_MAX such stacks, to reuse them while
 * they are warm. A vp that is about to park calls uth_cache_trim, which gives all pages but the topmost of each stack
 * back to the system, on the shared list too.
 * Bounds: UTH_CACHE_MAX a vp plus UTH_SLOTS * UTH_BATCH shared; all others are unmapped. Once stacks are scarce
 * (uth_scarce) no cache keeps any: each that is not in use stands where every vp finds it.
 *
 * running: 1 from the switch to a uth until its context is saved again. The vp that switches to the uth writes 1
 * (relaxed: this vp owns the uth, and nobody looks before it is published again). uth_switched writes 0 (release). The
 * acquire in uth_saved_soon pairs with this: what ran before the save happens before what resumes it.
 *
 * Registry: a slot is taken by compare-and-swap (release: the uth is whole) and emptied by its owner (release) before
 * the stack is unmapped. `used` counts them roughly and is where the search for a free one begins. No lock here either.
 *
 * Cost: uth_get and uth_put a few loads and stores; batches one compare-and-swap each UTH_BATCH of them; fresh stacks
 * two system calls. Failure: no memory for a stack, NULL.
 * Rejected: a locked overflow list (a forked child could find the lock held); one list of single stacks (a shared line
 * at each put); descriptors from malloc (a second cache miss; and the program may replace malloc by one that runs on
 * these threads).
 * Papers: psthreads-2009 section 2.3 (recycling through local queues); nthlib-2004 section 2. */
#include "uth.h"

#include <limits.h>

#include "check.h"
#include "os.h"
#include "sanitizers.h"

#ifndef UTH_CACHE_MAX /* tests build with tiny ones */
#define UTH_CACHE_MAX 64
#define UTH_BATCH 32
#define UTH_SLOTS 64
#endif
#define SMALLEST_STACK ((size_t)64 * 1024)
#define COLOURS 16
#define COLOUR_STEP (2 * PS_CACHE_LINE)
/* Spins before uth_saved_soon gives up: a switch takes tens of cycles unless its vp lost its core. */
#define AWAIT_SPINS 200
#define ADD_BATCH 16

unsigned char uth_sanitizers;
static _Atomic size_t default_bytes;
static _Atomic(struct uth *) shared[UTH_SLOTS];
static _Atomic int shared_batches;
static _Atomic unsigned next_colour;
static _Atomic size_t mapped;                      /* stacks of the usual size */
static _Atomic unsigned cache_max = UTH_CACHE_MAX; /* 0 for good where stacks are scarce */

void uth_init(size_t default_stack_bytes)
{
    size_t page = os_page_size();
    san_find();
    if (default_stack_bytes < CPU_STACK_MIN)
        default_stack_bytes = CPU_STACK_MIN;
    if (ps_load_relaxed(&default_bytes) == 0 || ps_load_relaxed(&mapped) == 0)
        ps_store_relaxed(&default_bytes, (default_stack_bytes + page - 1) / page * page);
}

size_t uth_default_stack_bytes(void) { return ps_load_relaxed(&default_bytes); }

void uth_cache_init(struct uth_cache *cache) { *cache = (struct uth_cache){.stack_bytes = uth_default_stack_bytes()}; }

/* --- the registry: see uth.h --- */

struct uth_chunk uth_registry;

/* The chunk behind c, made at need; NULL: no memory. */
static struct uth_chunk *chunk_after(struct uth_chunk *c)
{
    struct uth_chunk *next = ps_load_acquire(&c->next), *none = NULL;
    if (next != NULL || (next = os_map(sizeof *next)) == NULL)
        return next;
    next->first = c->first + UTH_CHUNK_SLOTS;
    if (ps_cas_acq_rel(&c->next, &none, next))
        return next;
    os_unmap(next, sizeof *next);
    return none;
}

/* Where the search for a free slot begins: chunks before it were full when it came here, and a slot that becomes free
 * there moves it back. A hint. */
static _Atomic(struct uth_chunk *) not_full;

/* No place to be had: the stack is not seen from outside, and that is all. */
static void enlist(struct uth *u)
{
    struct uth_chunk *first = ps_load_acquire(&not_full);
    for (struct uth_chunk *c = first != NULL ? first : &uth_registry; c != NULL; c = chunk_after(c)) {
        uint32_t start = ps_load_relaxed(&c->used);
        for (uint32_t i = 0; start < UTH_CHUNK_SLOTS && i < UTH_CHUNK_SLOTS; i++) {
            uint32_t at = (start + i) % UTH_CHUNK_SLOTS;
            struct uth *none = NULL;
            if (ps_load_relaxed(&c->slot[at]) != NULL)
                continue;
            u->registered = c->first + at + 1;
            if (ps_cas_release(&c->slot[at], &none, u)) {
                ps_add_relaxed(&c->used, 1);
                if (c != first)
                    ps_store_release(&not_full, c);
                return;
            }
        }
    }
    u->registered = 0;
}

static void delist(struct uth *u)
{
    struct uth_chunk *c = &uth_registry;
    if (u->registered == 0)
        return;
    while (u->registered - 1 - c->first >= UTH_CHUNK_SLOTS)
        c = ps_load_acquire(&c->next);
    ps_store_release(&c->slot[u->registered - 1 - c->first], NULL);
    ps_sub_relaxed(&c->used, 1);
    struct uth_chunk *first = ps_load_acquire(&not_full);
    if (first != NULL && c->first < first->first)
        ps_store_release(&not_full, c);
}

/* --- stacks from and to the system --- */

static struct uth *make_uth(size_t stack_bytes)
{
    size_t usable, top_bytes;
    bool code = os_stacks_hold_code();
    unsigned char *stack = os_stack_map(stack_bytes, &usable);
    if (stack == NULL)
        return NULL;
    top_bytes = (ps_add_relaxed(&next_colour, 1) % COLOURS) * COLOUR_STEP;
    struct uth *u = (struct uth *)(((uintptr_t)stack + usable - top_bytes - sizeof *u) & -(uintptr_t)PS_CACHE_LINE);
    *u = (struct uth){
        .stack = stack,
        .stack_bytes = usable,
        .call_floor = (uintptr_t)stack + usable - usable / UTH_CALL_SHARE,
        .call_span = usable / UTH_CALL_SHARE,
    };
    san_stack_made(u);
    if (usable == uth_default_stack_bytes())
        ps_add_relaxed(&mapped, 1);
    enlist(u);
    ps_fence_seq();
    if (PS_UNLIKELY(os_stacks_hold_code() != code)) /* else uth_stacks_recheck sees it in the registry */
        os_stack_protect(u->stack, u->stack_bytes);
    return u;
}

/* Visitors that read the registry. A stack is taken out of it, then this is read; a visitor adds itself, then reads the
 * registry: one sees the other. */
static _Atomic uint32_t readers;

static void await_readers(void)
{
    ps_fence_seq();
    while (ps_load_acquire(&readers) != 0)
        os_yield();
}

static void unmake_uth(struct uth *u)
{
    delist(u);
    await_readers();
    if (u->stack_bytes == uth_default_stack_bytes())
        ps_sub_relaxed(&mapped, 1);
    cpu_context_fini(&u->ctx);
    san_stack_gone(u);
    os_stack_unmap(u->stack, u->stack_bytes);
}

/* os_stacks_look stores first; a stack is in the registry before its maker looks whether that has happened. */
void uth_stacks_recheck(void)
{
    if (PS_LIKELY(!os_stacks_look()))
        return;
    ps_add_seq(&readers, 1);
    ps_fence_seq();
    for (struct uth_chunk *c = &uth_registry; c != NULL; c = ps_load_acquire(&c->next))
        for (unsigned i = 0; i < UTH_CHUNK_SLOTS; i++) {
            struct uth *u = ps_load_acquire(&c->slot[i]);
            if (u != NULL && !(u->flags & UTH_ADOPTED))
                os_stack_protect(u->stack, u->stack_bytes);
        }
    ps_sub_seq(&readers, 1);
}

/* Bytes of the stack that a context may use: those below the descriptor. */
static size_t context_bytes(const struct uth *u) { return (size_t)((const char *)u - (const char *)u->stack); }

static void give_memory_back(struct uth *u)
{
    if (!u->used)
        return;
    /* The page of the descriptor stays, whole: contexts start there. */
    size_t page = os_page_size(), above = u->stack_bytes - context_bytes(u);
    cpu_context_fini(&u->ctx);
    u->used = false;
    os_stack_idle(u->stack, u->stack_bytes, (above + page - 1) / page * page);
}

/* --- the shared list --- */

static bool shared_put(struct uth *first, unsigned count)
{
    first->batch_count = count;
    for (unsigned i = 0; i < UTH_SLOTS; i++) {
        struct uth *none = NULL;
        if (ps_load_relaxed(&shared[i]) == NULL && ps_cas_release(&shared[i], &none, first)) {
            ps_add_relaxed(&shared_batches, 1);
            return true;
        }
    }
    return false;
}

static struct uth *take_slot(unsigned i)
{
    struct uth *first = NULL;
    if (ps_load_relaxed(&shared[i]) != NULL && (first = ps_xchg_acquire(&shared[i], NULL)) != NULL)
        ps_sub_relaxed(&shared_batches, 1);
    return first;
}

static struct uth *shared_take(void)
{
    struct uth *first = NULL;
    if (ps_load_relaxed(&shared_batches) > 0)
        for (unsigned i = 0; i < UTH_SLOTS && first == NULL; i++)
            first = take_slot(i);
    return first;
}

/* --- the cache --- */

static void push(struct uth_cache *cache, struct uth *u)
{
    u->next = cache->free;
    cache->free = u;
    cache->count++;
}

static struct uth *pop(struct uth_cache *cache)
{
    struct uth *u = cache->free;
    cache->free = u->next;
    cache->count--;
    return u;
}

/* Moves up to UTH_BATCH stacks to the shared list, or to the system where that is full. */
static void spill_stacks(struct uth_cache *cache, bool idle)
{
    struct uth *first = NULL;
    unsigned count = 0;
    for (; cache->count > 0 && count < UTH_BATCH; count++) {
        struct uth *u = pop(cache);
        if (idle)
            give_memory_back(u);
        u->next = first;
        first = u;
    }
    if (first != NULL && !shared_put(first, count))
        for (struct uth *u = first, *next; u != NULL; u = next) {
            next = u->next;
            unmake_uth(u);
        }
}

/* Where the system refuses stacks of the usual size: smaller ones, better than a thread that waits for others to end.
 * They are not cached (uth_put). */
static struct uth *make_smaller(size_t stack_bytes)
{
    static _Atomic uint32_t said;
    for (size_t bytes = stack_bytes / 4; bytes >= SMALLEST_STACK; bytes /= 4) {
        struct uth *u = make_uth(bytes);
        if (u != NULL) {
            if (!ps_xchg_acq_rel(&said, 1))
                ps_warn("no memory for a stack of %zu KiB (%s): using %zu KiB (said once)", stack_bytes / 1024,
                        os_memory_limit(stack_bytes), bytes / 1024);
            return u;
        }
    }
    return NULL;
}

PS_NOINLINE static bool refill_stacks(struct uth_cache *cache)
{
    struct uth *u = shared_take();
    if (u != NULL) {
        cache->count = u->batch_count;
        cache->free = u;
        if (PS_UNLIKELY(ps_load_relaxed(&cache_max) == 0) && cache->count > 1 &&
            shared_put(u->next, cache->count - 1)) {
            u->next = NULL;
            cache->count = 1;
        }
        return true;
    }
    u = make_uth(cache->stack_bytes);
    if (u == NULL)
        u = make_smaller(cache->stack_bytes);
    if (u != NULL)
        push(cache, u);
    return u != NULL;
}

struct uth *uth_get(struct uth_cache *cache)
{
    if (PS_UNLIKELY(cache->free == NULL) && !refill_stacks(cache))
        return NULL;
    return pop(cache);
}

struct uth *uth_get_sized(size_t stack_bytes)
{
    return make_uth(stack_bytes < CPU_STACK_MIN ? CPU_STACK_MIN : stack_bytes);
}

void uth_put(struct uth_cache *cache, struct uth *u)
{
    PS_ASSERT(ps_load_relaxed(&u->running) == 0 && !(u->flags & UTH_ADOPTED));
    u->vp = NULL;
    if (PS_UNLIKELY(u->stack_bytes != cache->stack_bytes)) {
        unmake_uth(u);
        return;
    }
    push(cache, u);
    if (PS_UNLIKELY(cache->count > ps_load_relaxed(&cache_max)))
        spill_stacks(cache, false);
}

void uth_add(size_t n)
{
    while (n > 0) {
        struct uth *first = NULL, *u;
        unsigned count = 0;
        for (; n > 0 && count < ADD_BATCH && (u = make_uth(uth_default_stack_bytes())) != NULL; count++, n--) {
            u->next = first;
            first = u;
        }
        if (first == NULL)
            return;
        if (shared_put(first, count))
            continue;
        for (struct uth *next; first != NULL; first = next) {
            next = first->next;
            unmake_uth(first);
        }
        return;
    }
}

size_t uth_mapped(void) { return ps_load_relaxed(&mapped); }
void uth_scarce(void) { ps_store_relaxed(&cache_max, 0); }

void uth_cache_trim(struct uth_cache *cache, unsigned keep)
{
    if (ps_load_relaxed(&cache_max) == 0)
        keep = 0;
    struct uth_cache rest = {.stack_bytes = cache->stack_bytes};
    if (cache->count > keep) {
        struct uth **last = &cache->free;
        for (unsigned i = 0; i < keep; i++)
            last = &(*last)->next;
        rest.free = *last;
        rest.count = cache->count - keep;
        cache->count = keep;
        *last = NULL;
        while (rest.count > 0)
            spill_stacks(&rest, true);
    }
    for (unsigned i = 0; i < UTH_SLOTS && ps_load_relaxed(&shared_batches) > 0; i++) {
        struct uth *first = take_slot(i);
        if (first == NULL)
            continue;
        for (struct uth *u = first; u != NULL; u = u->next)
            give_memory_back(u);
        if (!shared_put(first, first->batch_count)) {
            /* Others filled every slot meanwhile: the cache keeps this batch, and it will come round again. */
            struct uth *last = first;
            while (last->next != NULL)
                last = last->next;
            last->next = cache->free;
            cache->free = first;
            cache->count += first->batch_count;
        }
    }
}

void uth_cache_drain(struct uth_cache *cache)
{
    while (cache->count > 0)
        unmake_uth(pop(cache));
    cache->free = NULL;
    for (struct uth *u = shared_take(), *next; u != NULL; u = next != NULL ? next : shared_take()) {
        next = u->next;
        unmake_uth(u);
    }
}

/* --- contexts --- */

int uth_start(struct uth *u, cpu_entry_fn *entry, void *arg)
{
    PS_ASSERT(ps_load_relaxed(&u->running) == 0);
    u->used = true;
    san_context_starts(u);
    return cpu_context_init(&u->ctx, u->stack, context_bytes(u), entry, arg);
}

int uth_adopt(struct uth *u)
{
    *u = (struct uth){.flags = UTH_ADOPTED};
    ps_store_relaxed(&u->running, 1);
    return cpu_context_adopt(&u->ctx);
}

void uth_release(struct uth *u)
{
    PS_ASSERT(u->flags & UTH_ADOPTED);
    cpu_context_fini(&u->ctx);
    u->tls = NULL; /* nothing is saved here for a visitor to find */
    ps_store_release(&u->running, 0);
}

/* --- visits: directed.h says what for --- */

/* A vp that continues a context stores `running`, then reads `visited`. The visitor stores `visited`, makes a fence for
 * all kernel threads, and reads `running`: one sees the other. */
bool uth_visit(struct uth *u, const struct uth_tls *tls)
{
    struct uth_tls *volatile *block = &u->tls; /* of a context that runs its owner's to write */
    if (ps_load_acquire(&u->running) != 0 || *block != tls)
        return false;
    ps_store_seq(&u->visited, 1);
    if (os_fence_all() && ps_load_acquire(&u->running) == 0 && *block == tls)
        return true;
    uth_visited(u);
    return false;
}

struct uth *uth_visit_any(const struct uth_tls *tls)
{
    struct uth *found = NULL;
    ps_add_seq(&readers, 1);
    ps_fence_seq();
    for (struct uth_chunk *c = &uth_registry; c != NULL && found == NULL; c = ps_load_acquire(&c->next))
        for (unsigned i = 0; i < UTH_CHUNK_SLOTS && found == NULL; i++) {
            struct uth *u = ps_load_acquire(&c->slot[i]);
            if (u != NULL && uth_visit(u, tls))
                found = u;
        }
    ps_sub_seq(&readers, 1);
    return found;
}

void uth_visited(struct uth *u)
{
    ps_store_seq(&u->visited, 0);
    os_wake(&u->visited, INT_MAX);
}

void uth_await_visitor(struct uth *u)
{
    while (ps_load_acquire(&u->visited) != 0)
        os_park(&u->visited, 1, OS_FOREVER);
}

bool uth_saved_soon_slow(struct uth *u)
{
    for (unsigned spins = 0; spins < AWAIT_SPINS; spins++) {
        if (ps_load_acquire(&u->running_or_visited) == 0)
            return true;
        cpu_pause();
    }
    return false;
}
