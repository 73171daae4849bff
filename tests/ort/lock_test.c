/* A thread that tests a lock again and again, or has freed one, does not keep from its processor the thread that it
 * waits for or has woken. One vp: the order is that of its queue, and no other thread takes a member. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "current.h"
#include "lock_routines.h"
#include "vp.h"

#define N 2
#define TRIES 100 /* no watchdog comes within so few */

static _Atomic uint32_t lock;
static struct ort_nest_lock nest;
static bool holds, goes_on, first;
static unsigned tries;

/* --- a test that fails --- */

/* Member 1 has both locks, and is ready behind the root. */
static void tests_fail(void *data)
{
    struct ort_thread *t = ort_self();
    (void)data;
    if (t->id == 1) {
        ort_routine_set(&lock);
        ort_routine_set_nest(&nest, t);
        holds = true;
        ee_yield();
        ort_routine_unset(&lock);
        ee_yield();
        ort_routine_unset_nest(&nest);
        return;
    }
    while (!holds)
        ee_yield();
    for (tries = 0; tries < TRIES && !ort_routine_test(&lock); tries++)
        continue;
    for (; tries < TRIES && !ort_routine_test_nest(&nest, t); tries++)
        continue;
}

static void a_failed_test_lets_the_holder_run(void **state)
{
    (void)state;
    assert_int_equal(ort_parallel(&(struct ort_parallel){.fn = tests_fail, .num_threads = N}), N);
    assert_in_range(tries, 1, TRIES - 1);
}

/* --- a lock that is free each time --- */

#define POLLS 1000 /* no watchdog comes within so few */
static bool came;

/* Member 1 is ready behind the root, which polls for what it does. */
static void polls(void *data)
{
    void (*poll)(void) = *(void (**)(void))data;
    if (ort_self()->id == 1) {
        holds = true; /* it has begun */
        ee_yield();
        came = true;
        return;
    }
    while (!holds)
        ee_yield();
    for (tries = 0; tries < POLLS && !came; tries++)
        poll();
}

static void poll_lock(void)
{
    ort_routine_set(&lock);
    ort_routine_unset(&lock);
}
static void poll_nest(void)
{
    struct ort_thread *t = ort_self();
    ort_routine_set_nest(&nest, t);
    ort_routine_unset_nest(&nest);
}
static void poll_test(void)
{
    if (ort_routine_test(&lock))
        ort_routine_unset(&lock);
}

static void who_polls_lets_others_run(void **state)
{
    (void)state;
    void (*const polled[])(void) = {poll_lock, poll_nest, poll_test};
    ps_store_relaxed(&lock, 0); /* the root has got them */
    nest = (struct ort_nest_lock){.count = 0};
    for (unsigned i = 0; i < sizeof polled / sizeof *polled; i++) {
        void (*poll)(void) = polled[i];
        holds = came = false;
        assert_int_equal(ort_parallel(&(struct ort_parallel){.fn = polls, .data = &poll, .num_threads = N}), N);
        assert_in_range(tries, 1, POLLS - 1);
    }
}

/* --- a root is woken --- */

static void root_waits(void *data)
{
    const bool *was_stuck = data;
    if (ort_self()->id == 1) {
        ort_routine_set(&lock);
        holds = true;
        ee_yield(); /* the root comes to wait */
        ps_store_relaxed(&ps_vp()->root_first, *was_stuck);
        ort_routine_unset(&lock);
        first = !goes_on;
        return;
    }
    while (!holds)
        ee_yield();
    ort_routine_set(&lock);
    goes_on = true;
    ort_routine_unset(&lock);
}

/* Whether member 1 goes on before the root that it has woken. */
static bool waker_is_first(bool was_stuck)
{
    holds = goes_on = first = false;
    ps_store_relaxed(&lock, 0);
    assert_int_equal(ort_parallel(&(struct ort_parallel){.fn = root_waits, .data = &was_stuck, .num_threads = N}), N);
    return first;
}

static void a_root_that_was_stuck_goes_first(void **state)
{
    (void)state;
    assert_true(waker_is_first(false));
    assert_false(waker_is_first(true));
}

int main(void)
{
    setenv("PSTHREADS_NUM_VPS", "1", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_test_lets_the_holder_run),
        cmocka_unit_test(who_polls_lets_others_run),
        cmocka_unit_test(a_root_that_was_stuck_goes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
