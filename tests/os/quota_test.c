/* Processor quotas from made-up trees of /proc and /sys files. */
#define _GNU_SOURCE
#include "made_root.h"

#include "linux/quota.h"
#include "os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put(const char *path, const char *content) { made_root_put(content, "%s", path); }

static void nothing_there(void **state)
{
    (void)state;
    assert_int_equal(os_cpu_quota_below(root), 0);
    put("/proc/self/cgroup", "0::/a\n");
    errno = 3;
    assert_int_equal(os_cpu_quota_below(root), 0);
    assert_int_equal(errno, 3);
}

static void version2_unlimited(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    assert_int_equal(os_cpu_quota_below(root), 0);
}

static void version2_rounds_up(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/sys/fs/cgroup/a/b/cpu.max", "250000 100000\n");
    assert_int_equal(os_cpu_quota_below(root), 3);
    put("/sys/fs/cgroup/a/b/cpu.max", "200000 100000\n");
    assert_int_equal(os_cpu_quota_below(root), 2);
    put("/sys/fs/cgroup/a/b/cpu.max", "1000 100000\n");
    assert_int_equal(os_cpu_quota_below(root), 1);
}

static void tightest_of_all_levels(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/a/b/c\n");
    put("/sys/fs/cgroup/a/b/c/cpu.max", "800000 100000\n");
    put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/a/cpu.max", "150000 50000\n");
    assert_int_equal(os_cpu_quota_below(root), 3);
    put("/sys/fs/cgroup/a/b/c/cpu.max", "200000 100000\n");
    assert_int_equal(os_cpu_quota_below(root), 2);
    put("/sys/fs/cgroup/cpu.max", "100000 100000\n"); /* a container's own root */
    assert_int_equal(os_cpu_quota_below(root), 1);
}

static void version1(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "9:name=systemd:/x\n4:cpuset:/wrong\n3:cpu,cpuacct:/user/one\n");
    put("/sys/fs/cgroup/cpu/user/one/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu/user/one/cpu.cfs_period_us", "100000\n");
    assert_int_equal(os_cpu_quota_below(root), 0);
    put("/sys/fs/cgroup/cpu/user/cpu.cfs_quota_us", "450000\n");
    put("/sys/fs/cgroup/cpu/user/cpu.cfs_period_us", "100000\n");
    assert_int_equal(os_cpu_quota_below(root), 5);
    put("/sys/fs/cgroup/cpuset/wrong/cpu.cfs_quota_us", "100000\n"); /* not the hierarchy of quotas */
    put("/sys/fs/cgroup/cpuset/wrong/cpu.cfs_period_us", "100000\n");
    assert_int_equal(os_cpu_quota_below(root), 5);
}

static void both_versions(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "3:cpu,cpuacct:/one\n0::/two\n");
    put("/sys/fs/cgroup/cpu/one/cpu.cfs_quota_us", "300000\n");
    put("/sys/fs/cgroup/cpu/one/cpu.cfs_period_us", "100000\n");
    assert_int_equal(os_cpu_quota_below(root), 3);
    put("/sys/fs/cgroup/two/cpu.max", "200000 100000\n");
    assert_int_equal(os_cpu_quota_below(root), 2);
}

/* A container without a namespace of its own has its group's files where the hierarchy begins. */
static void paths_that_are_not_there(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/docker/abc\n2:cpu:/docker/abc\n");
    put("/sys/fs/cgroup/cpu.max", "600000 100000\n");
    assert_int_equal(os_cpu_quota_below(root), 6);
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    assert_int_equal(os_cpu_quota_below(root), 3);
    put("/proc/self/cgroup", "0::/../outside\n");
    assert_int_equal(os_cpu_quota_below(root), 6);
    put("/proc/self/cgroup", "0::/\n");
    assert_int_equal(os_cpu_quota_below(root), 6);
}

/* The path of the process's group is the last of many long lines. */
static void many_hierarchies(void **state)
{
    (void)state;
    static char table[8192];
    size_t at = 0;
    while (at < 6000)
        at += (size_t)snprintf(table + at, sizeof table - at, "9:name=a:/%0200d\n", 0);
    snprintf(table + at, sizeof table - at, "0::/my group\n");
    put("/proc/self/cgroup", table);
    put("/sys/fs/cgroup/my group/cpu.max", "700000 100000\n");
    assert_int_equal(os_cpu_quota_below(root), 7);
}

static void nonsense_sets_no_limit(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/a\n");
    static const char *const contents[] = {"",           "\n",          "abc def\n",  "100000\n",
                                           "100000 0\n", "-5 100000\n", "0 100000\n", "9223372036854775807 1\n"};
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        put("/sys/fs/cgroup/a/cpu.max", contents[i]);
        assert_int_equal(os_cpu_quota_below(root), 0);
    }
    put("/proc/self/cgroup", "no colons\n0:\n::\n\n");
    assert_int_equal(os_cpu_quota_below(root), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, made_root_make, made_root_remove)
    const struct CMUnitTest tests[] = {
        TEST(nothing_there),
        TEST(version2_unlimited),
        TEST(version2_rounds_up),
        TEST(tightest_of_all_levels),
        TEST(version1),
        TEST(both_versions),
        TEST(paths_that_are_not_there),
        TEST(many_hierarchies),
        TEST(nonsense_sets_no_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
