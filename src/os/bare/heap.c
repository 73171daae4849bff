/* Memory blocks without an operating system: an arena in each cluster's memory, and one in main memory for malloc.
 *
 * A block's head has the size of the block before it and its own size, with a bit that says whether the block is in
 * use. Free blocks are in lists, by the power of two of their size. An allocation takes the first block that fits, from
 * the list of its size on; the rest becomes a free block. A freed block is joined with free neighbours. An arena lies
 * in the memory that it manages, and has a lock of its own: the cores of one cluster do not wait for those of another.
 *
 * Callers: any core. A core may free a block that another core allocated. Failures: NULL. A free compares the heads of
 * the block and of the block behind it. If these contradict each other, the program has passed no block, or has
 * overwritten it: the program ends with one line. Cost: a lock and a look at some lists.
 * The board's functions serve the runtime: memory of the caller's cluster first, then main memory. The functions with
 * the C library's names use main memory alone. */
#include "board.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "atomic.h"
#include "check.h"

#define UNIT BOARD_BLOCK_UNIT
#define BINS 28u
#define USED 1u

struct block {       /* the head is the 8 bytes before what the caller gets */
    uint32_t before; /* size of the block before; 0: there is none */
    uint32_t bytes;  /* size of this block with its head; plus USED while it is in use */
    struct block *next, *previous;
};
#define HEAD 8u

struct arena {
    _Atomic uint32_t lock;
    uint32_t used, most; /* bytes in blocks that are in use: now, and at most so far */
    uint32_t filled;     /* bit i: bins[i] is not empty */
    struct block *bins[BINS];
};

static struct arena *main_arena;
static BOARD_LOCAL struct arena *own_arena;

static void lock_arena(struct arena *a)
{
    while (ps_xchg_acquire(&a->lock, 1) != 0)
        while (ps_load_relaxed(&a->lock) != 0)
            for (unsigned i = 0; i < 8; i++)
                __asm__ volatile("nop");
}
static void unlock_arena(struct arena *a) { ps_store_release(&a->lock, 0); }

static unsigned bin_of(uint32_t bytes) { return 31u - (unsigned)__builtin_clz(bytes); }
static uint32_t block_bytes(const struct block *b) { return b->bytes & ~USED; }
static struct block *after(struct block *b) { return (struct block *)(void *)((char *)b + block_bytes(b)); }

static void put_locked(struct arena *a, struct block *b)
{
    unsigned bin = bin_of(b->bytes);
    b->previous = NULL;
    b->next = a->bins[bin];
    if (b->next != NULL)
        b->next->previous = b;
    a->bins[bin] = b;
    a->filled |= 1u << bin;
}

static void take_block_locked(struct arena *a, struct block *b)
{
    unsigned bin = bin_of(b->bytes);
    if (b->next != NULL)
        b->next->previous = b->previous;
    if (b->previous != NULL)
        b->previous->next = b->next;
    else if ((a->bins[bin] = b->next) == NULL)
        a->filled &= ~(1u << bin);
}

/* Cuts b, which is in no list, down to `bytes`; the rest becomes a free block. */
static void cut_locked(struct arena *a, struct block *b, uint32_t bytes)
{
    uint32_t rest = block_bytes(b) - bytes;
    if (rest < 2 * UNIT)
        return;
    b->bytes = bytes | (b->bytes & USED);
    struct block *r = after(b);
    r->before = bytes;
    r->bytes = rest;
    after(r)->before = rest;
    put_locked(a, r);
}

static struct block *find_block_locked(struct arena *a, uint32_t bytes)
{
    unsigned bin = bin_of(bytes);
    for (struct block *b = a->bins[bin]; b != NULL; b = b->next)
        if (b->bytes >= bytes)
            return b;
    uint32_t larger = a->filled & ~((2u << bin) - 1);
    return larger == 0 ? NULL : a->bins[__builtin_ctz(larger)];
}

static void *allocate_block(struct arena *a, size_t align, size_t wanted)
{
    if (a == NULL || wanted > 0x7fff0000u || align > 0x10000000u)
        return NULL;
    uint32_t bytes = ((uint32_t)wanted + HEAD + UNIT - 1) & ~(UNIT - 1);
    bytes = bytes < 2 * UNIT ? 2 * UNIT : bytes;
    lock_arena(a);
    struct block *b = find_block_locked(a, align > UNIT ? bytes + (uint32_t)align + 2 * UNIT : bytes);
    if (b == NULL) {
        unlock_arena(a);
        return NULL;
    }
    take_block_locked(a, b);
    uintptr_t at = (uintptr_t)b + HEAD;
    if (align > UNIT && (at & (align - 1)) != 0) { /* the part before the aligned address stays free */
        uintptr_t start = (at + 2 * UNIT + align - 1) & ~(uintptr_t)(align - 1);
        uint32_t front = (uint32_t)(start - at), whole = b->bytes;
        struct block *second = (struct block *)(void *)((char *)b + front);
        second->before = front;
        second->bytes = whole - front;
        after(second)->before = second->bytes;
        b->bytes = front;
        put_locked(a, b);
        b = second;
    }
    b->bytes |= USED;
    cut_locked(a, b, bytes);
    a->used += block_bytes(b);
    a->most = a->used > a->most ? a->used : a->most;
    unlock_arena(a);
    return (char *)b + HEAD;
}

