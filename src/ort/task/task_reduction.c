/* Task reductions: memory for each thread's copies, and how a copy is found.
 *
 * Does: keeps the blocks that describe the reductions of a taskgroup, a work-sharing construct or a parallel region.
 * Tells a task the address of its thread's copy of a list item. Does not: initialise or combine copies. Compiled code
 * does that, and sees by the memory (zeroed) whether a copy is in use.
 * Callers: the member that meets the construct; remap: the member that runs a task.
 *
 * A block has the GNU compilers' layout; the LLVM entry points write it, too. Its words are:
 *   0   number of list items
 *   1   bytes of one thread's copies
 *   2   alignment; once registered, the memory
 *   3   allocator, ignored here
 *   4   next block of the construct; in its last block 0, once registered the first block of the construct around it
 *   5   0; once registered, 1 in the construct's first block
 *   6   end of the memory
 *   7.. for each item three words: original address, offset in a thread's copies (ascending), unused
 * Thread i of the team has its copies at memory + i * bytes.
 *
 * The member that registers a block writes it before the tasks that read it are made. In a work-sharing construct each
 * member has a block, and all use the memory of the first one.
 * A lookup walks the blocks from the innermost outwards. Constructs have few items, so a hash table (as in libgomp)
 * costs more to build than it saves.
 * Failures: the program ends with one line if there is no memory, in the emergency pool either, and for an unknown
 * address. OpenMP 5.2 section 5.5.8. */
#include "task_internal.h"

#include <string.h>

#include "emergency_pool.h"
#include "race.h"

enum { ITEMS, BYTES, MEMORY, ALLOCATOR, NEXT, FIRST, END, ITEM };
#define ITEM_WORDS 3

static uintptr_t *next_reduction(const uintptr_t *block) { return (uintptr_t *)block[NEXT]; }

static void get_memory(uintptr_t *block, unsigned n)
{
    size_t bytes = block[BYTES] * n, align = block[MEMORY];
    if (align < sizeof(void *))
        align = sizeof(void *);
    void *memory = ort_mem_aligned(align, bytes + align);
    PS_CHECK(memory != NULL, "out of memory for a reduction of %zu bytes", bytes);
    memset(memory, 0, bytes);
    block[MEMORY] = (uintptr_t)memory;
    block[END] = (uintptr_t)memory + bytes;
}

static void register_block(uintptr_t *block, uintptr_t *around, uintptr_t *first, unsigned n)
{
    uintptr_t *at = block;
    for (;; at = next_reduction(at)) {
        if (first) {
            at[MEMORY] = first[MEMORY];
            at[END] = first[END];
            first = next_reduction(first);
        } else {
            get_memory(at, n);
        }
        at[FIRST] = at == block;
        if (!at[NEXT])
            break;
    }
    at[NEXT] = (uintptr_t)around;
}

void ort_task_reduction_register(struct ort_thread *thread, uintptr_t *block)
{
    struct ort_taskgroup *group = thread->task->group;
    PS_CHECK(group != NULL, "a task reduction is registered outside of a taskgroup");
    register_block(block, group->reductions, NULL, thread->team->n);
    group->reductions = block;
}

void ort_task_reduction_unregister(uintptr_t *block)
{
    do {
        ort_mem_free((void *)block[MEMORY]);
        block = next_reduction(block);
    } while (block && !block[FIRST]);
}

/* --- finding copies --- */

/* Returns the item of an original address, and stores its block in *in. NULL: no block has this address. */
static uintptr_t *find_original(uintptr_t *block, uintptr_t address, uintptr_t **in)
{
    for (; block; block = next_reduction(block)) {
        for (size_t i = 0; i < block[ITEMS]; i++) {
            uintptr_t *item = block + ITEM + i * ITEM_WORDS;
            if (item[0] == address) {
                *in = block;
                return item;
            }
        }
    }
    return NULL;
}

static uintptr_t *block_of_copy(uintptr_t *block, uintptr_t address)
{
    while (block && !(address >= block[MEMORY] && address < block[END]))
        block = next_reduction(block);
    return block;
}

static void *original_at(const uintptr_t *block, uintptr_t offset)
{
    for (size_t i = 0; i < block[ITEMS]; i++) {
        const uintptr_t *item = block + ITEM + i * ITEM_WORDS;
        if (item[1] == offset)
            return (void *)item[0];
    }
    return NULL;
}

/* Replaces the n addresses in `pointers` by those of the calling thread's copies. Each was the original address of a
 * list item, or the address of any thread's copy. Stores the original addresses of the first n_original items behind
 * the n addresses. */
void ort_task_reduction_remap(struct ort_thread *thread, size_t n, size_t n_original, void **pointers)
{
    struct ort_taskgroup *group = thread->task->group;
    uintptr_t *blocks = group ? group->reductions : NULL;
    for (size_t i = 0; i < n; i++) {
        uintptr_t address = (uintptr_t)pointers[i], offset;
        uintptr_t *block, *item = find_original(blocks, address, &block);
        void *original;
        if (item) {
            offset = item[1];
            original = (void *)item[0];
        } else {
            block = block_of_copy(blocks, address);
            PS_CHECK(block != NULL, "no task_reduction or reduction with task modifier matches the in_reduction of %p",
                     pointers[i]);
            offset = (address - block[MEMORY]) % block[BYTES];
            original = i < n_original ? original_at(block, offset) : NULL;
            PS_CHECK(i >= n_original || original, "no reduction list item matches the in_reduction of %p", pointers[i]);
        }
        pointers[i] = (void *)(block[MEMORY] + thread->id * block[BYTES] + offset);
        if (i < n_original)
            pointers[n + i] = original;
    }
}

/* --- work-sharing constructs and parallel regions --- */

void ort_workshare_reduction_start(struct ort_thread *thread)
{
    ort_taskgroup_start(thread);
    thread->task->group->workshare = true;
}

void ort_workshare_reduction_register(struct ort_thread *thread, uintptr_t *block, uintptr_t *first)
{
    struct ort_taskgroup *group = thread->task->group;
    register_block(block, group->reductions, first, thread->team->n);
    group->reductions = block;
}

void ort_workshare_reduction_end(struct ort_thread *thread, bool cancelled)
{
    uintptr_t *block = thread->task->group->reductions;
    ort_taskgroup_end(thread);
    if (thread->id == 0)
        ort_task_reduction_unregister(block);
    if (!cancelled)
        ort_task_barrier(thread);
}

void ort_parallel_reduction_start(struct ort_taskgroup *group, uintptr_t *block, unsigned n)
{
    *group = (struct ort_taskgroup){.task = NULL};
    register_block(block, NULL, NULL, n);
    group->reductions = block;
}
