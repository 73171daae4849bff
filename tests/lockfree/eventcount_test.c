/* The event count: what each call answers, and that no waiter sleeps through a change (a lost one hangs the test). */
#include "test.h"

#include "eventcount.h"
#include "os.h"

static void notify_tells_whether_somebody_waits(void **state)
{
    (void)state;
    struct ps_eventcount e;
    ps_eventcount_init(&e);
    assert_false(ps_eventcount_notify(&e));
    uint32_t key = ps_eventcount_prepare(&e);
    assert_true(ps_eventcount_waiting(&e, key));
    assert_true(ps_eventcount_notify(&e));
    assert_false(ps_eventcount_waiting(&e, key));
    ps_eventcount_finish(&e);
    assert_false(ps_eventcount_notify(&e));
    key = ps_eventcount_prepare(&e);
    ps_eventcount_cancel(&e);
    assert_false(ps_eventcount_notify(&e));
    assert_true(ps_eventcount_waiting(&e, key));
}

static void each_waiter_has_its_key(void **state)
{
    (void)state;
    struct ps_eventcount e;
    ps_eventcount_init(&e);
    uint32_t first = ps_eventcount_prepare(&e);
    assert_true(ps_eventcount_notify(&e));
    uint32_t second = ps_eventcount_prepare(&e);
    assert_false(ps_eventcount_waiting(&e, first));
    assert_true(ps_eventcount_waiting(&e, second));
    ps_eventcount_finish(&e);
    assert_true(ps_eventcount_notify(&e)); /* the second still waits */
    assert_false(ps_eventcount_waiting(&e, second));
    ps_eventcount_finish(&e);
    assert_false(ps_eventcount_notify(&e));
}

#define CONSUMERS 3
#define TOKENS    30000

/* Producer and consumers share a plain counter of tokens: relaxed, so that the event count alone must carry it over. */
static struct ps_eventcount event;
static _Atomic int tokens;
static _Atomic unsigned consumed, stopped;

static bool take_token(void)
{
    int seen = ps_load_relaxed(&tokens);
    while (seen > 0)
        if (ps_cas_relaxed(&tokens, &seen, seen - 1))
            return true;
    return false;
}

static void *consume(void *arg)
{
    (void)arg;
    for (;;) {
        if (take_token()) {
            ps_add_relaxed(&consumed, 1);
            continue;
        }
        if (ps_load_relaxed(&stopped) != 0)
            return NULL;
        uint32_t key = ps_eventcount_prepare(&event);
        if (ps_load_relaxed(&tokens) > 0 || ps_load_relaxed(&stopped) != 0) {
            ps_eventcount_cancel(&event);
            continue;
        }
        while (ps_eventcount_waiting(&event, key))
            os_park(&event.epoch, key, OS_FOREVER);
        ps_eventcount_finish(&event);
    }
}

static void no_change_is_missed(void **state)
{
    (void)state;
    os_thread t[CONSUMERS];
    ps_eventcount_init(&event);
    for (int i = 0; i < CONSUMERS; i++)
        assert_int_equal(os_thread_start(&t[i], consume, NULL, 0, true), 0);
    uint32_t random = 4711;
    for (int i = 0; i < TOKENS; i++) {
        ps_add_relaxed(&tokens, 1);
        if (ps_eventcount_notify(&event))
            os_wake(&event.epoch, CONSUMERS);
        /* Only when all is consumed do consumers come to sleep. */
        if (next_random(&random) % 4 == 0)
            while (ps_load_relaxed(&tokens) > 0)
                os_yield();
    }
    while (ps_load_relaxed(&tokens) > 0) /* hangs if all sleep on a token */
        os_yield();
    ps_store_relaxed(&stopped, 1);
    if (ps_eventcount_notify(&event))
        os_wake(&event.epoch, CONSUMERS);
    for (int i = 0; i < CONSUMERS; i++)
        os_thread_join(t[i]);
    assert_int_equal(ps_load_relaxed(&consumed), TOKENS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notify_tells_whether_somebody_waits),
        cmocka_unit_test(each_waiter_has_its_key),
        cmocka_unit_test(no_change_is_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
