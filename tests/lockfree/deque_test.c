/* The deque alone with its owner: order at both ends, growth, wrap-around, no memory. Narrow indices, too: they begin
 * where they wrap soon. */
#include "test.h"

#include "deque.h"
#include "fault.h"

#include <string.h>

static struct ps_deque d;

static int fresh(void **state)
{
    (void)state;
    memset(&d, 0, sizeof d);
    if (sizeof(ps_deque_index) == sizeof(int16_t)) {
        d.top_seen = d.own_tops = INT16_MAX - 100;
        ps_store_relaxed(&d.top, INT16_MAX - 100);
        ps_store_relaxed(&d.bottom, INT16_MAX - 100);
    }
    return 0;
}
static int done(void **state)
{
    (void)state;
    fault_disarm_all();
    ps_deque_fini(&d);
    return 0;
}

static void *item(uintptr_t number) { return (void *)(number + 1); }

/* Items in it: no other thread is here. */
static int64_t count(struct ps_deque *deque)
{
    return ps_deque_distance(ps_load_relaxed(&deque->top), ps_load_relaxed(&deque->bottom));
}

static void unused_has_no_buffer(void **state)
{
    (void)state;
    assert_null(ps_load_relaxed(&d.buffer));
    assert_null(ps_deque_pop(&d));
    assert_null(ps_deque_steal_if(&d, NULL, NULL));
    assert_true(ps_deque_seems_empty(&d));
    assert_null(ps_load_relaxed(&d.buffer));
}

static void pop_is_last_in_first_out(void **state)
{
    (void)state;
    for (uintptr_t i = 0; i < 1000; i++)
        assert_true(ps_deque_push(&d, item(i)));
    assert_int_equal(count(&d), 1000);
    for (uintptr_t i = 1000; i-- > 0;)
        assert_ptr_equal(ps_deque_pop(&d), item(i));
    assert_null(ps_deque_pop(&d));
    assert_true(ps_deque_seems_empty(&d));
}

static void steal_is_first_in_first_out(void **state)
{
    (void)state;
    for (uintptr_t i = 0; i < 1000; i++)
        assert_true(ps_deque_push(&d, item(i)));
    for (uintptr_t i = 0; i < 1000; i++)
        assert_ptr_equal(ps_deque_steal_if(&d, NULL, NULL), item(i));
    assert_null(ps_deque_steal_if(&d, NULL, NULL));
    assert_null(ps_deque_pop(&d));
}

/* A buffer that is never full does not grow, however far the indices go. */
static void wraps_without_growing(void **state)
{
    (void)state;
    for (uintptr_t i = 0; i < 10 * PS_DEQUE_INITIAL + 3; i++) {
        assert_true(ps_deque_push(&d, item(i)));
        assert_ptr_equal(ps_deque_steal_if(&d, NULL, NULL), item(i));
    }
    assert_int_equal(ps_load_relaxed(&d.buffer)->mask, PS_DEQUE_INITIAL - 1);
    assert_null(ps_load_relaxed(&d.buffer)->older);
}

static void grows_when_wrapped(void **state)
{
    (void)state;
    uintptr_t pushed = 0, stolen = 0;
    for (int round = 0; round < 40; round++) { /* grows in the middle of the ring each time */
        for (int i = 0; i < 3 * PS_DEQUE_INITIAL; i++)
            assert_true(ps_deque_push(&d, item(pushed++)));
        for (int i = 0; i < PS_DEQUE_INITIAL; i++)
            assert_ptr_equal(ps_deque_steal_if(&d, NULL, NULL), item(stolen++));
    }
    assert_int_equal(count(&d), pushed - stolen);
    assert_non_null(ps_load_relaxed(&d.buffer));
    while (pushed > stolen)
        assert_ptr_equal(ps_deque_pop(&d), item(--pushed));
    assert_null(ps_deque_pop(&d));
}

/* Random operations against a plain array. */
static void as_an_array(void **state)
{
    (void)state;
    static void *model[20000];
    uint32_t random = 12345;
    size_t top = 0, bottom = 0;
    for (uintptr_t i = 0; i < 20000; i++) {
        uint32_t r = next_random(&random) % 8;
        if (r < 4) {
            assert_true(ps_deque_push(&d, item(i)));
            model[bottom++] = item(i);
        } else if (r < 6) {
            assert_ptr_equal(ps_deque_pop(&d), bottom > top ? model[--bottom] : NULL);
        } else {
            assert_ptr_equal(ps_deque_steal_if(&d, NULL, NULL), bottom > top ? model[top++] : NULL);
        }
        assert_int_equal(count(&d), bottom - top);
        assert_int_equal(ps_deque_seems_empty(&d), bottom == top);
    }
}

static void says_what_it_may_hold(void **state)
{
    (void)state;
    assert_false(ps_deque_may_hold(&d, item(0)));
    for (uintptr_t i = 0; i < PS_DEQUE_LOOK_MOST; i++)
        assert_true(ps_deque_push(&d, item(i)));
    for (uintptr_t i = 0; i < PS_DEQUE_LOOK_MOST; i++)
        assert_true(ps_deque_may_hold(&d, item(i)));
    assert_false(ps_deque_may_hold(&d, item(PS_DEQUE_LOOK_MOST)));
    assert_true(ps_deque_push(&d, item(PS_DEQUE_LOOK_MOST)));
    assert_ptr_equal(ps_deque_steal_if(&d, NULL, NULL), item(0));
    assert_false(ps_deque_may_hold(&d, item(0)));
    assert_true(ps_deque_may_hold(&d, item(PS_DEQUE_LOOK_MOST)));
    assert_ptr_equal(ps_deque_pop(&d), item(PS_DEQUE_LOOK_MOST));
    assert_false(ps_deque_may_hold(&d, item(PS_DEQUE_LOOK_MOST)));
}

static void no_memory_changes_nothing(void **state)
{
    (void)state;
    fault_arm(FAULT_MALLOC, 0, FAULT_ALL_FOLLOWING);
    assert_false(ps_deque_push(&d, item(0)));
    assert_null(ps_deque_pop(&d));
    assert_null(ps_deque_steal_if(&d, NULL, NULL));
    fault_arm(FAULT_MALLOC, 1, FAULT_ALL_FOLLOWING);
    for (uintptr_t i = 0; i < PS_DEQUE_INITIAL; i++)
        assert_true(ps_deque_push(&d, item(i)));
    for (int again = 0; again < 3; again++)
        assert_false(ps_deque_push(&d, item(PS_DEQUE_INITIAL)));
    assert_true(fault_failures(FAULT_MALLOC) >= 3);
    assert_int_equal(count(&d), PS_DEQUE_INITIAL);
    assert_ptr_equal(ps_deque_steal_if(&d, NULL, NULL), item(0));
    assert_true(ps_deque_push(&d, item(PS_DEQUE_INITIAL))); /* room again */
    fault_disarm_all();
    assert_true(ps_deque_push(&d, item(PS_DEQUE_INITIAL + 1)));
    for (uintptr_t i = 1; i < PS_DEQUE_INITIAL + 2; i++)
        assert_ptr_equal(ps_deque_steal_if(&d, NULL, NULL), item(i));
    assert_null(ps_deque_steal_if(&d, NULL, NULL));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, fresh, done)
    const struct CMUnitTest tests[] = {
        TEST(unused_has_no_buffer),  TEST(pop_is_last_in_first_out),  TEST(steal_is_first_in_first_out),
        TEST(wraps_without_growing), TEST(grows_when_wrapped),        TEST(as_an_array),
        TEST(says_what_it_may_hold), TEST(no_memory_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
