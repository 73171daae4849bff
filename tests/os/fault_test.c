/* The fault injection itself. */
#include "test.h"

#include "fault.h"
#include "os.h"

#include <errno.h>
#include <stdlib.h>

static void window_of_failures(void **state)
{
    (void)state;
    fault_arm(FAULT_MAP, 2, 3);
    for (int i = 0; i < 8; i++) {
        void *p = os_map(1);
        assert_int_equal(p == NULL, i >= 2 && i < 5);
        if (p != NULL)
            os_unmap(p, 1);
    }
    assert_int_equal(fault_calls(FAULT_MAP), 8);
    assert_int_equal(fault_failures(FAULT_MAP), 3);
}

static void *nothing(void *arg) { return arg; }

static void all_following_until_disarmed(void **state)
{
    (void)state;
    os_thread t;
    size_t usable;
    fault_arm(FAULT_THREAD_START, 0, FAULT_ALL_FOLLOWING);
    fault_arm(FAULT_STACK_MAP, 0, FAULT_ALL_FOLLOWING);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(os_thread_start(&t, nothing, NULL, 0, false), EAGAIN);
        assert_null(os_stack_map(1, &usable));
    }
    fault_disarm_all();
    assert_int_equal(os_thread_start(&t, nothing, NULL, 0, false), 0);
    os_thread_join(t);
    void *stack = os_stack_map(1, &usable);
    assert_non_null(stack);
    os_stack_unmap(stack, usable);
}

static void memory(void **state)
{
    (void)state;
    fault_arm(FAULT_MALLOC, 0, 2);
    void *volatile p = malloc(10);
    void *volatile q = calloc(2, 10);
    void *volatile r = aligned_alloc(64, 64);
    fault_disarm_all();
    assert_null(p);
    assert_null(q);
    assert_non_null(r);
    free(r);
    free(q);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(window_of_failures),
        cmocka_unit_test(all_following_until_disarmed),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
