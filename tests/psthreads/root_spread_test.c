/* Roots that share a processor: which processor one moves to, and that its mask is what it was, whatever has been
 * moved. */
#include "root_spread.h"

#include "current.h"
#include "os.h"
#include "runtime.h"
#include "vp.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct os_cpuset set_of(const unsigned *cpu, unsigned n)
{
    struct os_cpuset s;
    os_cpuset_zero(&s);
    for (unsigned i = 0; i < n; i++)
        os_cpuset_add(&s, cpu[i]);
    return s;
}
#define SET(...) set_of((unsigned[]){__VA_ARGS__}, sizeof((unsigned[]){__VA_ARGS__}) / sizeof(unsigned))

static void the_next_free_one_is_picked(void **state)
{
    (void)state;
    struct os_cpuset mask = SET(1, 3, 64, OS_MAX_CPUS - 1), here = SET(3), most = SET(3, 64, OS_MAX_CPUS - 1);
    assert_int_equal(ps_root_spread_pick(&mask, &here, 3), 64);
    assert_int_equal(ps_root_spread_pick(&mask, &most, 3), 1);
    assert_int_equal(ps_root_spread_pick(&mask, &here, OS_MAX_CPUS - 1), 1);
    assert_int_equal(ps_root_spread_pick(&mask, &most, 1), -1); /* its own is none to go to */
    assert_int_equal(ps_root_spread_pick(&mask, &mask, 3), -1);
}

static pthread_barrier_t meeting;
static void *be_a_root(void *arg)
{
    *(struct vp **)arg = ps_vp_attach();
    pthread_barrier_wait(&meeting); /* it is there */
    pthread_barrier_wait(&meeting); /* it may go */
    return NULL;
}

/* The other root is made to have said that it runs where the caller does, and the caller to have met it twice and to
 * have waited since. */
static bool met_here(struct vp *self, struct vp *other, uint64_t now)
{
    unsigned cpu = (unsigned)os_current_cpu();
    ps_store_relaxed(&other->spread.cpu, cpu);
    ps_store_relaxed(&other->spread.seen_at, now);
    self->spread.waits = UINT64_MAX;
    self->spread.meetings = 2;
    ps_root_spread_look(self, now);
    bool decided =
        self->spread.look_at - now > 1000 * ps_rt.per_region_cycles; /* else the system has moved it before the look */
    return decided && ps_load_relaxed(&self->spread.cpu) != cpu;
}

static void a_move_leaves_the_mask(void **state)
{
    (void)state;
    struct vp *self = ps_vp_attach(), *other;
    struct os_cpuset before, after;
    pthread_t root;
    assert_int_equal(pthread_barrier_init(&meeting, NULL, 2), 0);
    assert_int_equal(pthread_create(&root, NULL, be_a_root, &other), 0);
    pthread_barrier_wait(&meeting);
    assert_int_equal(os_affinity_get(&before), 0);
    unsigned moves = 0;
    for (unsigned i = 1; i <= 50; i++)
        moves += met_here(self, other, i * 100000 * ps_rt.per_region_cycles); /* later than any rest */
    assert_int_equal(os_affinity_get(&after), 0);
    pthread_barrier_wait(&meeting);
    assert_int_equal(pthread_join(root, NULL), 0);
    assert_memory_equal(&before, &after, sizeof before);
    if (os_cpuset_count(&before) > 1)
        assert_true(moves > 0);
    else
        assert_int_equal(moves, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_free_one_is_picked),
        cmocka_unit_test(a_move_leaves_the_mask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
