/* Each vp counts its thefts by the distance of the victim. No worker runs here: threads are put into the queues of
 * others without a word to anybody, and the test's own vp robs them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "current.h"
#include "psthread.h"
#include "runtime.h"
#include "scheduler.h"
#include "sources.h"
#include "vp.h"

enum { MACHINE = PS_STEAL_LEVELS - 1, GUESTS = PS_STEAL_LEVELS };

static void *nothing(void *arg) { return arg; }

static void put_quietly(unsigned id, psthread_t t)
{
    struct ps_queue *q = &ps_vp_at(id)->queue;
    ps_spin_lock(&q->lock);
    ps_queue_push_back_locked(q, &t->item);
    ps_spin_unlock(&q->lock);
}

static void assert_thefts(const uint64_t expected[PS_STEAL_LEVELS + 1])
{
    for (unsigned i = 0; i <= PS_STEAL_LEVELS; i++)
        assert_int_equal(ps_load_relaxed(&ps_vp()->thief.thefts[i]), expected[i]);
}

static psthread_t loot[16];
static unsigned num_loot;

/* The calling thread's vp robs vp `id` of a thread; which distance that is, is the caller's to say. */
static void rob(unsigned id)
{
    psthread_t t;
    assert_int_equal(psthread_create(&t, NULL, nothing, NULL), 0);
    put_quietly(id, t);
    assert_ptr_equal(ps_work_thread(vp_steal_round(ps_vp(), false)), t);
    loot[num_loot++] = t;
}

/* Runs what was robbed. This starts workers, which would rob too: so it comes last. */
static void finish(void)
{
    while (num_loot > 0) {
        psthread_t t = loot[--num_loot];
        assert_int_equal(psthread_enqueue(t, 0), 0);
        assert_int_equal(psthread_join(t, NULL), 0);
    }
    assert_int_equal(psthread_finalize(), 0);
}

static void thefts_count_by_group(void **state)
{
    (void)state;
    unsigned groups[] = {3, 6};
    psthread_config_t config = {.num_vps = 12, .num_levels = 2, .group_size = groups, .max_spares = PSTHREAD_NO_SPARES};
    assert_int_equal(psthread_init(&config), 0);
    psthread_self();
    uint64_t expected[PS_STEAL_LEVELS + 1] = {0};
    assert_false(ps_work_some(vp_steal_round(ps_vp(), false)));
    assert_thefts(expected); /* a visit in vain is none */
    static const struct {
        unsigned id, level;
    } victim[] = {{2, 0}, {1, 0}, {5, 1}, {3, 1}, {4, 1}, {6, MACHINE}, {11, MACHINE}};
    for (unsigned i = 0; i < sizeof victim / sizeof *victim; i++) {
        rob(victim[i].id);
        expected[victim[i].level]++;
        assert_thefts(expected);
    }
    assert_string_equal(ps_rt.level_name[0], "group1");
    assert_string_equal(ps_rt.level_name[1], "group2");
    assert_string_equal(ps_rt.level_name[2], "");
    assert_string_equal(ps_rt.level_name[MACHINE], "machine");
    finish();
}

static pthread_barrier_t both;
static unsigned guest_id;
static void *is_guest(void *arg)
{
    psthread_self();
    guest_id = ps_vp()->run.id;
    pthread_barrier_wait(&both);
    pthread_barrier_wait(&both);
    return arg;
}

/* Two vps have no order: everybody is somewhere in the machine. A guest has no place in an order at all. */
static void thefts_without_an_order(void **state)
{
    (void)state;
    psthread_config_t config = {.num_vps = 2, .max_spares = PSTHREAD_NO_SPARES};
    assert_int_equal(psthread_init(&config), 0);
    psthread_self();
    uint64_t expected[PS_STEAL_LEVELS + 1] = {0};
    rob(1);
    expected[MACHINE] = 1;
    assert_thefts(expected);
    pthread_t guest;
    pthread_barrier_init(&both, NULL, 2);
    assert_int_equal(pthread_create(&guest, NULL, is_guest, NULL), 0);
    pthread_barrier_wait(&both);
    assert_true(guest_id >= 2);
    rob(guest_id);
    expected[GUESTS] = 1;
    assert_thefts(expected);
    pthread_barrier_wait(&both);
    pthread_join(guest, NULL);
    finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thefts_count_by_group),
        cmocka_unit_test(thefts_without_an_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
