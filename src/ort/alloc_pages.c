/* Memory for allocators that malloc cannot give: locked into main memory (pinned), or laid over the memory nodes
 * (partition).
 *
 * Does: whole pages from the system, one map a piece; small pinned pieces share locked pages, since what may be locked
 * is little (8 MB by default). Does not: keep the bookkeeping of owners (allocator.c's header does), or give small
 * pinned pages back: they stay locked for the next small pieces.
 * Callers: any thread, holding nothing of the runtime's. No waiting but for the lock.
 *
 *   free_pieces[c]   free pieces of SMALLEST << c bytes, chained through their first word; under `lock`, as is the
 *                    cutting of a new page
 *
 * Failures: no memory, or more than RLIMIT_MEMLOCK lets be locked: NULL, and the fallback trait decides. A kernel that
 * does not place pages (one node, or a sandbox that forbids mbind) gives them where it likes: a partition is a wish.
 * Cost: small pinned: the lock; else two or three system calls.
 * Rejected: mlock on malloc's memory: pieces share pages, and unlocking one would unlock its neighbours.
 * OpenMP 5.2 section 6.2, traits pinned and partition. */
#include "alloc_pages.h"

#include "os.h"
#include "own_lock.h"

#define SMALLEST 64u
#define CLASSES 6u /* 64 to 2048 */

struct piece {
    struct piece *next;
};
static struct piece *free_pieces[CLASSES];
ORT_OWN_LOCK(lock)

static size_t block_class_bytes(unsigned class) { return (size_t)SMALLEST << class; }

/* CLASSES: none is large enough. */
static unsigned class_of(size_t bytes)
{
    unsigned class = 0;
    while (class < CLASSES && block_class_bytes(class) < bytes)
        class ++;
    return class;
}

static void *take_locked_map(size_t bytes)
{
    void *p = os_map(bytes);
    if (p != NULL && os_memory_lock(p, bytes) != 0) {
        os_unmap(p, bytes);
        return NULL;
    }
    return p;
}

static void *take_small(unsigned class)
{
    ort_own_lock(&lock);
    struct piece *p = free_pieces[class];
    if (p == NULL) {
        size_t page = os_page_size();
        char *fresh = take_locked_map(page);
        for (size_t at = 0; fresh != NULL && at + block_class_bytes(class) <= page; at += block_class_bytes(class)) {
            struct piece *more = (struct piece *)(void *)(fresh + at);
            more->next = p;
            p = more;
        }
    }
    if (p != NULL)
        free_pieces[class] = p->next;
    ort_own_unlock(&lock);
    return p;
}

void *ort_pages_take(enum ort_pages kind, size_t bytes, bool *fresh)
{
    unsigned class = kind == ORT_PAGES_PINNED ? class_of(bytes) : CLASSES;
    *fresh = class == CLASSES;
    if (class < CLASSES)
        return take_small(class);
    if (kind == ORT_PAGES_PINNED)
        return take_locked_map(bytes);
    void *p = os_map(bytes);
    if (p != NULL)
        os_memory_place(p, bytes, kind == ORT_PAGES_INTERLEAVED);
    return p;
}

void ort_pages_give(enum ort_pages kind, void *p, size_t bytes)
{
    unsigned class = kind == ORT_PAGES_PINNED ? class_of(bytes) : CLASSES;
    if (class == CLASSES) {
        os_unmap(p, bytes);
        return;
    }
    struct piece *piece = p;
    ort_own_lock(&lock);
    piece->next = free_pieces[class];
    free_pieces[class] = piece;
    ort_own_unlock(&lock);
}
