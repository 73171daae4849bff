/* Which regions are kept to their parent: empty ones soon, where that is faster; and for no longer than it is. */
#include "serial_predictor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { N = 8, MOST = 5000, EMPTY_KEPT = 400, EMPTY_OFFERED = 1500, SOON = 200 };

/* A region of `members` that takes `offered` cycles, or `kept` where it is kept; true: it was. */
static bool region(struct ps_serial_predictor *c, uint32_t members, uint64_t offered, uint64_t kept, bool called_off)
{
    bool keep = ps_serial_begin(c, members, called_off);
    if (ps_serial_timed(c))
        ps_serial_end(c, keep ? kept : offered, MOST);
    return keep;
}

static bool empty(struct ps_serial_predictor *c) { return region(c, N, EMPTY_OFFERED, EMPTY_KEPT, false); }

static void learn(struct ps_serial_predictor *c)
{
    for (int i = 0; i < SOON; i++)
        empty(c);
    assert_int_equal(c->state, PS_SERIAL_ALONE);
    assert_true(empty(c));
}

static void empty_regions_are_kept(void **state)
{
    (void)state;
    struct ps_serial_predictor c = {0};
    learn(&c);
    int offered = 0;
    for (int i = 0; i < 100000; i++)
        offered += !empty(&c);
    assert_in_range(offered, 1, 2000); /* looked at again now and then */
}

/* Bodies that two processors do in half the time, and not much longer than an empty one's way. */
static void shared_ones_are_not(void **state)
{
    (void)state;
    struct ps_serial_predictor c = {0};
    int kept = 0;
    for (int i = 0; i < 100000; i++)
        kept += region(&c, N, 2000, 3500, false);
    assert_in_range(kept, PS_SERIAL_TRIES, 1000);
    assert_int_not_equal(c.state, PS_SERIAL_ALONE);
}

static void long_ones_are_never_tried(void **state)
{
    (void)state;
    struct ps_serial_predictor c = {0};
    for (int i = 0; i < 100000; i++)
        assert_false(region(&c, N, MOST + 1, 2 * MOST, false));
    for (int i = 0; i < 100000; i++) /* nor where every second one is */
        assert_false(region(&c, N, i % 2 ? EMPTY_OFFERED : MOST + 1, EMPTY_KEPT, false));
}

static void real_work_ends_it_soon(void **state)
{
    (void)state;
    struct ps_serial_predictor c = {0};
    learn(&c);
    while (c.left % PS_SERIAL_SAMPLE != 1)
        empty(&c);
    region(&c, N, MOST * 2, MOST * 4, false);
    assert_true(region(&c, N, MOST * 2, MOST * 4, false)); /* the first may have been interrupted */
    assert_false(region(&c, N, MOST * 2, MOST * 4, false));
    assert_false(region(&c, N, MOST * 2, MOST * 4, false));
    learn(&c);
    int kept = 0;
    while (region(&c, N, MOST * 2, MOST * 4, false))
        kept++;
    assert_in_range(kept, 2, PS_SERIAL_SAMPLE + 1);
}

static void few_are_timed(void **state)
{
    (void)state;
    struct ps_serial_predictor c = {0};
    learn(&c);
    int kept = 0, timed = 0;
    for (; ps_serial_begin(&c, N, false); kept++)
        if (ps_serial_timed(&c)) {
            timed++;
            ps_serial_end(&c, EMPTY_KEPT, MOST);
        }
    assert_in_range(kept, PS_SERIAL_CALM - SOON, PS_SERIAL_CALM);
    assert_in_range(timed, 1, PS_SERIAL_CALM / PS_SERIAL_SAMPLE);
    while (!empty(&c))
        continue;
    assert_true(ps_serial_timed(&c)); /* those that are tried, all */
}

static void one_interruption_does_not(void **state)
{
    (void)state;
    struct ps_serial_predictor c = {0};
    learn(&c);
    for (int i = 0; i < PS_SERIAL_CALM / 2; i++)
        assert_true(region(&c, N, EMPTY_OFFERED, i % 2 ? EMPTY_KEPT : 1000 * MOST, false));
}

static void thieves_end_it_at_once(void **state)
{
    (void)state;
    struct ps_serial_predictor c = {0};
    learn(&c);
    assert_false(region(&c, N, MOST * 2, 0, true));
}

static void another_size_is_learnt_anew(void **state)
{
    (void)state;
    struct ps_serial_predictor c = {0};
    learn(&c);
    assert_false(region(&c, N + 1, EMPTY_OFFERED, EMPTY_KEPT, false));
    assert_false(region(&c, N, EMPTY_OFFERED, EMPTY_KEPT, false));
}

/* A team that is called off again and again tries ever less often; one that has gained meanwhile does not. */
static void failures_make_it_rare(void **state)
{
    (void)state;
    struct ps_serial_predictor c = {0};
    int kept = 0;
    for (int i = 0; i < 200000; i++) {
        bool was_kept = c.state == PS_SERIAL_ALONE;
        kept += region(&c, N, EMPTY_OFFERED, EMPTY_KEPT, was_kept);
    }
    assert_true(kept < 200000 / 50);
    c = (struct ps_serial_predictor){0};
    for (int round = 0; round < 20; round++) {
        learn(&c);
        for (int i = 0; i <= PS_SERIAL_PAID; i++)
            empty(&c);
        region(&c, N, MOST, 0, true);
    }
}

/* Members that wait for each other take a thief's time to look twice, where they are kept. */
static void those_that_need_each_other_are_seldom_tried(void **state)
{
    (void)state;
    struct ps_serial_predictor c = {0};
    int kept = 0;
    for (int i = 0; i < 200000; i++)
        kept += region(&c, N, EMPTY_OFFERED, MOST + 1, false);
    assert_in_range(kept, 1, 200000 / 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_regions_are_kept),
        cmocka_unit_test(shared_ones_are_not),
        cmocka_unit_test(long_ones_are_never_tried),
        cmocka_unit_test(real_work_ends_it_soon),
        cmocka_unit_test(few_are_timed),
        cmocka_unit_test(one_interruption_does_not),
        cmocka_unit_test(thieves_end_it_at_once),
        cmocka_unit_test(another_size_is_learnt_anew),
        cmocka_unit_test(failures_make_it_rare),
        cmocka_unit_test(those_that_need_each_other_are_seldom_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
