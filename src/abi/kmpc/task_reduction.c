/* LLVM entry points: task reductions.
 *
 * Here the runtime initialises and combines the copies; in code of the GNU compilers the compiled code does. A
 * construct's block has the core's layout (ort/task/task_reduction.c), so that the core finds it wherever a task looks
 * for it. MEMORY leads to each thread's copies. For each item there are a word that is not 0 once the copy is
 * initialised, and the copy. If members share the construct, thread 0's copies have a struct common before them. A
 * thread's copy is initialised when the thread first asks for it. No other thread uses the copy until the group has
 * ended.
 *
 * taskgroup: taskred_init is called inside of it, and end_taskgroup combines. parallel and work-sharing constructs with
 * reduction(task, ..): each member calls modifier_init and modifier_fini, and the members share one memory. The first
 * member to come makes it, and the last one to leave combines. The construct's barrier comes after that, so every
 * member reads the result behind it. The members also read the first member's block, so each block stays until the last
 * member to leave frees all. Shared fields: common.left (push by compare-and-swap, release; taken by the last member),
 * common.count (acq_rel: the last member sees all copies). Failures: without memory the program ends with one line.
 * OpenMP 5.2 section 5.5.8. */
#include <stdlib.h>
#include <string.h>

#include "emergency_pool.h"
#include "kmpc_task.h"

/* kmp_taskred_input_t. struct old_input is the kmp_task_red_input_t of clang 8 and older, which lacks `original`. */
struct input {
    void *shared, *original;
    size_t bytes;
    void *init, *fini, *combine;
    uint32_t flags;
};
struct old_input {
    void *shared;
    size_t bytes;
    void *init, *fini, *combine;
    uint32_t flags;
};

/* Words of a block: see ort/task/task_reduction.c. In a block that this file has made, ALLOCATOR is the address of
 * `mark`; in others it is the allocator clause. */
enum { ITEMS, BYTES, MEMORY, ALLOCATOR, NEXT, FIRST, END, ITEM };
#define ITEM_WORDS 3
static const char mark;

#define ALIGN 64 /* alignment of copies, enough for a vector */

struct common {
    _Atomic(struct kmpc_reduction *) left; /* the blocks of members that have left, as a stack */
    _Atomic uint32_t count;                /* how many members have left */
};

struct item {
    void *shared, *original;
    size_t bytes, offset; /* offset: of the copy in a thread's copies */
    void (*init_old)(void *copy);
    void (*init)(void *copy, void *original);
    void (*fini)(void *copy);
    void (*combine)(void *into, void *from);
};

/* An open construct of the calling thread. */
struct kmpc_reduction {
    struct kmpc_reduction *outer;
    struct ort_taskgroup *group;
    bool shared; /* the team's members share it */
    unsigned n;
    struct item *items;
    uintptr_t block[];
};

/* --- making --- */

static struct kmpc_reduction *make_reduction(int32_t n, const struct input *in, bool old)
{
    size_t words = ITEM + (size_t)n * ITEM_WORDS;
    struct kmpc_reduction *r = ort_mem_zeroed(sizeof *r + words * sizeof(uintptr_t) + (size_t)n * sizeof(struct item));
    PS_CHECK(r != NULL, "no memory for a reduction of %d items", n);
    r->n = (unsigned)n;
    r->items = (struct item *)(void *)(r->block + words);
    size_t at = ALIGN;
    for (unsigned i = 0; i < r->n; i++) {
        struct item *item = &r->items[i];
        item->shared = in[i].shared;
        item->original = in[i].original != NULL ? in[i].original : in[i].shared;
        item->bytes = in[i].bytes;
        item->offset = at + ALIGN;
        if (old)
            item->init_old = (void (*)(void *))in[i].init;
        else
            item->init = (void (*)(void *, void *))in[i].init;
        item->fini = (void (*)(void *))in[i].fini;
        item->combine = (void (*)(void *, void *))in[i].combine;
        at = (item->offset + item->bytes + ALIGN - 1) / ALIGN * ALIGN;
        uintptr_t *words_of = r->block + ITEM + i * ITEM_WORDS;
        words_of[0] = (uintptr_t)item->shared;
        words_of[1] = item->offset;
        words_of[2] = (uintptr_t)item;
    }
    r->block[ITEMS] = r->n;
    r->block[BYTES] = at;
    r->block[MEMORY] = ALIGN;
    r->block[ALLOCATOR] = (uintptr_t)&mark;
    return r;
}

static void *open_group(struct kmpc_reduction *r)
{
    struct ort_thread *t = ort_self();
    struct kmpc_thread *k = kmpc_thread(t);
    r->group = t->task->group;
    r->outer = k->reductions;
    k->reductions = r;
    return r->block;
}

static void *init_group(struct kmpc_reduction *r)
{
    ort_task_reduction_register(ort_self(), r->block);
    return open_group(r);
}

static void *init_shared(struct kmpc_reduction *r)
{
    r->shared = true;
    ort_scope_start(ort_self(), r->block);
    return open_group(r);
}

/* Converts the input of old compilers to the present form. */
static struct input *renewed(int32_t n, const struct old_input *in)
{
    struct input *out = ort_mem_zeroed((size_t)n * sizeof *out);
    PS_CHECK(out != NULL, "no memory for a reduction of %d items", n);
    for (int32_t i = 0; i < n; i++)
        out[i] = (struct input){in[i].shared, NULL, in[i].bytes, in[i].init, in[i].fini, in[i].combine, in[i].flags};
    return out;
}

