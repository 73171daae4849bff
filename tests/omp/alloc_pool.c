/* pool_size, and each fallback when the pool is empty; by one thread, then by many at once. */
#include "check.h"

#include <stdint.h>

static omp_allocator_handle_t make(omp_uintptr_t pool, omp_uintptr_t fallback, omp_uintptr_t data)
{
    omp_alloctrait_t traits[] = {{omp_atk_pool_size, pool}, {omp_atk_fallback, fallback}, {omp_atk_fb_data, data}};
    omp_allocator_handle_t a = omp_init_allocator(omp_default_mem_space, data ? 3 : 2, traits);
    CHECK(a != omp_null_allocator);
    return a;
}

/* Takes pieces until there are no more; how many there were. */
static int drain(omp_allocator_handle_t a, void **piece, int max, size_t size)
{
    int n = 0;
    while (n < max && (piece[n] = omp_alloc(size, a)) != NULL)
        memset(piece[n++], 1, size);
    return n;
}

int main(void)
{
    enum { MAX = 100 };
    void *piece[MAX], *other[MAX];
    omp_allocator_handle_t null = make(10000, omp_atv_null_fb, 0);
    int n = drain(null, piece, MAX, 1000);
    CHECK(n >= 5 && n <= 10); /* headers count, or do not */
    omp_free(piece[--n], null);
    piece[n] = omp_alloc(1000, null); /* what was given back can be had again */
    CHECK(piece[n] != NULL && omp_alloc(1000, null) == NULL);
    n++;

    omp_allocator_handle_t chain = make(3000, omp_atv_allocator_fb, (omp_uintptr_t)null);
    int m = drain(chain, other, MAX, 1000);
    CHECK(m >= 1 && m <= 3); /* then the empty one was asked */
    omp_free(piece[--n], null);
    other[m] = omp_alloc(1000, chain);
    CHECK(other[m] != NULL); /* from the second */
    m++;
    while (n > 0)
        omp_free(piece[--n], null);
    while (m > 0)
        omp_free(other[--m], chain);
    CHECK(drain(null, piece, MAX, 1000) >= 5); /* the last piece went back where it came from */
    omp_destroy_allocator(chain);

    omp_allocator_handle_t general = make(3000, omp_atv_default_mem_fb, 0);
    n = drain(general, piece, MAX, 1000);
    CHECK(n == MAX);
    while (n > 0)
        omp_free(piece[--n], general);
    omp_destroy_allocator(general);

    /* never more than the pool has, for any thread, and all of it in the end */
    omp_allocator_handle_t shared = make(64 * 1024, omp_atv_null_fb, 0);
    int most = drain(shared, piece, MAX, 1000), out = 0;
    for (int i = 0; i < most; i++)
        omp_free(piece[i], shared);
#pragma omp parallel num_threads(4)
    {
        void *mine[MAX];
        for (int round = 0; round < 200; round++) {
            int got = drain(shared, mine, MAX, 1000), now;
#pragma omp atomic capture
            now = out += got;
            CHECK(now <= most);
#pragma omp atomic
            out -= got;
            while (got > 0)
                omp_free(mine[--got], omp_null_allocator);
        }
    }
    n = drain(shared, piece, MAX, 1000);
    CHECK(n == most);
    while (n > 0)
        omp_free(piece[--n], shared);
    omp_destroy_allocator(shared);
    return 0;
}
