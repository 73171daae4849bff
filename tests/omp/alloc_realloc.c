/* omp_realloc: content, growth and shrinking, between allocators, within a pool. */
#include "check.h"

#include <stdint.h>

static void fill(unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)(i * 7);
}

static void same(const unsigned char *p, size_t n)
{
    CHECK(p != NULL);
    for (size_t i = 0; i < n; i++)
        CHECK(p[i] == (unsigned char)(i * 7));
}

static void walk(omp_allocator_handle_t a, omp_allocator_handle_t b, size_t alignment)
{
    size_t size = 10;
    unsigned char *p = omp_realloc(NULL, size, a, omp_null_allocator);
    fill(p, size);
    for (int i = 0; i < 12; i++) {
        size_t larger = size * 3;
        p = omp_realloc(p, larger, b, a);
        same(p, size);
        CHECK((uintptr_t)p % alignment == 0);
        fill(p, larger);
        p = omp_realloc(p, size * 2, omp_null_allocator, b); /* stays where it is from */
        same(p, size * 2);
        size *= 2;
        omp_allocator_handle_t t = a;
        a = b;
        b = t;
        alignment = 1;
    }
    CHECK(omp_realloc(p, 0, a, b) == NULL);
}

int main(void)
{
    omp_alloctrait_t aligned[] = {{omp_atk_alignment, 256}},
                     pool[] = {{omp_atk_pool_size, 1000}, {omp_atk_fallback, omp_atv_null_fb}};
    omp_allocator_handle_t strict = omp_init_allocator(omp_default_mem_space, 1, aligned);
    omp_allocator_handle_t small = omp_init_allocator(omp_default_mem_space, 2, pool);
    walk(omp_default_mem_alloc, omp_default_mem_alloc, 1);
    walk(omp_default_mem_alloc, omp_thread_mem_alloc, 1);
    walk(omp_default_mem_alloc, strict, 256);
    walk(strict, strict, 256);
    /* in a pool only the difference is wanted */
    unsigned char *p = omp_alloc(500, small);
    fill(p, 500);
    p = omp_realloc(p, 800, small, small);
    same(p, 500);
    CHECK(omp_realloc(p, 2000, small, small) == NULL); /* and p is as it was */
    same(p, 500);
    p = omp_realloc(p, 100, small, small);
    same(p, 100);
    void *q = omp_alloc(700, small);
    CHECK(q != NULL);
    omp_free(q, small);
    omp_free(p, small);
    omp_destroy_allocator(small);
    omp_destroy_allocator(strict);
    return 0;
}
