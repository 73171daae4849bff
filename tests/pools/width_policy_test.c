/* How wide calls may be, decided from samples that are made by hand. */
#include "width_policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { PROCESSORS = 16, TICK = 2000 };

static struct width_policy policy;
static uint64_t now;

/* One more sample; cpu in tenths of a processor. */
static bool idle;
static unsigned sample(unsigned cpu, unsigned preempted, unsigned callers)
{
    now += TICK;
    return width_policy_step(&policy, &(struct width_sample){.at_us = now,
                                                             .wall_us = TICK,
                                                             .cpu_us = (uint64_t)TICK * cpu / 10,
                                                             .preempted = preempted,
                                                             .callers = callers,
                                                             .idle = idle});
}

static void begin_wide(unsigned processors)
{
    now = 1000000;
    idle = true;
    width_policy_init(&policy, processors);
}

static void one_caller_stays_wide(void **state)
{
    (void)state;
    begin_wide(PROCESSORS);
    for (int i = 0; i < 100; i++)
        assert_int_equal(sample(160, i % 8 == 0, 1), PROCESSORS);
}

static void callers_share_the_processors(void **state)
{
    (void)state;
    begin_wide(PROCESSORS);
    assert_int_equal(sample(160, 0, 4), 4);
    for (int i = 0; i < 10; i++)
        assert_int_equal(sample(160, 0, 4), 4);
    assert_int_equal(sample(160, 0, 17), 1);
    begin_wide(2);
    assert_int_equal(sample(20, 0, 2), 1);
}

static void preempted_threads_make_it_narrow_at_once(void **state)
{
    (void)state;
    begin_wide(PROCESSORS);
    assert_int_equal(sample(20, 0, 1), PROCESSORS);
    assert_int_equal(sample(20, 3, 1), 1);
    idle = false;
    for (int i = 0; i < 1000; i++) /* another process has the processors that we leave free */
        assert_int_equal(sample(5, 1, 0), 1);
}

/* A thread that gets a fifth of a processor waits for one; a program that does nothing does not. */
static void a_starved_program_stays_narrow(void **state)
{
    (void)state;
    begin_wide(2);
    sample(20, 0, 4);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(sample(2, 0, 0), 1);
    unsigned ticks = 0;
    while (sample(0, 0, 0) == 1)
        ticks++;
    assert_true(ticks < 100);
}

/* The kernel counts a running thread's time at its tick: every second sample has none. */
static void ticks_do_not_matter(void **state)
{
    (void)state;
    begin_wide(2);
    sample(20, 0, 4);
    for (int i = 0; i < 100; i++)
        assert_int_equal(sample(i % 2 ? 0 : 38, 0, 0), 1);
    unsigned ticks = 0;
    while (sample(ticks % 2 ? 0 : 20, 0, 0) == 1)
        ticks++;
    assert_true(ticks < 16000 / TICK + WIDTH_PATIENCE_MIN);
}

static void it_widens_when_processors_are_free(void **state)
{
    (void)state;
    begin_wide(2);
    assert_int_equal(sample(20, 0, 4), 1);
    for (int i = 0; i < 1000; i++) /* two threads compute */
        assert_int_equal(sample(19, 0, 0), 1);
    unsigned ticks = 1;
    while (sample(10, 0, 0) == 1)
        ticks++;
    assert_true(ticks >= WIDTH_PATIENCE_MIN && ticks < 16000 / TICK + WIDTH_PATIENCE_MIN);
    assert_int_equal(policy.width, 2);
}

static void it_widens_in_steps(void **state)
{
    (void)state;
    begin_wide(PROCESSORS);
    assert_int_equal(sample(160, 0, 17), 1);
    for (int i = 0; i < 20; i++)
        sample(policy.width == 1 ? 50 : 150, 0, 0); /* five threads compute */
    assert_int_equal(policy.width, 3);
    for (int i = 0; i < 20; i++)
        sample(30, 0, 1); /* one, three wide */
    assert_int_equal(policy.width, PROCESSORS);
}

static void a_mistake_makes_it_patient(void **state)
{
    (void)state;
    unsigned last = 0;
    begin_wide(2);
    sample(20, 0, 4);
    for (int mistakes = 0; mistakes < 8; mistakes++) { /* the callers compute little, but are four */
        unsigned ticks = 1;
        while (sample(11, 0, 0) == 1 && ticks < 1000)
            ticks++;
        assert_true(ticks >= last && ticks <= WIDTH_PATIENCE_MAX);
        last = ticks;
        assert_int_equal(sample(20, 0, 4), 1);
    }
    assert_int_equal(last, WIDTH_PATIENCE_MAX);
    while (sample(10, 0, 0) == 1)
        continue;
    now += WIDTH_CONTENDED_SOON_US; /* wide for long: no mistake */
    sample(20, 0, 4);
    assert_int_equal(policy.patience, WIDTH_PATIENCE_MIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_caller_stays_wide),
        cmocka_unit_test(callers_share_the_processors),
        cmocka_unit_test(preempted_threads_make_it_narrow_at_once),
        cmocka_unit_test(it_widens_when_processors_are_free),
        cmocka_unit_test(it_widens_in_steps),
        cmocka_unit_test(ticks_do_not_matter),
        cmocka_unit_test(a_starved_program_stays_narrow),
        cmocka_unit_test(a_mistake_makes_it_patient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
