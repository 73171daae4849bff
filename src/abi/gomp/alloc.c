/* GNU entry points: memory of the allocate clause and directive. Without memory GOMP_alloc ends the program with one
 * line, because compiled code does not test its result. OpenMP 5.2 section 6.5. */
#include <stdlib.h>

#include "allocator.h"
#include "check.h"
#include "gomp.h"
#include "own_lock.h"

PS_EXPORT void *GOMP_alloc(size_t alignment, size_t bytes, uintptr_t allocator)
{
    void *p = ort_alloc(alignment, bytes, allocator, false);
    PS_CHECK(p != NULL || bytes == 0, "no memory: the allocator cannot give %zu bytes", bytes);
    return p;
}

PS_EXPORT void GOMP_free(void *p, PS_UNUSED uintptr_t allocator) { ort_free(p); }

/* --- allocatable variables of Fortran: the table of addresses that GOMP_alloc returned --- */

/* Compiled code asks whether a block came from GOMP_alloc or from malloc, so this table has the addresses of the blocks
 * of GOMP_alloc. GOMP_add_alloc adds an address. GOMP_is_alloc returns whether an address is in the table, and removes
 * it. Compiled code calls GOMP_is_alloc before it frees or moves a block; if the block stays, it adds the address
 * again. The table is a hash table of chains, with one lock for all. */
struct told {
    struct told *next;
    const void *p;
};
#define CHAINS 1024 /* a power of two: chain_of uses it as a mask */
ORT_OWN_LOCK(traced_lock)
static struct told *told[CHAINS];

static struct told **chain_of(const void *p)
{
    return &told[((uintptr_t)p >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (CHAINS - 1)];
}

PS_EXPORT void GOMP_add_alloc(void *p)
{
    if (p == NULL)
        return;
    struct told *t = malloc(sizeof *t);
    PS_CHECK(t != NULL, "no memory to keep the address of an allocatable variable");
    t->p = p;
    ort_own_lock(&traced_lock);
    struct told **to = chain_of(p);
    t->next = *to;
    *to = t;
    ort_own_unlock(&traced_lock);
}

PS_EXPORT bool GOMP_is_alloc(void *p)
{
    struct told *found = NULL;
    ort_own_lock(&traced_lock);
    for (struct told **at = chain_of(p); *at != NULL; at = &(*at)->next)
        if ((*at)->p == p) {
            found = *at;
            *at = found->next;
            break;
        }
    ort_own_unlock(&traced_lock);
    free(found);
    return found != NULL;
}
