/* Once, and thread-specific values. */
#include "sync_support.h"

static psthread_once_t once;
static unsigned ran, made;

static void make_slowly(void)
{
    ran++;
    for (int i = 0; i < 20; i++)
        psthread_yield();
    made = 42;
}
static void need_it(unsigned id, void *arg)
{
    (void)id, (void)arg;
    CHECK(psthread_once(&once, make_slowly) == 0);
    CHECK(made == 42);
}
static void test_once(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        once = (psthread_once_t)PSTHREAD_ONCE_INIT;
        ran = made = 0;
        run_crew(i ? 2 + i % 5 : MANY, need_it, NULL);
        assert_int_equal(ran, 1);
    }
}

/* --- keys --- */

static void test_limits(void **state)
{
    (void)state;
    psthread_key_t key[PSTHREAD_KEYS_MAX], more;
    for (unsigned i = 0; i < PSTHREAD_KEYS_MAX; i++)
        assert_int_equal(psthread_key_create(&key[i], NULL), 0);
    assert_int_equal(psthread_key_create(&more, NULL), EAGAIN);
    for (unsigned i = 0; i < PSTHREAD_KEYS_MAX; i++) {
        assert_null(psthread_getspecific(key[i]));
        assert_int_equal(psthread_setspecific(key[i], &key[i]), 0);
    }
    for (unsigned i = 0; i < PSTHREAD_KEYS_MAX; i++)
        assert_ptr_equal(psthread_getspecific(key[i]), &key[i]);
    assert_int_equal(psthread_key_delete(key[5]), 0);
    assert_int_equal(psthread_key_delete(key[5]), EINVAL);
    assert_null(psthread_getspecific(key[5]));
    assert_int_equal(psthread_setspecific(key[5], &more), EINVAL);
    assert_int_equal(psthread_key_create(&more, NULL), 0);
    assert_int_equal(more, key[5]);
    assert_null(psthread_getspecific(more)); /* the old key's value is not the new one's */
    for (unsigned i = 0; i < PSTHREAD_KEYS_MAX; i++)
        assert_int_equal(psthread_key_delete(key[i]), 0);
    assert_int_equal(psthread_setspecific(PSTHREAD_KEYS_MAX, &more), EINVAL);
    assert_int_equal(psthread_key_delete(PSTHREAD_KEYS_MAX), EINVAL);
    assert_null(psthread_getspecific(PSTHREAD_KEYS_MAX));
}

struct per_thread {
    psthread_key_t low, high;
    _Atomic unsigned destroyed;
};
static struct per_thread shared;

static void count_destroyed(void *value)
{
    CHECK(*(unsigned *)value < MANY);
    ps_add_relaxed(&shared.destroyed, 1);
    free(value);
}
static void keep_own(unsigned id, void *arg)
{
    (void)arg;
    unsigned *mine = malloc(sizeof *mine), seed = id;
    CHECK(mine && !psthread_getspecific(shared.low) && !psthread_getspecific(shared.high));
    *mine = id;
    CHECK(psthread_setspecific(shared.high, mine) == 0);
    CHECK(psthread_setspecific(shared.low, NULL) == 0);
    for (int i = 0; i < 5; i++) {
        psthread_yield();
        CHECK(*(unsigned *)psthread_getspecific(shared.high) == id);
    }
    if (one_in(&seed, 3)) { /* gives it up itself */
        CHECK(psthread_setspecific(shared.high, NULL) == 0);
        count_destroyed(mine);
    }
}
static void test_own_values(void **state)
{
    (void)state;
    psthread_key_t between[40];
    ps_store_relaxed(&shared.destroyed, 0);
    assert_int_equal(psthread_key_create(&shared.low, count_destroyed), 0);
    for (unsigned i = 0; i < 40; i++) /* so that the table has to grow */
        assert_int_equal(psthread_key_create(&between[i], NULL), 0);
    assert_int_equal(psthread_key_create(&shared.high, count_destroyed), 0);
    run_crew(MANY, keep_own, NULL);
    assert_int_equal(ps_load_relaxed(&shared.destroyed), MANY);
    for (unsigned i = 0; i < 40; i++)
        psthread_key_delete(between[i]);
    psthread_key_delete(shared.low);
    psthread_key_delete(shared.high);
}

/* A destructor that sets the value again is called PSTHREAD_DESTRUCTOR_ITERATIONS times, then given up. */
static psthread_key_t again_key;
static _Atomic unsigned again_calls;
static void set_again(void *value)
{
    ps_add_relaxed(&again_calls, 1);
    CHECK(psthread_getspecific(again_key) == NULL);
    CHECK(psthread_setspecific(again_key, value) == 0);
}
static void set_once(unsigned id, void *arg)
{
    (void)id;
    CHECK(psthread_setspecific(again_key, arg) == 0);
}
static void test_destructor_again(void **state)
{
    (void)state;
    ps_store_relaxed(&again_calls, 0);
    assert_int_equal(psthread_key_create(&again_key, set_again), 0);
    run_crew(3, set_once, &again_calls);
    assert_int_equal(ps_load_relaxed(&again_calls), 3 * PSTHREAD_DESTRUCTOR_ITERATIONS);
    assert_int_equal(psthread_key_delete(again_key), 0);
}

/* The destructor of a key that is deleted is not called any more. */
static void test_deleted_key(void **state)
{
    (void)state;
    struct two {
        psthread_key_t key;
    } two;
    ps_store_relaxed(&again_calls, 0);
    assert_int_equal(psthread_key_create(&two.key, set_again), 0);
    again_key = two.key;
    assert_int_equal(psthread_setspecific(two.key, &two), 0);
    assert_int_equal(psthread_key_delete(two.key), 0);
    run_crew(1, need_it, NULL);
    assert_int_equal(ps_load_relaxed(&again_calls), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once),        cmocka_unit_test(test_limits),           cmocka_unit_test(test_own_values),
        cmocka_unit_test(test_deleted_key), cmocka_unit_test(test_destructor_again),
    };
    return RUN_ON_VPS(tests, "once and keys");
}
