/* The event count: what each call answers, and that no waiter sleeps through a change (a lost one hangs the test). */
#include "test.h"

#include "eventcount.h"
#include "meeting.h"

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
#define TOKENS 30000

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
    unsigned given = 0;
    for (uint64_t until_ns = os_now_ns() + MEETINGS_NS; given < TOKENS && os_now_ns() < until_ns; given++) {
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
    assert_int_equal(ps_load_relaxed(&consumed), given);
}

/* One waiter and one notifier, again and again at the same moment, with a plain relaxed store between them: the
 * notifier sees the waiter, or the waiter sees the store. No sleep: what would be a lost wake-up is counted. */
static PS_LINE_ALIGNED struct ps_eventcount meeting;
static PS_LINE_ALIGNED _Atomic unsigned said;
static PS_LINE_ALIGNED _Atomic unsigned begun, ended;
static unsigned heard; /* what the waiter saw; handed over by ended */

static void dawdle(unsigned steps)
{
    for (volatile unsigned i = 0; i < steps; i++)
        ;
}

static void *meet(void *arg)
{
    (void)arg;
    for (unsigned i = 1; wait_for(&begun, i); i++) {
        dawdle(i % 32);
        ps_eventcount_prepare(&meeting);
        heard = ps_load_relaxed(&said);
        ps_store_release(&ended, i);
        wait_for(&begun, 0);
        ps_eventcount_cancel(&meeting);
        (void)ps_load_relaxed(&said); /* both lines in both caches: an old value can then be read for longest */
        ps_store_release(&ended, 0);
    }
    return NULL;
}

static void one_sees_the_other(void **state)
{
    (void)state;
    os_thread t;
    unsigned lost = 0;
    ps_eventcount_init(&meeting);
    assert_int_equal(os_thread_start(&t, meet, NULL, 0, true), 0);
    uint64_t until_ns = os_now_ns() + MEETINGS_NS;
    for (unsigned i = 1; i <= MEETINGS && os_now_ns() < until_ns; i++) {
        (void)ps_load_relaxed(&meeting.waiters);
        ps_store_release(&begun, i);
        dawdle(i % 128);
        ps_store_relaxed(&said, i);
        bool seen = ps_eventcount_notify(&meeting);
        wait_for(&ended, i);
        lost += !seen && heard != i;
        ps_store_release(&begun, 0);
        wait_for(&ended, 0);
    }
    ps_store_release(&begun, NO_MORE);
    os_thread_join(t);
    assert_int_equal(lost, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notify_tells_whether_somebody_waits),
        cmocka_unit_test(each_waiter_has_its_key),
        cmocka_unit_test(no_change_is_missed),
        cmocka_unit_test(one_sees_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
