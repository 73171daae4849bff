/* Underlying threads (uths): their stacks are made when first needed, cached, shared in batches and given back.
 *
 * Does not schedule. Waits only for short steps of other kernel threads: for a context that is being saved, for a
 * visitor, for readers of the registry. The contract with its states is uth.h.
 *
 * A uth's descriptor lies at the top of its own stack: one mapping, one page touched. An overflow runs away from it.
 *
 * The way of a stack:
 *   system -> magazine of a vp <-> depot <-> magazine of another vp (magazine.h)
 *      ^---------------------------'
 * There are two depots: `warm` for stacks whose pages were touched, `idle` for stacks whose memory the system has back
 * (except the topmost pages). A vp that is about to park makes its own stacks, except a few, and the warm ones idle
 * (uth_cache_trim). An owner that ends leaves a few stacks in `left` for later owners (uth_cache_leave). At most two
 * batches a vp, UTH_SHARED_MAX in both depots, and those in `left` are kept; all others are unmapped. Once stacks are
 * scarce (uth_scarce), caches keep none: each unused stack is in a depot, where every vp finds it.
 *
 * running: 1 from the switch to a uth until its context is saved again. The vp that switches to the uth writes 1
 * (relaxed: this vp owns the uth). uth_switched writes 0 (release), and the acquire in uth_saved_soon pairs with it:
 * what ran before the save happens before what resumes the uth.
 *
 * Cost: uth_get and uth_put a few loads and stores; a depot's lock each UTH_BATCH of them; a fresh stack two or three
 * system calls. Failure: no memory for a stack, NULL. Rejected: one list of single stacks (a shared line at each put).
 * Descriptors from malloc (a second cache miss, and the program's own malloc may run on these threads). Papers:
 * psthreads-2009 section 2.3 (recycling through local queues); nthlib-2004 section 2. */
#include "uth.h"

#include <limits.h>

#include "check.h"
#include "free_slots.h"
#include "os.h"
#include "sanitizers.h"

#ifndef UTH_BATCH /* tests are built with tiny values */
#define UTH_BATCH 32
#define UTH_SHARED_MAX 2048
#endif
#define LEFT_BYTES ((size_t)64 * 1024) /* how much of each stack in `left` stays in memory */
#define SMALLEST_STACK ((size_t)64 * 1024)
#define COLOURS 16
#define COLOUR_STEP (2 * PS_CACHE_LINE)
/* Spins before uth_saved_soon gives up: a switch takes tens of cycles unless its vp lost its core. */
#define AWAIT_SPINS 200

unsigned char uth_sanitizers;
static _Atomic size_t default_bytes;
static struct ps_depot warm, idle;
static struct ps_free_slots left;
static _Atomic unsigned next_colour;
static _Atomic size_t mapped; /* number of stacks of the default size that exist */
static _Atomic bool scarce;   /* never cleared */

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

/* A maker of a uth puts it into a slot by compare-and-swap (release: the uth is whole). Its owner empties the slot
 * (release) before the stack is unmapped. `used` counts taken slots roughly; the search for a free slot begins at the
 * slot with this number. There is no lock. */
struct uth_chunk uth_registry;

/* Returns the chunk behind c, and makes it if there is none. NULL: no memory. */
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

/* A hint: the chunk at which the search for a free slot begins. Chunks before it were full when it was set; a slot that
 * becomes free in one of them moves the hint back. */
static _Atomic(struct uth_chunk *) not_full;

/* Puts u into the registry. If there is no memory for a slot, u->registered is 0: then debuggers, reports and visitors
 * do not find u. */
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
    /* Stacks are whole numbers of pages apart, so the same depth of all stacks would fall into the same set of the
     * first-level cache. Therefore each top is lowered by a few lines: its colour. */
    top_bytes = (ps_add_relaxed(&next_colour, 1) % COLOURS) * COLOUR_STEP;
    struct uth *u = (struct uth *)(((uintptr_t)stack + usable - top_bytes - sizeof *u) & -(uintptr_t)PS_CACHE_LINE);
    *u = (struct uth){
        .stack = stack,
        .stack_bytes = usable,
        .call_floor = (uintptr_t)stack + usable - usable / UTH_CALL_SHARE,
        .call_span = usable / UTH_CALL_SHARE,
    };
    uth_areas_at(u, (uintptr_t)stack, usable);
    san_stack_made(u);
    if (usable == uth_default_stack_bytes())
        ps_add_relaxed(&mapped, 1);
    enlist(u);
    ps_fence_seq();
    /* If os_stacks_hold_code answers differently later, uth_stacks_look_again finds this stack in the registry. */
    if (PS_UNLIKELY(os_stacks_hold_code() != code))
        os_stack_protect(u->stack, u->stack_bytes);
    return u;
}

