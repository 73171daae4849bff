/* Affinity masks and the number of processors. */
#define _GNU_SOURCE
#include "test.h"

#include "os.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

static void sets(void **state)
{
    (void)state;
    struct os_cpuset set;
    os_cpuset_zero(&set);
    assert_int_equal(os_cpuset_count(&set), 0);
    const unsigned some[] = {0, 1, 63, 64, 65, 1023, 1024, OS_MAX_CPUS - 1};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        assert_false(os_cpuset_has(&set, some[i]));
        os_cpuset_add(&set, some[i]);
        assert_true(os_cpuset_has(&set, some[i]));
        assert_int_equal(os_cpuset_count(&set), i + 1);
    }
    assert_false(os_cpuset_has(&set, 2));
    assert_false(os_cpuset_has(&set, OS_MAX_CPUS));
}

static void mask_is_the_c_librarys(void **state)
{
    (void)state;
    cpu_set_t theirs;
    struct os_cpuset ours, at_start;
    assert_int_equal(sched_getaffinity(0, sizeof theirs, &theirs), 0);
    assert_int_equal(os_affinity_get(&ours), 0);
    os_affinity_at_start(&at_start);
    assert_int_equal((int)os_cpuset_count(&ours), CPU_COUNT(&theirs));
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        assert_int_equal(os_cpuset_has(&ours, cpu), CPU_ISSET(cpu, &theirs) != 0);
    assert_memory_equal(&ours, &at_start, sizeof ours);
}

static void narrowing_shows_but_not_at_start(void **state)
{
    (void)state;
    struct os_cpuset before, one, now, at_start;
    assert_int_equal(os_affinity_get(&before), 0);
    unsigned cpu = 0;
    while (!os_cpuset_has(&before, cpu))
        cpu++;
    os_cpuset_zero(&one);
    os_cpuset_add(&one, cpu);
    assert_int_equal(os_affinity_set(&one), 0);
    assert_int_equal(os_affinity_get(&now), 0);
    assert_memory_equal(&now, &one, sizeof one);
    assert_int_equal(os_current_cpu(), cpu);
    assert_int_equal(os_num_procs(), 1);
    os_affinity_at_start(&at_start);
    assert_memory_equal(&at_start, &before, sizeof before);
    assert_int_equal(os_affinity_set(&before), 0);
    unsigned n = os_num_procs();
    assert_in_range(n, 1, os_cpuset_count(&before));
    assert_true(os_cpu_quota() != 0 || n == os_cpuset_count(&before));
}

static void a_mask_is_given_back(void **state)
{
    (void)state;
    struct os_cpuset before, one, now;
    assert_int_equal(os_affinity_get(&before), 0);
    os_cpuset_zero(&one);
    os_cpuset_add(&one, (unsigned)os_cpu_here());
    assert_int_equal(os_affinity_set(&one), 0);
    os_affinity_give_back(0, &one); /* the program's own */
    assert_int_equal(os_affinity_get(&now), 0);
    assert_memory_equal(&now, &one, sizeof one);
    os_affinity_give_back(0, &before);
    assert_int_equal(os_affinity_get(&now), 0);
    assert_memory_equal(&now, &before, sizeof before);
}

static void empty_mask_is_refused(void **state)
{
    (void)state;
    struct os_cpuset none;
    os_cpuset_zero(&none);
    errno = 5;
    assert_int_equal(os_affinity_set(&none), EINVAL);
    assert_int_equal(errno, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets),
        cmocka_unit_test(mask_is_the_c_librarys),
        cmocka_unit_test(narrowing_shows_but_not_at_start),
        cmocka_unit_test(a_mask_is_given_back),
        cmocka_unit_test(empty_mask_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
