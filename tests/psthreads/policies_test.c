/* The watchdog's policies, each handed samples that are made by hand: what it decides, and when. No kernel thread runs
 * here, and no time passes but the samples'. */
#include "quota_park.h"
#include "root_fairness.h"
#include "runtime.h"
#include "spares.h"
#include "vp.h"
#include "watchdog.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
#define VPS 4     /* regular ones */
#define ALL_VPS 8 /* roots in the others */

static struct vp vp[ALL_VPS];
static struct watchdog_seen seen[ALL_VPS];
static uint64_t now = 1000 * MS;

/* Each sample begins like this: all vps are attached, none uses its processor, nothing is ready. */
static struct watchdog_sample sample_after(uint64_t ns)
{
    now += ns;
    for (unsigned id = 0; id < ALL_VPS; id++) {
        seen[id].vp = &vp[id];
        seen[id].tid = (int)id + 1;
        seen[id].attached = true;
        seen[id].roots = id == 0 || id >= VPS;
        seen[id].usage = WATCHDOG_READ;
        seen[id].usage_at.sleeping = false;
        seen[id].counted = true;
        seen[id].members = 0;
    }
    return (struct watchdog_sample){.now_ns = now, .num_vps = VPS, .vps = ALL_VPS, .most_spares = 1000, .seen = seen};
}

/* --- spares --- */

#define HELD 1 /* the vp that is held */

/* The vp computes and passes no scheduling point; three entries wait behind it. */
static struct watchdog_sample held_vp(bool idle, unsigned coming)
{
    struct watchdog_sample s = sample_after((uint64_t)spares_period_ns());
    seen[HELD].usage_at.cpu_ns += (uint64_t)spares_period_ns();
    s.pending = seen[HELD].ready = 3;
    s.idle = idle;
    s.coming = coming;
    return s;
}

static struct spares_action decide_spares(struct watchdog_sample s)
{
    struct spares_action a;
    spares_decide(&s, &a);
    return a;
}

/* A long time without a stall. */
static void calm_for_seconds(void)
{
    for (int i = 0; i < 1000; i++) {
        struct watchdog_sample s = sample_after(5 * MS);
        seen[HELD].ready = 0;
        seen[HELD].root_ready = seen[0].root_ready = false;
        assert_int_equal(decide_spares(s).spares, 0);
    }
    assert_int_equal(spares_period_ns(), WATCHDOG_TICK_NS);
    assert_false(decide_spares(sample_after(5 * MS)).calm); /* once is enough */
    spares_begin();
}

/* The number of spares at the next stall; how long it took. */
static unsigned spares_at_next_stall(uint64_t *after_ns)
{
    uint64_t began = now;
    for (int i = 0; i < 100; i++) {
        struct spares_action a = decide_spares(held_vp(false, 0));
        assert_int_equal(a.spares != 0, a.starving);
        if (a.spares) {
            *after_ns = now - began;
            return a.spares;
        }
    }
    fail_msg("no spare is started for a held vp");
    return 0;
}

static void a_held_vp_gets_spares_twice_as_many_each_time(void **state)
{
    (void)state;
    uint64_t first_ns, ns = 0;
    calm_for_seconds();
    assert_int_equal(spares_at_next_stall(&first_ns), 1);
    assert_in_range(first_ns, WATCHDOG_STALL_NS, 2 * WATCHDOG_STALL_NS);
    for (unsigned n = 2; n <= 64; n *= 2)
        assert_int_equal(spares_at_next_stall(&ns), n);
    assert_int_equal(spares_at_next_stall(&ns), 64); /* no more than that at once */
    assert_true(ns < first_ns);                      /* stalls that repeat are noticed sooner */
    assert_int_equal(spares_period_ns(), WATCHDOG_QUICK_TICK_NS);
    calm_for_seconds();
}