/* Number of kernel threads that read the registry now. A stack is taken out of the registry, then `readers` is read
 * (await_readers). A reader adds itself, then reads the registry. Between the two steps each has a seq_cst fence, so
 * one of the two sees the other, and no stack is unmapped while a reader looks at it. */
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

/* No registered stack is missed: os_stacks_look stores its answer, then this function reads the registry. make_uth puts
 * a stack into the registry, then reads that answer. */
void uth_stacks_look_again(void)
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

/* Returns how many bytes of the stack a context may use: those below the descriptor. */
static size_t context_bytes(const struct uth *u) { return (size_t)((const char *)u - (const char *)u->stack); }

static void give_memory_back(struct uth *u)
{
    if (!u->used)
        return;
    /* The pages with the descriptor stay in memory: contexts start there. */
    size_t page = os_page_size(), above = u->stack_bytes - context_bytes(u);
    cpu_context_fini(&u->ctx);
    u->used = false;
    os_stack_idle(u->stack, u->stack_bytes, (above + page - 1) / page * page);
}

/* --- the cache --- */

static struct uth *uth_of(struct ps_piece *piece) { return PS_CONTAINER_OF(piece, struct uth, piece); }

static size_t count_shared(void) { return ps_depot_count(&warm, UTH_BATCH) + ps_depot_count(&idle, UTH_BATCH); }

/* Gives the stack to the depot, or to the system if both depots together have UTH_SHARED_MAX stacks. */
static void share_stack(struct uth *u, struct ps_depot *depot)
{
    if (count_shared() < UTH_SHARED_MAX)
        ps_depot_give(depot, &u->piece, UTH_BATCH);
    else
        unmake_uth(u);
}

static void share_idle(struct uth *u)
{
    give_memory_back(u);
    share_stack(u, &idle);
}

static struct uth *take_shared(void)
{
    struct ps_piece *piece = ps_depot_take(&warm, UTH_BATCH);
    if (piece == NULL)
        piece = ps_depot_take(&idle, UTH_BATCH);
    return piece != NULL ? uth_of(piece) : NULL;
}

/* Makes a smaller stack when the system refuses one of the usual size; otherwise the thread would have to wait until
 * others end. Smaller stacks are not cached (uth_put). NULL: no memory. */
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

/* Gets a stack from `left`, the depots or the system. If the depots have less than a batch, or stacks are scarce, the
 * owner takes one stack from them, otherwise a batch. So several owners that come at the same time each get some. NULL:
 * no memory. */
PS_NOINLINE static struct uth *get_from_elsewhere(struct uth_cache *cache)
{
    struct uth *u = ps_free_slots_take(&left);
    if (u == NULL && (ps_load_relaxed(&scarce) || count_shared() < UTH_BATCH))
        u = take_shared();
    if (u != NULL)
        return u;
    if (ps_magazine_refill(&cache->stacks, &warm, UTH_BATCH) || ps_magazine_refill(&cache->stacks, &idle, UTH_BATCH))
        return uth_of(ps_magazine_pop(&cache->stacks));
    u = make_uth(cache->stack_bytes);
    return u != NULL ? u : make_smaller(cache->stack_bytes);
}

struct uth *uth_get(struct uth_cache *cache)
{
    if (PS_UNLIKELY(cache->stacks.free == NULL))
        return get_from_elsewhere(cache);
    return uth_of(ps_magazine_pop(&cache->stacks));
}

struct uth *uth_get_sized(size_t stack_bytes)
{
    return make_uth(stack_bytes < CPU_STACK_MIN ? CPU_STACK_MIN : stack_bytes);
}

