/* How many processors foreign programs use: from claims, slots and busy times that are made by hand, at times that are
 * made by hand. */
#include "share_foreign.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
#define PROCESSES 3

static struct share_claim claims[PROCESSES];
static struct share_slot slot[PROCESSES];
static const struct share_slot *const slots[PROCESSES] = {&slot[0], &slot[1], &slot[2]};
static uint64_t now_ns, busy_ns;

uint64_t __wrap_os_busy_ns(const struct os_cpuset *of);
uint64_t __wrap_os_busy_ns(const struct os_cpuset *of)
{
    assert_true(os_cpuset_has(of, 0));
    return busy_ns;
}

/* So long did processors work, and process i used so much of it, in hundredths. */
static void work(unsigned ms, unsigned busy, const unsigned used[PROCESSES])
{
    now_ns += ms * MS;
    busy_ns += ms * MS * busy / 100;
    for (unsigned i = 0; i < PROCESSES; i++) {
        ps_store_relaxed(&slot[i].beat_ns, now_ns);
        ps_add_relaxed(&slot[i].used_ns, ms * MS * used[i] / 100);
    }
}
/* The number of whole processors, as it is if foreign programs use less than their part. */
static unsigned look(unsigned n) { return share_leave_to_foreign(share_foreign(now_ns, claims, slots, n, 0), 8, 0); }

/* A period of n processes. */
static unsigned period(unsigned n, unsigned busy, unsigned a, unsigned b)
{
    work(200, busy, (const unsigned[PROCESSES]){a, b});
    return look(n);
}
#define CHECK_PERIOD(expected, n, busy, a, b) assert_int_equal(period(n, busy, a, b), expected)

/* Eight processors for each process, and a first period in which nothing happens. */
static void begin(void **state)
{
    (void)state;
    memset(slot, 0, sizeof slot);
    for (unsigned i = 0; i < PROCESSES; i++)
        claims[i].cpus[0] = 0xff;
    now_ns += 10000 * MS;
    busy_ns += 5 * MS;
    look(1);
    CHECK_PERIOD(0, 1, 0, 0, 0);
}

static void all_is_ours(void **state)
{
    begin(state);
    for (unsigned i = 0; i < 5; i++)
        CHECK_PERIOD(0, 1, 730, 730, 0);
    for (unsigned i = 0; i < 5; i++) /* the counts may say that we used more */
        CHECK_PERIOD(0, 1, 730, 800, 0);
}

/* Beside a worker a foreign program has half of a processor. */
static void half_is_one(void **state)
{
    begin(state);
    CHECK_PERIOD(0, 1, 800, 750, 0);
    CHECK_PERIOD(1, 1, 800, 750, 0);
    CHECK_PERIOD(1, 1, 800, 700, 0);
    CHECK_PERIOD(1, 1, 800, 670, 0); /* 1.3 */
    CHECK_PERIOD(1, 1, 800, 655, 0); /* 1.45, once */
    CHECK_PERIOD(2, 1, 800, 655, 0);
    CHECK_PERIOD(2, 1, 800, 100, 0); /* 7 */
    CHECK_PERIOD(7, 1, 800, 100, 0);
    CHECK_PERIOD(0, 1, 800, 765, 0); /* 0.35 */
    for (unsigned i = 0; i < 5; i++)
        CHECK_PERIOD(0, 1, 800, 765, 0);
    CHECK_PERIOD(0, 1, 800, 758, 0); /* 0.42 */
    CHECK_PERIOD(1, 1, 800, 758, 0);
}

/* What lasts one period takes nothing away; what ends gives at once. */
static void bursts(void **state)
{
    begin(state);
    for (unsigned i = 0; i < 5; i++) {
        CHECK_PERIOD(0, 1, 800, 300, 0);
        CHECK_PERIOD(0, 1, 300, 300, 0);
    }
    CHECK_PERIOD(0, 1, 400, 300, 0);
    CHECK_PERIOD(1, 1, 400, 300, 0);
    work(100, 800, (const unsigned[PROCESSES]){300});
    assert_int_equal(look(1), 1); /* no period has ended */
    work(100, 0, (const unsigned[PROCESSES]){0});
    assert_int_equal(look(1), 1); /* 4 and 0 processors were busy, 2.5 of them by others */
    CHECK_PERIOD(0, 1, 300, 300, 0);
}

static void of_several_processes(void **state)
{
    begin(state);
    CHECK_PERIOD(0, 2, 800, 400, 400); /* the second one has come */
    for (unsigned i = 0; i < 3; i++)
        CHECK_PERIOD(0, 2, 800, 400, 400);
    CHECK_PERIOD(0, 2, 800, 300, 400);
    CHECK_PERIOD(1, 2, 800, 300, 400);
    CHECK_PERIOD(0, 1, 800, 300, 400); /* it has left */
    CHECK_PERIOD(0, 1, 800, 300, 0);
    CHECK_PERIOD(5, 1, 800, 300, 0);
    ps_store_relaxed(&slot[0].begun_ns, 77); /* another process in the same slot */
    CHECK_PERIOD(0, 1, 800, 300, 0);
}

