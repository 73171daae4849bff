/* What a watcher is told (watch.h): parks and their ends in turns, thefts with victim and distance, a stall with the
 * spare that it calls. The recorder's own tests are in tests/trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sched.h>

#include "layer.h"
#include "psthread.h"
#include "runtime.h"
#include "vp.h"

#define MOST_VPS 64

static _Atomic uint32_t parks[MOST_VPS], ends[MOST_VPS], out_of_turn, steals, own_steals, stalls, spares, spare_ends;
static _Atomic uint64_t stall_ns;

static void watch(enum ps_watched what, unsigned vp, uint64_t value)
{
    if (vp >= MOST_VPS)
        return;
    switch (what) {
    case PS_WATCH_PARK:
        if (ps_add_seq(&parks[vp], 1) != ps_load_seq(&ends[vp]))
            ps_add_seq(&out_of_turn, 1);
        break;
    case PS_WATCH_UNPARK:
        if (ps_add_seq(&ends[vp], 1) + 1 != ps_load_seq(&parks[vp]))
            ps_add_seq(&out_of_turn, 1);
        break;
    case PS_WATCH_STEAL:
        ps_add_seq(&steals, 1);
        if ((uint32_t)value == vp || value >> 32 > PS_STEAL_LEVELS)
            ps_add_seq(&own_steals, 1);
        break;
    case PS_WATCH_STALL:
        ps_store_seq(&stall_ns, value);
        ps_add_seq(&stalls, 1);
        break;
    case PS_WATCH_SPARE_BEGIN:
        ps_add_seq(&spares, 1);
        break;
    case PS_WATCH_SPARE_END:
        ps_add_seq(&spare_ends, 1);
        break;
    default:
        break;
    }
}

static void *nothing(void *arg) { return arg; }

static void parks_and_thefts(void **state)
{
    (void)state;
    psthread_config_t config = {.num_vps = 2, .max_spares = PSTHREAD_NO_SPARES};
    assert_int_equal(psthread_init(&config), 0);
    ps_layer.watch_by(watch);
    psthread_self();
    assert_int_equal(ps_layer.vp(), 0);
    while (ps_load_seq(&steals) == 0 || ps_load_seq(&parks[1]) < 3) { /* the other vp sleeps between the rounds */
        psthread_t t[8];
        uint32_t before = ps_load_seq(&parks[1]);
        for (int i = 0; i < 8; i++) {
            assert_int_equal(psthread_create(&t[i], NULL, nothing, NULL), 0);
            assert_int_equal(psthread_enqueue(t[i], 0), 0);
        }
        while (ps_load_seq(&steals) == 0 || ps_load_seq(&parks[1]) == before)
            sched_yield();
        for (int i = 0; i < 8; i++)
            assert_int_equal(psthread_join(t[i], NULL), 0);
    }
    assert_int_equal(psthread_finalize(), 0);
    ps_layer.watch_by(NULL);
    assert_int_equal(ps_load_seq(&out_of_turn), 0);
    assert_int_equal(ps_load_seq(&own_steals), 0);
    for (unsigned i = 0; i < MOST_VPS; i++)
        assert_true(ps_load_seq(&parks[i]) == ps_load_seq(&ends[i]));
}

static _Atomic uint32_t flag;
static void *raises(void *arg)
{
    ps_store_seq(&flag, 1);
    return arg;
}

static void a_stall_and_its_spare(void **state)
{
    (void)state;
    psthread_config_t config = {.num_vps = 1};
    assert_int_equal(psthread_init(&config), 0);
    ps_layer.watch_by(watch);
    psthread_t t;
    assert_int_equal(psthread_create(&t, NULL, raises, NULL), 0);
    assert_int_equal(psthread_enqueue(t, 0), 0);
    while (!ps_load_seq(&flag)) /* the only vp is held: a spare runs t */
        ;
    assert_int_equal(psthread_join(t, NULL), 0);
    assert_true(ps_load_seq(&stalls) > 0);
    assert_true(ps_load_seq(&stall_ns) > 0);
    assert_true(ps_load_seq(&spares) > 0);
    while (ps_load_seq(&spare_ends) < ps_load_seq(&spares))
        sched_yield();
    assert_int_equal(psthread_finalize(), 0);
    ps_layer.watch_by(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parks_and_thefts),
        cmocka_unit_test(a_stall_and_its_spare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
