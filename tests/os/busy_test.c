/* How long processors were busy: from made-up /proc/stat files, and of this machine. */
#define _GNU_SOURCE
#include "made_root.h"

#include "linux/busy.h"
#include "os.h"

#include <string.h>

#define TICK_NS UINT64_C(10000000)

static struct os_cpuset set_of(unsigned first, unsigned n)
{
    struct os_cpuset s;
    os_cpuset_zero(&s);
    for (unsigned cpu = first; cpu < first + n; cpu++)
        os_cpuset_add(&s, cpu);
    return s;
}

static void check(unsigned first, unsigned n, uint64_t ticks)
{
    struct os_cpuset s = set_of(first, n);
    assert_int_equal(os_busy_ns_below(root, &s), ticks * TICK_NS);
}

static void columns(void **state)
{
    (void)state;
    check(0, 2, 0); /* no file */
    made_root_put("cpu  9 9 9 9 9 9 9 9 9 9\n"
                  "cpu0 1 20 300 4000 50000 600000 7000000 80000000 0 0\n"
                  "cpu2 5 0 0 0 0 0 0 0\n"
                  "intr 7 7 7\ncpu1 1 1 1 1 1 1 1 1\n",
                  "/proc/stat");
    check(0, 1, 7600301);
    check(1, 1, 0);
    check(0, 3, 7600306);
    check(3, OS_MAX_CPUS - 3, 0);
}

/* The file is longer than what is read at once, and its lines end anywhere. */
static void many_processors(void **state)
{
    (void)state;
    static char text[OS_MAX_CPUS * 40];
    size_t at = 0;
    for (unsigned cpu = 0; cpu < OS_MAX_CPUS; cpu++)
        at += (size_t)snprintf(text + at, sizeof text - at, "cpu%u 1 0 %u 100000 0 0 0 0 0 0\n", cpu, cpu % 7);
    snprintf(text + at, sizeof text - at, "intr 5");
    made_root_put(text, "/proc/stat");
    check(0, 7, 7 + 21);
    check(700, 70, 70 + 210);
    check(OS_MAX_CPUS - 1, 1, 1 + (OS_MAX_CPUS - 1) % 7);
}

static void nonsense(void **state)
{
    (void)state;
    static char text[8192];
    static const char *const contents[] = {"",          "\n",      "cpu", "cpu0", "cpu0\n", "cpu99999 1 1 1\n",
                                           "cpu-1 1\n", "cpux 1\n"};
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        made_root_put(contents[i], "/proc/stat");
        check(0, OS_MAX_CPUS, 0);
    }
    memset(text, 'c', sizeof text - 1);
    made_root_put(text, "/proc/stat");
    check(0, 2, 0);
}

/* What this process computes is part of it, whatever else the machine does; and no processor is busy more than always.
 * The kernel counts in ticks, and a program has a processor time of its own: a tenth less is the same. */
static void this_machine(void **state)
{
    (void)state;
    struct os_cpuset all = set_of(0, OS_MAX_CPUS), own;
    assert_int_equal(os_affinity_get(&own), 0);
    uint64_t busy = os_busy_ns(&all), used = os_process_cpu_ns(), begun = os_now_ns();
    while (os_process_cpu_ns() - used < UINT64_C(300000000))
        ;
    uint64_t more = os_busy_ns(&own), passed = os_now_ns() - begun;
    if (busy == 0)
        skip(); /* a machine without the file */
    busy = os_busy_ns(&all) - busy;
    assert_true(busy >= UINT64_C(270000000));
    assert_true(more > 0 && more <= os_busy_ns(&all));
    assert_true(busy <= (passed + 20 * TICK_NS) * OS_MAX_CPUS);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, made_root_make, made_root_remove)
    const struct CMUnitTest tests[] = {TEST(columns), TEST(many_processors), TEST(nonsense), TEST(this_machine)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
