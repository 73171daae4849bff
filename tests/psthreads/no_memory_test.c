/* Without memory the calls that promise ENOMEM say so, and nothing is half done. */
#include "fault.h"
#include "sync_support.h"

static void refuse_memory(void) { fault_arm(FAULT_MALLOC, 0, FAULT_ALL_FOLLOWING); }
static void allow_memory(void)
{
    fault_disarm_all();
    assert_true(fault_failures(FAULT_MALLOC) > 0);
}

static void test_barrier(void **state)
{
    (void)state;
    psthread_barrier_t b;
    refuse_memory();
    assert_int_equal(psthread_barrier_init(&b, 4), ENOMEM);
    allow_memory();
}

static void count(void *n) { ps_add_relaxed((_Atomic unsigned *)n, 1); }

static void test_workqueue(void **state)
{
    (void)state;
    _Atomic unsigned ran = 0;
    psthread_workqueue_t q;
    refuse_memory();
    assert_int_equal(psthread_workqueue_init(&q), ENOMEM);
    allow_memory();
    assert_int_equal(psthread_workqueue_init(&q), 0);
    refuse_memory();
    assert_int_equal(psthread_workqueue_add(q, count, &ran, 0), ENOMEM);
    allow_memory();
    assert_int_equal(psthread_workqueue_add(q, count, &ran, 0), 0);
    assert_int_equal(psthread_workqueue_wait(q), 0);
    assert_int_equal(ps_load_relaxed(&ran), 1); /* what was refused is not run */
    assert_int_equal(psthread_workqueue_destroy(q), 0);
    psthread_waitall();
}

static void test_key(void **state)
{
    (void)state;
    int value;
    psthread_key_t low, between[30], high;
    assert_int_equal(psthread_key_create(&low, NULL), 0);
    for (unsigned i = 0; i < 30; i++)
        assert_int_equal(psthread_key_create(&between[i], NULL), 0);
    assert_int_equal(psthread_key_create(&high, NULL), 0);
    assert_int_equal(psthread_setspecific(low, &value), 0);
    refuse_memory();
    assert_int_equal(psthread_setspecific(high, &value), ENOMEM); /* the table would have to grow */
    allow_memory();
    assert_ptr_equal(psthread_getspecific(low), &value);
    assert_null(psthread_getspecific(high));
    psthread_key_delete(low);
    psthread_key_delete(high);
    for (unsigned i = 0; i < 30; i++)
        psthread_key_delete(between[i]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_barrier),
        cmocka_unit_test(test_workqueue),
        cmocka_unit_test(test_key),
    };
    return RUN_ON_VPS(tests, "no memory");
}