static void members_get_a_spare_each_at_once(void **state)
{
    (void)state;
    calm_for_seconds();
    unsigned n = 0;
    while (n == 0) {
        struct watchdog_sample s = held_vp(false, 0);
        seen[HELD].members = 15;
        n = decide_spares(s).spares;
    }
    assert_int_equal(n, 15);
    calm_for_seconds();
}

static void scheduling_points_waits_for_a_processor_and_rest_are_no_stall(void **state)
{
    (void)state;
    calm_for_seconds();
    for (int i = 0; i < 100; i++) { /* it passes scheduling points */
        struct watchdog_sample s = held_vp(false, 0);
        seen[HELD].ticks++;
        assert_int_equal(decide_spares(s).spares, 0);
    }
    for (int i = 0; i < 100; i++) { /* it waits for a processor */
        uint64_t before_ns = seen[HELD].usage_at.cpu_ns;
        struct watchdog_sample s = held_vp(false, 0);
        seen[HELD].usage_at.cpu_ns = before_ns;
        assert_int_equal(decide_spares(s).spares, 0);
    }
    for (int i = 0; i < 100; i++) { /* nothing is ready behind it */
        struct watchdog_sample s = held_vp(false, 0);
        seen[HELD].ready = 0;
        assert_int_equal(decide_spares(s).spares, 0);
    }
}

static void spares_wait_for_the_last_ones_and_for_idle_vps(void **state)
{
    (void)state;
    calm_for_seconds();
    for (int i = 0; i < 100; i++)
        assert_int_equal(decide_spares(held_vp(false, 1)).spares, 0); /* the last one has not run yet */
    calm_for_seconds();
    uint64_t began = now;
    while (decide_spares(held_vp(true, 0)).spares == 0) /* an idle vp does not come for it */
        assert_true(now - began < 1000 * MS);
    assert_true(now - began >= 200 * MS);
    calm_for_seconds();
}

static void a_root_behind_a_held_vp_is_released(void **state)
{
    (void)state;
    calm_for_seconds();
    unsigned told = 0;
    for (int i = 0; i < 8; i++) {
        struct watchdog_sample s = sample_after((uint64_t)spares_period_ns());
        seen[0].usage_at.cpu_ns += (uint64_t)spares_period_ns();
        s.roots_ready = 1;
        seen[0].root_ready = true;
        struct spares_action a = decide_spares(s);
        for (unsigned k = 0; k < a.num_root_holders; k++)
            assert_ptr_equal(a.root_holders[k], &vp[0]);
        assert_true(a.num_root_holders >= (told != 0)); /* again at each look */
        told += a.num_root_holders;
    }
    assert_true(told > 0);
    calm_for_seconds();
}

static void places_are_opened_behind_a_held_home(void **state)
{
    (void)state;
    calm_for_seconds();
    bool opened = false;
    for (int i = 0; i < 8; i++) {
        struct watchdog_sample s = held_vp(true, 0); /* an idle vp may be there: it must not look into that queue */
        seen[HELD].bound = 1;
        opened |= decide_spares(s).open_places;
        seen[HELD].bound = 0;
    }
    assert_true(opened);
    calm_for_seconds();
}

/* --- root fairness --- */

#define SECOND 250000 /* in units of 4 us, which a cycle is here */

static struct root_fairness roots;
static uint64_t cycles = 1000;

static bool roots_open(unsigned n, enum root_opening how)
{
    while (n--)
        root_fairness_judge(&roots, how, cycles++);
    return roots.on;
}

/* What has been found out before is forgotten. */
static void roots_begin(void)
{
    ps_rt.per_region_cycles = 1;
    roots = (struct root_fairness){0};
}