static void give_block(struct arena *a, void *p)
{
    struct block *b = (struct block *)(void *)((char *)p - HEAD);
    lock_arena(a);
    PS_CHECK((b->bytes & USED) != 0 && after(b)->before == block_bytes(b),
             "free of %p: it is no block, or was overwritten", p);
    a->used -= block_bytes(b);
    b->bytes &= ~USED;
    struct block *next = after(b), *previous = (struct block *)(void *)((char *)b - b->before);
    if ((next->bytes & USED) == 0) {
        take_block_locked(a, next);
        b->bytes += next->bytes;
    }
    if (b->before != 0 && (previous->bytes & USED) == 0) {
        take_block_locked(a, previous);
        previous->bytes += b->bytes;
        b = previous;
    }
    after(b)->before = b->bytes;
    put_locked(a, b);
    unlock_arena(a);
}

/* Makes an arena of [first, first + bytes), which is zero. Returns NULL if that is too small. */
static struct arena *arena_make(char *first, size_t bytes)
{
    uintptr_t start = ((uintptr_t)first + UNIT - 1) & ~(uintptr_t)(UNIT - 1);
    uintptr_t end = ((uintptr_t)first + bytes) & ~(uintptr_t)(UNIT - 1);
    if (end < start + sizeof(struct arena) + 8 * UNIT)
        return NULL;
    struct arena *a = (struct arena *)start; // NOLINT(performance-no-int-to-ptr)
    uintptr_t from = ((start + sizeof *a + UNIT - 1) & ~(uintptr_t)(UNIT - 1)) + UNIT - HEAD;
    struct block *b = (struct block *)from; // NOLINT(performance-no-int-to-ptr)
    b->before = 0;
    b->bytes = (uint32_t)(end - HEAD - from);
    after(b)->before = b->bytes;
    after(b)->bytes = USED; /* a block in use ends the arena */
    put_locked(a, b);
    return a;
}

/* Runs in every program, before other constructors, which may allocate. */
__attribute__((constructor(101))) static void board_memory_init(void)
{
    char *first;
    size_t bytes;
    for (unsigned c = 0; c < board_clusters(); c++) {
        board_memory(c, &first, &bytes);
        struct arena **place = board_global(&own_arena, c);
        *place = arena_make(first, bytes);
    }
    board_main_memory(&first, &bytes);
    main_arena = arena_make(first, bytes);
}

static struct arena *arena_in(unsigned cluster) { return *(struct arena **)board_global(&own_arena, cluster); }

/* Returns the arena from which p comes. */
static struct arena *arena_of(const void *p)
{
    for (unsigned c = 0; c < board_clusters(); c++) {
        char *first;
        size_t bytes;
        board_memory(c, &first, &bytes);
        if ((uintptr_t)p - (uintptr_t)first < bytes)
            return arena_in(c);
    }
    return main_arena;
}

void *board_block_only(unsigned cluster, size_t bytes) { return allocate_block(arena_in(cluster), UNIT, bytes); }
void *board_block(size_t bytes)
{
    void *p = allocate_block(own_arena, UNIT, bytes);
    return p != NULL ? p : allocate_block(main_arena, UNIT, bytes);
}
void *board_block_aligned(size_t align, size_t bytes)
{
    void *p = allocate_block(own_arena, align, bytes);
    return p != NULL ? p : allocate_block(main_arena, align, bytes);
}
void board_block_free(void *p)
{
    if (p != NULL)
        give_block(arena_of(p), p);
}
size_t board_block_bytes(unsigned cluster, size_t *most)
{
    const struct arena *a = arena_in(cluster);
    *most = a == NULL ? 0 : a->most;
    return a == NULL ? 0 : a->used;
}

/* --- the C library's names, for the program; and the same with a prefix, for the runtime's rooms --- */

static void *from_main(size_t align, size_t bytes)
{
    void *p = allocate_block(main_arena, align, bytes);
    if (p == NULL)
        errno = ENOMEM;
    return p;
}

static void *resize(void *p, size_t bytes, void *(*get)(size_t, size_t))
{
    const struct block *b = (const struct block *)(const void *)((const char *)p - HEAD);
    size_t has = p == NULL ? 0 : block_bytes(b) - HEAD;
    if (p != NULL && bytes <= has)
        return p;
    void *larger = get(UNIT, bytes);
    if (larger == NULL || p == NULL)
        return larger;
    memcpy(larger, p, has);
    board_block_free(p);
    return larger;
}

/* Defines malloc and its relatives with a prefix; get(alignment, bytes) allocates. */
#define C_NAMES(prefix, get)                                                              \
    void *prefix##malloc(size_t bytes) { return get(UNIT, bytes); }                       \
    void prefix##free(void *p) { board_block_free(p); }                                   \
    void *prefix##aligned_alloc(size_t align, size_t bytes) { return get(align, bytes); } \
    int prefix##posix_memalign(void **out, size_t align, size_t bytes)                    \
    {                                                                                     \
        void *p = get(align, bytes);                                                      \
        if (p != NULL)                                                                    \
            *out = p;                                                                     \
        return p != NULL ? 0 : ENOMEM;                                                    \
    }                                                                                     \
    void *prefix##calloc(size_t n, size_t each)                                           \
    {                                                                                     \
        size_t bytes;                                                                     \
        void *p = __builtin_mul_overflow(n, each, &bytes) ? NULL : get(UNIT, bytes);      \
        return p == NULL ? NULL : memset(p, 0, bytes);                                    \
    }                                                                                     \
    void *prefix##realloc(void *p, size_t bytes) { return resize(p, bytes, get); }

C_NAMES(, from_main)
C_NAMES(board_, board_block_aligned)
void *memalign(size_t align, size_t bytes);
void *memalign(size_t align, size_t bytes) { return from_main(align, bytes); }
