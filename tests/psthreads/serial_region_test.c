/* A region that its parent runs alone (serial_predictor.h): thieves stay away while it is short, and come where its
 * members need them. No spare helps. */
#include "current.h"
#include "psthread.h"
#include "runtime.h"
#include "scheduler.h"
#include "sync_support.h"
#include "team.h"
#include "vp.h"

enum { N = 4 };

static struct team {
    struct ps_team t;
    struct member {
        PS_LINE_ALIGNED struct ps_member m;
    } member[N];
    bool together; /* member 0 waits, without yielding, until another one runs */
    _Atomic unsigned others, elsewhere;
} team;

static void body(struct ps_member *m)
{
    if (m->id == 0) {
        while (team.together && ps_load_acquire(&team.others) == 0)
            usleep(100);
        return;
    }
    if (ps_vp()->run.id != 0)
        ps_add_relaxed(&team.elsewhere, 1);
    ps_add_acq_rel(&team.others, 1);
}
static void assist(struct ps_member *m) { (void)m; }

static void region(unsigned n)
{
    ps_store_relaxed(&team.others, 0);
    ps_store_relaxed(&team.elsewhere, 0);
    ps_team_fork(&team.t, n, true);
    body(&team.member[0].m);
    ps_team_join(&team.t);
    assert_int_equal(ps_load_relaxed(&team.others), n - 1);
}

/* What many short regions lead to; none is too slow from here on. A thief may have called the one before off, if
 * something held the parent up. */
static void learnt(unsigned n)
{
    ps_store_relaxed(&ps_vp()->closed, PS_CLOSED_NOT);
    team.t.unoffered = 0;
    team.t.serial =
        (struct ps_serial_predictor){.n = n, .sum = UINT32_MAX, .left = PS_SERIAL_CALM, .state = PS_SERIAL_ALONE};
}

static uint32_t closed(void) { return ps_load_relaxed(&ps_vp()->closed); }

static int begin(void **state)
{
    (void)state;
    static const struct ps_team_ops ops = {.body = body, .assist = assist};
    psthread_config_t config = {.num_vps = 2, .max_spares = PSTHREAD_NO_SPARES};
    CHECK(psthread_init(&config) == 0);
    ps_self();
    memset(&team, 0, sizeof team);
    ps_team_init(&team.t, &ops, team.member, sizeof team.member[0], N);
    return 0;
}

static int finish(void **state)
{
    (void)state;
    ps_team_fini(&team.t);
    CHECK(psthread_finalize() == 0);
    return 0;
}

static const struct ps_settings as_they_were = {.search_ns = UINT64_MAX, .max_spares = PS_MAX_SPARES};

/* As GOMP_SPINCOUNT=1: a search ends before the second of its peeks. */
static int begin_with_short_searches(void **state)
{
    struct ps_settings s = as_they_were;
    s.search_ns = 1;
    ps_configure(&s);
    return begin(state);
}

static int finish_with_short_searches(void **state)
{
    ps_configure(&as_they_were);
    return finish(state);
}

static void none_is_handed_off(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        learnt(N);
        region(N);
        assert_false(team.t.handed_off);
        assert_int_not_equal(closed(), PS_CLOSED_NOT);
    }
    region(2); /* another size is learnt anew */
    assert_int_not_equal(closed(), PS_CLOSED);
}

/* As many vps as members make no difference. */
static void nor_where_each_has_a_vp(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        learnt(2);
        region(2);
        assert_false(team.t.handed_off);
        assert_int_not_equal(closed(), PS_CLOSED_NOT);
    }
}

/* Where handoffs were not read in time, regions that are only published are looked at, and those that the parent runs
 * alone are not counted among them. */
static void also_where_handoffs_are_not_read(void **state)
{
    (void)state;
    learnt(2);
    team.t.unoffered = 5;
    region(2);
    assert_int_equal(team.t.unoffered, 5);
    assert_int_not_equal(closed(), PS_CLOSED_NOT);
    learnt(2);
    ps_serial_watch(&team.t.serial);
    team.t.unoffered = 5;
    uint16_t left = team.t.serial.left;
    region(2);
    assert_int_equal(team.t.unoffered, 4);
    assert_false(team.t.handed_off);
    assert_int_not_equal(team.t.serial.left, left);
}

static void thieves_come_to_a_long_one(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        do { /* a thief that looked at `closed` before the region began need not call it off */
            learnt(N);
            team.together = true;
            region(N);
            team.together = false;
            assert_int_not_equal(ps_load_relaxed(&team.elsewhere), 0);
        } while (closed() == PS_CLOSED);
        assert_int_equal(closed(), PS_CLOSED_CALLED_OFF);
        region(N);
        assert_int_not_equal(closed(), PS_CLOSED);
        assert_int_equal(team.t.serial.state, PS_SERIAL_WATCHED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(none_is_handed_off, begin, finish),
        cmocka_unit_test_setup_teardown(nor_where_each_has_a_vp, begin, finish),
        cmocka_unit_test_setup_teardown(also_where_handoffs_are_not_read, begin, finish),
        cmocka_unit_test_setup_teardown(thieves_come_to_a_long_one, begin, finish),
        cmocka_unit_test_setup_teardown(thieves_come_to_a_long_one, begin_with_short_searches,
                                        finish_with_short_searches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