static void roots_that_spin_take_turns(void **state)
{
    (void)state;
    roots_begin();
    for (int i = 0; i < 20; i++) { /* one that was preempted between its question and its region, now and then */
        assert_false(roots_open(20, ROOT_AT_ONCE));
        assert_false(roots_open(1, ROOT_SPUN));
    }
    assert_false(roots_open(100, ROOT_DAWDLED));
    assert_false(roots_open(1, ROOT_SPUN));
    assert_false(roots_open(8, ROOT_AT_ONCE));
    assert_true(roots_open(1, ROOT_SPUN));
    for (int i = 0; i < 100; i++) {
        assert_true(roots_open(63, ROOT_DAWDLED)); /* beside one that has gone on out of turn */
        assert_true(roots_open(1, ROOT_AT_ONCE));
        assert_true(roots_open(2, ROOT_BESIDE));
        assert_true(roots_open(1, ROOT_SPUN));
    }
}

static void turns_end_where_nobody_is_shut_out(void **state)
{
    (void)state;
    roots_begin();
    assert_true(roots_open(2, ROOT_SPUN));
    for (int i = 0; i < 3; i++) {
        assert_true(roots_open(1000, ROOT_AT_ONCE));
        roots_open(1, ROOT_BESIDE);
    }
    assert_false(roots_open(100, ROOT_SPUN)); /* not again at once */
}

static void turns_end_where_roots_do_other_work_and_rest_for_longer_each_time(void **state)
{
    (void)state;
    roots_begin();
    for (uint64_t rest = SECOND; rest < 100 * SECOND; rest *= 2) {
        assert_true(roots_open(2, ROOT_SPUN));
        assert_false(roots_open(64, ROOT_DAWDLED));
        cycles += rest - 10;
        assert_false(roots_open(5, ROOT_SPUN));
        cycles += 10;
    }
}

/* --- quota park --- */

static unsigned decide_quota(struct quota_park_most *most, unsigned in_mask, unsigned by_quota)
{
    struct watchdog_sample s = sample_after(100 * MS);
    s.new_limits = true;
    s.in_mask = in_mask;
    s.by_quota = by_quota;
    return quota_park_decide(&s, most);
}

static void what_the_system_allows_is_what_may_run(void **state)
{
    (void)state;
    struct quota_park_most most = {.quota = UINT_MAX};
    assert_int_equal(decide_quota(&most, 8, UINT_MAX), VPS);
    assert_int_equal(decide_quota(&most, 2, UINT_MAX), 2);
    assert_int_equal(decide_quota(&most, 8, 3), 3);
    assert_int_equal(decide_quota(&most, 2, 3), 2);
    assert_int_equal(decide_quota(&most, 0, 3), 1);
    assert_int_equal(decide_quota(&most, 8, UINT_MAX), VPS);
    struct watchdog_sample s = sample_after(5 * MS);
    assert_int_equal(quota_park_decide(&s, &most), 0); /* nothing was read in this tick */
}

/* More vps than the machine has stay where the user wants them; what is fewer than there once was counts. */
static void more_vps_than_processors_stay(void **state)
{
    (void)state;
    struct quota_park_most most = {.quota = 2};
    assert_int_equal(decide_quota(&most, 2, 2), VPS);
    assert_int_equal(decide_quota(&most, 1, 2), 1);
    assert_int_equal(decide_quota(&most, 2, 1), 1);
    assert_int_equal(decide_quota(&most, 3, 3), VPS);
    assert_int_equal(decide_quota(&most, 3, 2), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_held_vp_gets_spares_twice_as_many_each_time),
        cmocka_unit_test(members_get_a_spare_each_at_once),
        cmocka_unit_test(scheduling_points_waits_for_a_processor_and_rest_are_no_stall),
        cmocka_unit_test(spares_wait_for_the_last_ones_and_for_idle_vps),
        cmocka_unit_test(a_root_behind_a_held_vp_is_released),
        cmocka_unit_test(places_are_opened_behind_a_held_home),
        cmocka_unit_test(roots_that_spin_take_turns),
        cmocka_unit_test(turns_end_where_nobody_is_shut_out),
        cmocka_unit_test(turns_end_where_roots_do_other_work_and_rest_for_longer_each_time),
        cmocka_unit_test(what_the_system_allows_is_what_may_run),
        cmocka_unit_test(more_vps_than_processors_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
