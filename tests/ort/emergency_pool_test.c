/* The emergency pool: blocks do not overlap, come back whole, side by side become one place again; what is kept is
 * kept; and it stands behind malloc. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "emergency_pool.h"
#include "fault.h"

#define U ((size_t)ORT_EMERGENCY_UNIT)

/* So much is left, in one place. */
static bool has_left(size_t bytes)
{
    void *rest = ort_emergency_pool_take(bytes, 0);
    bool all = rest != NULL && ort_emergency_pool_take(1, 0) == NULL;
    ort_emergency_pool_give(rest);
    return all;
}

static void blocks_are_whole_lines(void **state)
{
    (void)state;
    char *a = ort_emergency_pool_take(0, 0), *b = ort_emergency_pool_take(U + 1, 0), *c = ort_emergency_pool_take(U, 0);
    assert_int_equal((uintptr_t)a % U, 0);
    assert_ptr_equal(b, a + U);
    assert_ptr_equal(c, b + 2 * U);
    assert_true(has_left(ORT_EMERGENCY_BYTES - 4 * U));
    assert_true(ort_emergency_pool_give(b));
    assert_ptr_equal(ort_emergency_pool_take(3 * U, 0), c + U); /* does not fit between */
    assert_ptr_equal(ort_emergency_pool_take(2 * U, 0), b);
    assert_true(ort_emergency_pool_give(a) && ort_emergency_pool_give(b) && ort_emergency_pool_give(c) &&
                ort_emergency_pool_give(c + U));
    assert_true(has_left(ORT_EMERGENCY_BYTES));
    char other[1];
    assert_false(ort_emergency_pool_give(other));
    assert_false(ort_emergency_pool_give(NULL));
}

static void what_is_kept_is_kept(void **state)
{
    (void)state;
    assert_null(ort_emergency_pool_take(ORT_EMERGENCY_BYTES + 1, 0));
    assert_null(ort_emergency_pool_take(SIZE_MAX, 0));
    assert_null(ort_emergency_pool_take(2 * U, ORT_EMERGENCY_BYTES - U));
    void *one = ort_emergency_pool_take(U, ORT_EMERGENCY_BYTES - U);
    assert_non_null(one);
    assert_null(ort_emergency_pool_take(U, ORT_EMERGENCY_BYTES - U));
    void *rest = ort_emergency_pool_take(ORT_EMERGENCY_BYTES - U, 0);
    assert_non_null(rest);
    assert_null(ort_emergency_pool_take(1, 0));
    assert_true(ort_emergency_pool_give(one) && ort_emergency_pool_give(rest));
    void *all = ort_emergency_pool_take(ORT_EMERGENCY_BYTES, 0); /* one place again */
    assert_non_null(all);
    assert_true(ort_emergency_pool_give(all));
}

static void stands_behind_malloc(void **state)
{
    (void)state;
    fault_arm(FAULT_MALLOC, 0, FAULT_ALL_FOLLOWING);
    char *a = ort_mem_get(10), *b = ort_mem_aligned(16, 100), *none = ort_mem_aligned(2 * U, 10);
    memset(a, 1, 10);
    ort_mem_free(a);
    char *c = ort_mem_zeroed(10);
    bool two_blocks = has_left(ORT_EMERGENCY_BYTES - 3 * U);
    void *too_much = ort_mem_get(ORT_EMERGENCY_BYTES - ORT_EMERGENCY_KEEP);
    fault_disarm_all();
    assert_ptr_equal(a, c);
    assert_int_equal(c[0] + c[9], 0);
    assert_null(none);
    assert_null(too_much);
    assert_true(two_blocks);
    ort_mem_free(b);
    ort_mem_free(c);
    ort_mem_free(ort_mem_get(10)); /* the C library's */
    ort_mem_free(NULL);
    assert_true(has_left(ORT_EMERGENCY_BYTES));
}

#define THREADS 4
#define HELD 40
#define ROUNDS 20000

/* Each block is filled with a number of its own, and found so when it is given back. */
static void *takes_and_gives(void *arg)
{
    unsigned seed = (unsigned)(uintptr_t)arg;
    unsigned char *held[HELD] = {NULL};
    size_t bytes[HELD];
    uintptr_t wrong = 0;
    for (unsigned i = 0; i < ROUNDS + HELD; i++) {
        seed = seed * 1103515245u + 12345u;
        unsigned at = i < ROUNDS ? seed >> 16 & 31 : i - ROUNDS;
        if (held[at] != NULL) {
            for (size_t b = 0; b < bytes[at]; b++)
                wrong += held[at][b] != (unsigned char)(at + (uintptr_t)arg * HELD);
            wrong += !ort_emergency_pool_give(held[at]);
            held[at] = NULL;
        } else if (i < ROUNDS) {
            bytes[at] = seed >> 8 & 8191;
            held[at] = ort_emergency_pool_take(bytes[at], 0);
            if (held[at] != NULL)
                memset(held[at], (int)(at + (uintptr_t)arg * HELD), bytes[at]);
        }
    }
    return (void *)wrong;
}

static void from_several_threads(void **state)
{
    (void)state;
    pthread_t t[THREADS];
    void *wrong;
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&t[i], NULL, takes_and_gives, (void *)i), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(t[i], &wrong), 0);
        assert_null(wrong);
    }
    assert_true(has_left(ORT_EMERGENCY_BYTES));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_whole_lines),
        cmocka_unit_test(what_is_kept_is_kept),
        cmocka_unit_test(stands_behind_malloc),
        cmocka_unit_test(from_several_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
