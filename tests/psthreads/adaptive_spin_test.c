/* How an idle vp's patience follows the gaps between work: rests teach it to sleep, bursts to search, both soon. */
#include "adaptive_spin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const uint64_t most = 1000 * 1000;

static void long_rests_shorten_it(void **state)
{
    (void)state;
    uint64_t patience = most;
    for (int i = 0; i < 10; i++) {
        uint64_t before = patience;
        patience = ps_adaptive_spin_after(patience, 5 * most, most);
        assert_true(patience < before || patience == PS_ADAPTIVE_SPIN_LEAST_NS);
    }
    assert_int_equal(patience, PS_ADAPTIVE_SPIN_LEAST_NS);
}

/* Once woken early, it searches through the next gap of that length. */
static void short_gaps_are_met_searching(void **state)
{
    (void)state;
    for (uint64_t gap = PS_ADAPTIVE_SPIN_LEAST_NS + 1; gap <= most; gap += 7777) {
        uint64_t patience = ps_adaptive_spin_after(PS_ADAPTIVE_SPIN_LEAST_NS, gap - PS_ADAPTIVE_SPIN_LEAST_NS, most);
        assert_true(patience >= gap);
        assert_true(patience <= most);
    }
}

static void what_no_search_could_meet_teaches_nothing_else(void **state)
{
    (void)state;
    assert_int_equal(ps_adaptive_spin_after(most, 1, most), most / 2);
    assert_int_equal(ps_adaptive_spin_after(PS_ADAPTIVE_SPIN_LEAST_NS, 60 * most, most), PS_ADAPTIVE_SPIN_LEAST_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_rests_shorten_it),
        cmocka_unit_test(short_gaps_are_met_searching),
        cmocka_unit_test(what_no_search_could_meet_teaches_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
