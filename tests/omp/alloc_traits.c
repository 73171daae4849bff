/* Allocators: which traits are taken, alignment, zeroed memory, memory of every predefined allocator. */
#include "check.h"

#include <stdint.h>

static int taken(omp_memspace_handle_t space, omp_alloctrait_key_t key, omp_uintptr_t value)
{
    omp_alloctrait_t trait = {key, value};
    omp_allocator_handle_t a = omp_init_allocator(space, 1, &trait);
    if (a != omp_null_allocator)
        omp_destroy_allocator(a);
    return a != omp_null_allocator;
}

static void traits(void)
{
    static const struct {
        omp_alloctrait_key_t key;
        omp_uintptr_t good, bad;
    } cases[] = {{omp_atk_sync_hint, omp_atv_private, omp_atv_all},
                 {omp_atk_alignment, 256, 48},
                 {omp_atk_access, omp_atv_cgroup, omp_atv_private},
                 {omp_atk_fallback, omp_atv_null_fb, omp_atv_environment},
                 {omp_atk_partition, omp_atv_interleaved, omp_atv_true},
                 {omp_atk_pinned, omp_atv_false, omp_atv_all}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(taken(omp_default_mem_space, cases[i].key, cases[i].good));
        CHECK(taken(omp_default_mem_space, cases[i].key, omp_atv_default));
        CHECK(!taken(omp_default_mem_space, cases[i].key, cases[i].bad));
    }
    CHECK(taken(omp_low_lat_mem_space, omp_atk_pool_size, 1000));
    CHECK(!taken((omp_memspace_handle_t)1000, omp_atk_pool_size, 1000));
    CHECK(!taken(omp_default_mem_space, (omp_alloctrait_key_t)99, 1));
    CHECK(!taken(omp_default_mem_space, omp_atk_alignment, 0));
}

/* size bytes that may be written and read, aligned to `alignment`. */
static void check_memory(unsigned char *p, size_t size, size_t alignment, int zeroed)
{
    CHECK(p != NULL && (uintptr_t)p % alignment == 0);
    for (size_t i = 0; zeroed && i < size; i++)
        CHECK(p[i] == 0);
    memset(p, 0x5a, size);
}

static void memory(omp_allocator_handle_t a, size_t least)
{
    unsigned char *p[8];
    for (size_t alignment = 1; alignment <= 4096; alignment *= 4) {
        size_t strictest = alignment > least ? alignment : least, size = 3 * alignment + 5;
        p[0] = omp_alloc(size, a);
        p[1] = omp_aligned_alloc(alignment, size, a);
        p[2] = omp_calloc(3, size, a);
        p[3] = omp_aligned_calloc(alignment, 3, size, a);
        check_memory(p[0], size, least, 0);
        check_memory(p[1], size, strictest, 0);
        check_memory(p[2], 3 * size, least, 1);
        check_memory(p[3], 3 * size, strictest, 1);
        for (int i = 0; i < 4; i++)
            omp_free(p[i], i % 2 ? a : omp_null_allocator);
    }
    CHECK(omp_alloc(0, a) == NULL && omp_calloc(0, 8, a) == NULL && omp_calloc(8, 0, a) == NULL);
    omp_free(NULL, a);
}

int main(void)
{
    traits();
    for (omp_uintptr_t a = omp_null_allocator; a <= omp_thread_mem_alloc; a++)
        memory((omp_allocator_handle_t)a, sizeof(void *));
    omp_alloctrait_t aligned[] = {{omp_atk_alignment, 512}, {omp_atk_fallback, omp_atv_null_fb}};
    omp_allocator_handle_t a = omp_init_allocator(omp_large_cap_mem_space, 2, aligned);
    CHECK(a != omp_null_allocator);
    memory(a, 512);
    /* more than there can be, also by a product that is no size */
    volatile size_t half = (size_t)1 << (sizeof half * 8 - 1);
    CHECK(omp_alloc(half + 100, a) == NULL && omp_calloc(half, 2, a) == NULL && omp_calloc(half, half, a) == NULL);
    omp_destroy_allocator(a);
    omp_destroy_allocator(omp_null_allocator);
    return 0;
}