static void *init_old(int32_t n, const struct old_input *in, void *(*go)(struct kmpc_reduction *))
{
    struct input *present = renewed(n, in);
    void *block = go(make_reduction(n, present, true));
    ort_mem_free(present);
    return block;
}

PS_EXPORT void *__kmpc_taskred_init(PS_UNUSED int32_t gtid, int32_t n, const struct input *in)
{
    KMPC_NOT_NULL(NULL, in, "the list of reductions");
    return init_group(make_reduction(n, in, false));
}
PS_EXPORT void *__kmpc_task_reduction_init(PS_UNUSED int32_t gtid, int32_t n, const struct old_input *in)
{
    KMPC_NOT_NULL(NULL, in, "the list of reductions");
    return init_old(n, in, init_group);
}
PS_EXPORT void *__kmpc_taskred_modifier_init(PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid,
                                             PS_UNUSED int32_t workshare, int32_t n, const struct input *in)
{
    KMPC_NOT_NULL(at, in, "the list of reductions");
    return init_shared(make_reduction(n, in, false));
}
PS_EXPORT void *__kmpc_task_reduction_modifier_init(PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid,
                                                    PS_UNUSED int32_t workshare, int32_t n, const struct old_input *in)
{
    KMPC_NOT_NULL(at, in, "the list of reductions");
    return init_old(n, in, init_shared);
}

/* --- finding --- */

static void *copy_of(const uintptr_t *block, const struct item *item, unsigned id)
{
    return (char *)block[MEMORY] + id * block[BYTES] + item->offset;
}
static uintptr_t *ready_mark(void *copy) { return (uintptr_t *)(void *)((char *)copy - ALIGN); }

static void *copy_ready(const uintptr_t *block, const struct item *item, unsigned id)
{
    void *copy = copy_of(block, item, id);
    if (*ready_mark(copy) == 0) {
        if (item->init_old != NULL)
            item->init_old(copy);
        else if (item->init != NULL)
            item->init(copy, item->original);
        *ready_mark(copy) = 1;
    }
    return copy;
}

/* Returns whether the address is that of the shared variable, or of some thread's copy of it. */
static bool means(const uintptr_t *block, const struct item *item, const char *address)
{
    if (address == item->shared)
        return true;
    uintptr_t a = (uintptr_t)address;
    return a >= block[MEMORY] && a < block[END] && (a - block[MEMORY]) % block[BYTES] == item->offset;
}

/* group: the value that init returned. NULL: searches all constructs around the caller, in the core's chain of
 * blocks. */
PS_EXPORT void *__kmpc_task_reduction_get_th_data(PS_UNUSED int32_t gtid, void *group, void *data)
{
    struct ort_thread *t = ort_self();
    const uintptr_t *block = group;
    if (block == NULL && t->task->group != NULL)
        block = t->task->group->reductions;
    for (; block != NULL; block = (const uintptr_t *)block[NEXT]) {
        if (block[ALLOCATOR] != (uintptr_t)&mark)
            continue;
        for (size_t i = 0; i < block[ITEMS]; i++) {
            const struct item *item = (const struct item *)block[ITEM + i * ITEM_WORDS + 2];
            if (means(block, item, data))
                return copy_ready(block, item, t->id);
        }
    }
    ps_fatal("no task_reduction or reduction with task modifier matches the in_reduction of %p", data);
}

/* --- the end --- */

static void combine(const struct kmpc_reduction *r, unsigned threads)
{
    for (unsigned i = 0; i < r->n; i++) {
        const struct item *item = &r->items[i];
        for (unsigned id = 0; id < threads; id++) {
            void *copy = copy_of(r->block, item, id);
            if (*ready_mark(copy) == 0)
                continue;
            item->combine(item->shared, copy);
            if (item->fini != NULL)
                item->fini(copy);
        }
    }
}

void kmpc_taskgroup_end(struct ort_thread *t)
{
    struct kmpc_thread *k = kmpc_thread(t);
    struct kmpc_reduction *r = k->reductions;
    if (PS_LIKELY(r == NULL || r->group != t->task->group)) {
        ort_taskgroup_end(t);
        return;
    }
    ort_taskgroup_end(t);
    k->reductions = r->outer;
    if (!r->shared) {
        combine(r, t->team->n);
        ort_mem_free((void *)r->block[MEMORY]);
        ort_mem_free(r);
        return;
    }
    struct common *common = (struct common *)r->block[MEMORY];
    r->outer = ps_load_relaxed(&common->left);
    while (!ps_cas_release(&common->left, &r->outer, r))
        ;
    if (ps_add_acq_rel(&common->count, 1) + 1 != t->team->n)
        return;
    combine(r, t->team->n);
    r = ps_load_acquire(&common->left);
    ort_mem_free(common);
    while (r != NULL) {
        struct kmpc_reduction *gone = r;
        r = r->outer;
        ort_mem_free(gone);
    }
}

PS_EXPORT void __kmpc_task_reduction_modifier_fini(PS_UNUSED struct kmpc_location *at, PS_UNUSED int32_t gtid,
                                                   PS_UNUSED int32_t workshare)
{
    kmpc_taskgroup_end(ort_self());
}