/* The slow part of uth_put, when the cache is full or stacks are scarce. */
PS_NOINLINE static void put_elsewhere(struct uth_cache *cache, struct uth *u)
{
    if (ps_load_relaxed(&scarce)) {
        share_stack(u, &warm);
        while (cache->stacks.free != NULL)
            share_stack(uth_of(ps_magazine_pop(&cache->stacks)), &warm);
    } else if (count_shared() + UTH_BATCH > UTH_SHARED_MAX) {
        unmake_uth(u);
    } else if (ps_magazine_push(&cache->stacks, &u->piece, UTH_BATCH)) {
        ps_magazine_spill(&cache->stacks, &warm, UTH_BATCH);
    }
}

void uth_put(struct uth_cache *cache, struct uth *u)
{
    PS_ASSERT(ps_load_relaxed(&u->running) == 0 && !(u->flags & UTH_ADOPTED));
    u->vp = NULL;
    if (PS_UNLIKELY(u->stack_bytes != cache->stack_bytes)) {
        unmake_uth(u);
        return;
    }
    if (PS_UNLIKELY(cache->stacks.n == 2 * UTH_BATCH - 1) || PS_UNLIKELY(ps_load_relaxed(&scarce)))
        put_elsewhere(cache, u);
    else
        ps_magazine_push(&cache->stacks, &u->piece, UTH_BATCH);
}

void uth_add(size_t n)
{
    for (struct uth *u; n > 0 && count_shared() < UTH_SHARED_MAX && (u = make_uth(uth_default_stack_bytes())) != NULL;
         n--)
        ps_depot_give(&idle, &u->piece, UTH_BATCH);
}

size_t uth_mapped(void) { return ps_load_relaxed(&mapped); }
void uth_scarce(void) { ps_store_relaxed(&scarce, true); }

void uth_cache_trim(struct uth_cache *cache, unsigned keep)
{
    struct ps_magazine rest = cache->stacks;
    cache->stacks = (struct ps_magazine){0};
    for (keep = ps_load_relaxed(&scarce) ? 0 : keep; keep > 0 && rest.free != NULL; keep--)
        ps_magazine_push(&cache->stacks, ps_magazine_pop(&rest), UTH_BATCH);
    while (rest.free != NULL)
        share_idle(uth_of(ps_magazine_pop(&rest)));
    for (struct ps_piece *piece; (piece = ps_depot_take(&warm, UTH_BATCH)) != NULL;)
        share_idle(uth_of(piece));
    for (struct uth *u; (u = ps_free_slots_take(&left)) != NULL;)
        share_idle(u);
}

/* The owner's kernel thread, a root's or a vp's, ends. Of each stack that it leaves, the pages near the top, up to
 * LEFT_BYTES, stay in memory until a vp parks. */
void uth_cache_leave(struct uth_cache *cache)
{
    while (cache->stacks.free != NULL) {
        struct uth *u = uth_of(ps_magazine_pop(&cache->stacks));
        cpu_context_fini(&u->ctx);
        if (u->used)
            os_stack_idle(u->stack, u->stack_bytes, LEFT_BYTES);
        if (!ps_free_slots_put(&left, u))
            unmake_uth(u);
    }
    for (struct uth *u; count_shared() > PS_FREE_SLOTS && (u = take_shared()) != NULL;)
        unmake_uth(u);
}

void uth_cache_drain(struct uth_cache *cache)
{
    while (cache->stacks.free != NULL)
        unmake_uth(uth_of(ps_magazine_pop(&cache->stacks)));
    for (struct uth *u; (u = ps_free_slots_take(&left)) != NULL || (u = take_shared()) != NULL;)
        unmake_uth(u);
}

void uth_after_fork_in_child(void)
{
    while (ps_free_slots_take(&left) != NULL) /* these stacks are lost: see free_slots.h */
        ps_sub_relaxed(&mapped, 1);
    ps_sub_relaxed(&mapped, count_shared());
    ps_depot_forget(&warm);
    ps_depot_forget(&idle);
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
    u->tls = NULL; /* no context is saved here that a visitor could find */
    ps_store_release(&u->running, 0);
}

/* --- visits: identity/thread_signal.h says what they are for --- */

/* A vp that continues a context stores `running`, then reads `visited`. The visitor stores `visited`, makes a fence in
 * all kernel threads, and reads `running`. So one of the two sees the other. */
bool uth_visit(struct uth *u, const struct uth_tls *tls)
{
    struct uth_tls *volatile *block = &u->tls; /* volatile: while the context runs, its owner may write this field */
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
