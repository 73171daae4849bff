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

#define V2_MOUNT "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define V1_MOUNT "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw shared:5 - cgroup cgroup rw,cpu,cpuacct\n"
#define OTHERS                                                              \
    "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\nnot a line of a table\n" \
    "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"

static void nothing_there(void **state)
{
    (void)state;
    assert_int_equal(os_cpu_quota_below(root), 0);
    put("/proc/self/cgroup", "0::/a\n");
    assert_int_equal(os_cpu_quota_below(root), 0);
    put("/proc/self/mountinfo", OTHERS V2_MOUNT);
    errno = 3;
    assert_int_equal(os_cpu_quota_below(root), 0);
    assert_int_equal(errno, 3);
}

static void version2_unlimited(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/proc/self/mountinfo", OTHERS V2_MOUNT);
    put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    assert_int_equal(os_cpu_quota_below(root), 0);
}

static void version2_rounds_up(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/proc/self/mountinfo", OTHERS V2_MOUNT);
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
    put("/proc/self/mountinfo", V2_MOUNT);
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
    put("/proc/self/mountinfo", OTHERS V1_MOUNT);
    put("/sys/fs/cgroup/cpu,cpuacct/user/one/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu,cpuacct/user/one/cpu.cfs_period_us", "100000\n");
    assert_int_equal(os_cpu_quota_below(root), 0);
    put("/sys/fs/cgroup/cpu,cpuacct/user/cpu.cfs_quota_us", "450000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/user/cpu.cfs_period_us", "100000\n");
    assert_int_equal(os_cpu_quota_below(root), 5);
    put("/sys/fs/cgroup/cpuset/wrong/cpu.cfs_quota_us", "100000\n"); /* not the hierarchy of quotas */
    put("/sys/fs/cgroup/cpuset/wrong/cpu.cfs_period_us", "100000\n");
    assert_int_equal(os_cpu_quota_below(root), 5);
}

static void both_versions(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "3:cpu,cpuacct:/one\n0::/two\n");
    put("/proc/self/mountinfo", V1_MOUNT "38 31 0:41 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    put("/sys/fs/cgroup/cpu,cpuacct/one/cpu.cfs_quota_us", "300000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/one/cpu.cfs_period_us", "100000\n");
    assert_int_equal(os_cpu_quota_below(root), 3);
    put("/sys/fs/cgroup/unified/two/cpu.max", "200000 100000\n");
    assert_int_equal(os_cpu_quota_below(root), 2);
}

/* A container without a namespace of its own sees its group at the mount point. */
static void hidden_part_of_the_path(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/docker/abc/inner\n");
    put("/proc/self/mountinfo", "30 23 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    put("/sys/fs/cgroup/cpu.max", "600000 100000\n");
    assert_int_equal(os_cpu_quota_below(root), 6);
    put("/sys/fs/cgroup/inner/cpu.max", "400000 100000\n");
    assert_int_equal(os_cpu_quota_below(root), 4);
    put("/proc/self/cgroup", "0::/docker/abcdef\n"); /* only looks like a part of it */
    assert_int_equal(os_cpu_quota_below(root), 6);
    put("/proc/self/cgroup", "0::/../outside\n");
    assert_int_equal(os_cpu_quota_below(root), 6);
}

static void blanks_in_names(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/my group\n");
    put("/proc/self/mountinfo", "30 23 0:26 / /mnt/c\\040g\\134 rw - cgroup2 cgroup2 rw\n");
    put("/mnt/c g\\/my group/cpu.max", "700000 100000\n");
    assert_int_equal(os_cpu_quota_below(root), 7);
}

static void nonsense_sets_no_limit(void **state)
{
    (void)state;
    put("/proc/self/mountinfo", V2_MOUNT);
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
        TEST(nothing_there),           TEST(version2_unlimited), TEST(version2_rounds_up),
        TEST(tightest_of_all_levels),  TEST(version1),           TEST(both_versions),
        TEST(hidden_part_of_the_path), TEST(blanks_in_names),    TEST(nonsense_sets_no_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