/* A process that looks later before each end of a period than before: its time is divided by its own period. */
static void late_looks(void **state)
{
    begin(state);
    CHECK_PERIOD(0, 2, 800, 400, 400);
    for (unsigned late = 40; late <= 160; late += 40) {
        work(200 - late, 800, (const unsigned[PROCESSES]){400, 400});
        uint64_t beat = ps_load_relaxed(&slot[1].beat_ns), used = ps_load_relaxed(&slot[1].used_ns);
        work(late, 800, (const unsigned[PROCESSES]){400, 400});
        uint64_t in_truth = ps_load_relaxed(&slot[1].used_ns);
        ps_store_relaxed(&slot[1].beat_ns, beat);
        ps_store_relaxed(&slot[1].used_ns, used);
        assert_int_equal(look(2), 0);
        ps_store_relaxed(&slot[1].used_ns, in_truth);
    }
}

/* Of a process that does not look nothing is known, and neither of a period that is too long. */
static void no_looks(void **state)
{
    begin(state);
    CHECK_PERIOD(0, 2, 800, 400, 0);
    CHECK_PERIOD(0, 2, 800, 400, 0);
    CHECK_PERIOD(4, 2, 800, 400, 0);
    uint64_t beat = ps_load_relaxed(&slot[1].beat_ns);
    for (unsigned i = 0; i < 3; i++) {
        work(200, 800, (const unsigned[PROCESSES]){400, 0});
        ps_store_relaxed(&slot[1].beat_ns, beat);
        assert_int_equal(look(2), 0);
    }
    for (unsigned i = 0; i < 3; i++) {
        work(800, 800, (const unsigned[PROCESSES]){400, 0});
        assert_int_equal(look(2), 0);
    }
}

static void masks(void **state)
{
    begin(state);
    claims[1].cpus[0] = 0xff00; /* it uses others, so its time does not count here */
    for (unsigned i = 0; i < 3; i++)
        CHECK_PERIOD(0, 2, 400, 400, 400);
    CHECK_PERIOD(0, 2, 500, 400, 400);
    CHECK_PERIOD(1, 2, 500, 400, 400);
    claims[0].cpus[0] = 0x0f;
    CHECK_PERIOD(0, 2, 400, 0, 0);
    CHECK_PERIOD(0, 2, 400, 0, 0);
    CHECK_PERIOD(4, 2, 400, 0, 0);
}

static void system_that_does_not_say(void **state)
{
    begin(state);
    uint64_t kept = busy_ns;
    for (unsigned i = 0; i < 6; i++) {
        busy_ns = i % 2 ? 0 : kept;
        now_ns += 200 * MS;
        ps_store_relaxed(&slot[0].beat_ns, now_ns);
        assert_int_equal(look(1), 0);
    }
    busy_ns = kept;
}

/* Foreign programs that use as much as their part get none; those that have a part of the processors left to them may
 * use it up, and somewhat more. */
static void more_than_their_part(void **state)
{
    (void)state;
    for (unsigned leaves = 0; leaves < 2; leaves++) {
        assert_int_equal(share_leave_to_foreign(0, 1, leaves), 0);
        assert_int_equal(share_leave_to_foreign(399, 1, leaves), 0);
        assert_int_equal(share_leave_to_foreign(400, 1, leaves), 1);
        assert_int_equal(share_leave_to_foreign(750, 1, leaves), 1);
        assert_int_equal(share_leave_to_foreign(1000, 1, leaves), leaves);
        assert_int_equal(share_leave_to_foreign(1300, 1, leaves), 0);
        assert_int_equal(share_leave_to_foreign(1300, 2, leaves), 1);
        assert_int_equal(share_leave_to_foreign(1500, 2, leaves), 2);
        assert_int_equal(share_leave_to_foreign(2000, 2, leaves), 2 * leaves);
        assert_int_equal(share_leave_to_foreign(2600, 2, leaves), 0);
        assert_int_equal(share_leave_to_foreign(32000, 32, leaves), 32 * leaves);
        assert_int_equal(share_leave_to_foreign(20000, 32, leaves), 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_ours),
        cmocka_unit_test(half_is_one),
        cmocka_unit_test(bursts),
        cmocka_unit_test(of_several_processes),
        cmocka_unit_test(late_looks),
        cmocka_unit_test(no_looks),
        cmocka_unit_test(masks),
        cmocka_unit_test(system_that_does_not_say),
        cmocka_unit_test(more_than_their_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
