/* How often an idle vp looks into queues. Short threads that it takes one at a time teach it to look less often.
 * Anything else teaches it to look in each round. A thread with real work is taken all the same. */
#include "lone_thread.h"

#include "atomic.h"
#include "psthread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MOST = 1000 }; /* cycles */

static void take_short_ones(struct ps_lone *l, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        ps_lone_took(l, true, 1);
        ps_lone_idle(l, MOST, MOST);
    }
}

static unsigned looks_in(const struct ps_lone *l, unsigned rounds)
{
    unsigned looks = 0;
    for (unsigned round = 1; round <= rounds; round++)
        looks += ps_lone_due(l, round);
    return looks;
}

static void it_begins_with_a_look_in_each_round(void **state)
{
    (void)state;
    struct ps_lone l = {0};
    assert_int_equal(looks_in(&l, PS_LONE_MOST), PS_LONE_MOST);
    assert_int_equal(ps_lone_first(&l), 1);
}

/* As at the end of a queue of many threads. */
static void a_few_short_ones_teach_nothing(void **state)
{
    (void)state;
    struct ps_lone l = {0};
    take_short_ones(&l, PS_LONE_IN_ROW);
    assert_int_equal(looks_in(&l, PS_LONE_MOST), PS_LONE_MOST);
    ps_lone_took(&l, false, 0);
    take_short_ones(&l, PS_LONE_IN_ROW);
    assert_int_equal(looks_in(&l, PS_LONE_MOST), PS_LONE_MOST);
}

static void short_ones_in_a_row_make_looks_rare(void **state)
{
    (void)state;
    struct ps_lone l = {0};
    take_short_ones(&l, PS_LONE_IN_ROW + 1);
    assert_int_equal(looks_in(&l, PS_LONE_MOST), PS_LONE_MOST / 2);
    take_short_ones(&l, 100);
    assert_int_equal(looks_in(&l, 10 * PS_LONE_MOST), 10);
    assert_true(ps_lone_due(&l, ps_lone_first(&l)));
}

static void a_long_one_and_any_other_find_bring_them_back(void **state)
{
    (void)state;
    struct ps_lone l = {0};
    take_short_ones(&l, 100);
    ps_lone_took(&l, true, 1);
    ps_lone_idle(&l, MOST + 2, MOST);
    assert_int_equal(looks_in(&l, PS_LONE_MOST), PS_LONE_MOST);
    take_short_ones(&l, 100);
    ps_lone_took(&l, false, 0);
    assert_int_equal(looks_in(&l, PS_LONE_MOST), PS_LONE_MOST);
    assert_true(l.since == 0); /* nothing to be learnt of when it is idle again */
}

static void *nothing(void *arg) { return arg; }
static void *set(void *flag)
{
    ps_store_release((_Atomic int *)flag, 1);
    return NULL;
}

/* The maker never passes a scheduling point: only the other vp can run the thread. */
static void work_is_taken_after_many_short_threads(void **state)
{
    (void)state;
    psthread_config_t config = {.num_vps = 2, .max_spares = PSTHREAD_NO_SPARES};
    assert_int_equal(psthread_init(&config), 0);
    for (int round = 0; round < 5; round++) {
        psthread_t t;
        for (int i = 0; i < 200; i++) {
            assert_int_equal(psthread_spawn(&t, NULL, nothing, NULL), 0);
            assert_int_equal(psthread_join(t, NULL), 0);
        }
        _Atomic int flag = 0;
        assert_int_equal(psthread_create(&t, NULL, set, (void *)&flag), 0);
        assert_int_equal(psthread_enqueue(t, 0), 0);
        while (!ps_load_acquire(&flag))
            continue;
        assert_int_equal(psthread_join(t, NULL), 0);
    }
    assert_int_equal(psthread_finalize(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_begins_with_a_look_in_each_round),
        cmocka_unit_test(a_few_short_ones_teach_nothing),
        cmocka_unit_test(short_ones_in_a_row_make_looks_rare),
        cmocka_unit_test(a_long_one_and_any_other_find_bring_them_back),
        cmocka_unit_test(work_is_taken_after_many_short_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
