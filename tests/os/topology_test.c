/* Topologies: this machine's, others' from strings and from made-up tables, cut ones, and none. */
#define _GNU_SOURCE
#include "made_root.h"

#include "os.h"
#include "synthetic.h"
#include "topology.h"

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What os.h promises of every topology. */
static void assert_well_formed(const struct os_topology *t)
{
    assert_true(t->n >= 1);
    assert_in_range(t->num_levels, 1, OS_MAX_LEVELS);
    for (unsigned i = 0; i < t->n; i++)
        for (unsigned j = 0; j < i; j++)
            assert_true(t->cpu[i] != t->cpu[j]);
    unsigned groups_before = t->n + 1;
    for (unsigned l = 0; l < t->num_levels; l++) {
        const struct os_topology_level *level = &t->level[l];
        assert_true(level->num_groups < groups_before); /* never the same again */
        groups_before = level->num_groups;
        unsigned next = 0;
        for (unsigned i = 0; i < t->n; i++) {
            assert_true(level->group_of[i] <= next); /* numbered as they come */
            next += level->group_of[i] == next;
            for (unsigned j = 0; l > 0 && j < i; j++)
                if (level[-1].group_of[i] == level[-1].group_of[j])
                    assert_int_equal(level->group_of[i], level->group_of[j]);
        }
        assert_int_equal(next, level->num_groups);
    }
    assert_string_equal(t->level[t->num_levels - 1].kind, "machine");
    assert_int_equal(t->level[t->num_levels - 1].num_groups, 1);
}

/* Levels as text: "smt:64 numa:8 machine:1". */
static const char *levels_of(const struct os_topology *t)
{
    static char text[256];
    size_t used = 0;
    for (unsigned l = 0; l < t->num_levels; l++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s:%u", l == 0 ? "" : " ", t->level[l].kind,
                                 t->level[l].num_groups);
    return text;
}

static void assert_synthetic(const char *description, unsigned n, const char *levels)
{
    struct os_topology t;
    assert_int_equal(os_topology_synthetic(&t, description), 0);
    assert_well_formed(&t);
    assert_int_equal(t.n, n);
    assert_string_equal(levels_of(&t), levels);
    os_topology_free(&t);
    assert_int_equal(t.n, 0);
}

static void synthetic_machines(void **state)
{
    (void)state;
    assert_synthetic("package:2 numa:4 core:8 pu:2", 128, "smt:64 numa:8 package:2 machine:1");
    assert_synthetic("pu:1", 1, "machine:1");
    assert_synthetic("pu:7", 7, "machine:1");
    assert_synthetic("core:4 pu:1", 4, "machine:1");
    assert_synthetic("core:4 pu:2", 8, "smt:4 machine:1");
    assert_synthetic("package:1 l3:1 l2:4 core:1 pu:1", 4, "machine:1");
    assert_synthetic("package:2 l3:4 l2:2 core:2 pu:2", 64, "smt:32 l2:16 l3:8 package:2 machine:1");
    assert_synthetic("package:3 core:5 pu:1", 15, "package:3 machine:1");
    /* nodes within a third-level cache, and caches within a node */
    assert_synthetic("package:1 l3:2 numa:2 core:3 pu:1", 12, "numa:4 l3:2 machine:1");
    assert_synthetic("package:1 numa:2 l3:2 core:3 pu:1", 12, "l3:4 numa:2 machine:1");
    /* nodes above packages */
    assert_synthetic("numa:2 package:2 core:4 pu:1", 16, "package:4 numa:2 machine:1");
    assert_synthetic("package:64 core:32 pu:2", 4096, "smt:2048 package:64 machine:1");
}

static void unreadable_strings(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "bogus:2", "package:2 core:0 pu:1", "core:two pu:1", "package:2 core:2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct os_topology t;
        assert_int_equal(os_topology_synthetic(&t, bad[i]), EINVAL);
        assert_int_equal(t.n, 0);
        os_topology_free(&t);
    }
}

/* A machine of `packages` with `cores` each and `threads` in each of those; some processors are taken away: groups of
 * different sizes. */
static void assert_cut(const unsigned machine[3], const unsigned *gone, unsigned num_gone, unsigned n,
                       const char *levels, const char *first_level_sizes)
{
    struct topology_processor p[32];
    struct os_topology t;
    unsigned kept = 0;
    for (unsigned cpu = 0; cpu < n + num_gone; cpu++) {
        bool is_gone = false;
        for (unsigned i = 0; i < num_gone; i++)
            is_gone = is_gone || cpu == gone[i];
        int32_t core = (int32_t)(cpu / machine[2]), package = core / (int32_t)machine[1], no = TOPOLOGY_NO_GROUP;
        if (!is_gone)
            p[kept++] = (struct topology_processor){.cpu = cpu, .group = {core, no, no, no, package}};
    }
    assert_int_equal(kept, n);
    assert_int_equal(topology_build(&t, p, n), 0);

    assert_well_formed(&t);
    assert_int_equal(t.n, n);
    assert_string_equal(levels_of(&t), levels);
    char sizes[128] = "";
    for (unsigned g = 0; g < t.level[0].num_groups; g++) {
        unsigned size = 0;
        for (unsigned i = 0; i < t.n; i++)
            size += t.level[0].group_of[i] == g;
        snprintf(sizes + strlen(sizes), sizeof sizes - strlen(sizes), "%u ", size);
    }
    assert_string_equal(sizes, first_level_sizes);
    os_topology_free(&t);
}

static void uneven_groups(void **state)
{
    (void)state;
    assert_cut((const unsigned[]){2, 3, 2}, (const unsigned[]){1, 6, 7}, 3, 9, "smt:5 package:2 machine:1",
               "1 2 2 2 2 ");
    assert_cut((const unsigned[]){3, 4, 1}, (const unsigned[]){0, 1, 2, 11}, 4, 8, "package:3 machine:1", "1 4 3 ");
    /* one processor of each core left: no level of cores */
    assert_cut((const unsigned[]){2, 2, 2}, (const unsigned[]){0, 2, 5, 7}, 4, 4, "package:2 machine:1", "2 2 ");
}

static void this_machine(void **state)
{
    (void)state;
    struct os_cpuset mask;
    struct os_topology t;
    os_affinity_at_start(&mask);
    assert_int_equal(os_topology_read(&t), 0);
    assert_well_formed(&t);
    assert_int_equal(t.n, os_cpuset_count(&mask));
    for (unsigned i = 0; i < t.n; i++)
        assert_true(os_cpuset_has(&mask, t.cpu[i]));
    os_topology_free(&t);
}

static int count_loads(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    (void)bytes;
    *(unsigned long long *)arg = info->dlpi_adds + info->dlpi_subs;
    return 1;
}

static void reading_leaves_no_trace(void **state)
{
    (void)state;
    struct os_topology t;
    struct os_cpuset before, after;
    unsigned long long loads_before = 0, loads_after = 1;
    dl_iterate_phdr(count_loads, &loads_before);
    assert_int_equal(os_affinity_get(&before), 0);
    assert_int_equal(os_topology_read(&t), 0);
    os_topology_free(&t);
    assert_int_equal(os_affinity_get(&after), 0);
    assert_memory_equal(&before, &after, sizeof before);
    dl_iterate_phdr(count_loads, &loads_after);
    assert_int_equal(loads_before, loads_after);
}

/* --- made-up tables --- */

#define put(content, ...) made_root_put(content, "/sys/devices/system/" __VA_ARGS__)

static void put_cache(unsigned cpu, unsigned index, const char *level, const char *type, const char *map)
{
    put(level, "cpu/cpu%u/cache/index%u/level", cpu, index);
    put(type, "cpu/cpu%u/cache/index%u/type", cpu, index);
    put(map, "cpu/cpu%u/cache/index%u/shared_cpu_map", cpu, index);
}

/* cpus: the processors in order, or NULL. */
static void assert_read(uint64_t mask, int error, const char *levels, const char *cpus)
{
    struct os_cpuset set;
    struct os_topology t;
    char order[256] = "";
    os_cpuset_zero(&set);
    set.bits[0] = mask;
    assert_int_equal(topology_read_below(&t, &set, root), error);
    assert_well_formed(&t);
    assert_string_equal(levels_of(&t), levels);
    for (unsigned i = 0; i < t.n; i++)
        snprintf(order + strlen(order), sizeof order - strlen(order), "%s%u", i ? " " : "", t.cpu[i]);
    assert_string_equal(order, cpus);
    os_topology_free(&t);
}

static void tables_that_are_missing(void **state)
{
    (void)state;
    struct os_topology t;
    struct os_cpuset set = {.bits = {7}};
    assert_read(7, ENOENT, "machine:1", "0 1 2");
    assert_int_equal(topology_read_below(&t, &set, root), ENOENT);
    assert_int_equal(t.sharing_level[OS_SHARING_SMT], OS_LEVEL_ALONE);
    assert_int_equal(t.sharing_level[OS_SHARING_L3], 0);
    os_topology_free(&t);
}

/* Two packages, two cores each, two threads each, as the kernel numbers them: siblings far apart. */
static void siblings_apart(void **state)
{
    (void)state;
    static const char *const core[] = {"11\n", "22\n", "44\n", "88\n"};
    for (unsigned cpu = 0; cpu < 8; cpu++) {
        put(core[cpu % 4], "cpu/cpu%u/topology/%s", cpu, cpu < 4 ? "core_cpus" : "thread_siblings");
        put(cpu % 2 ? "aa\n" : "55\n", "cpu/cpu%u/topology/package_cpus", cpu);
        put_cache(cpu, 0, "1\n", "Data\n", core[cpu % 4]);
        put_cache(cpu, 1, "2\n", "Instruction\n", "ff\n");
        put_cache(cpu, 2, "2\n", "Unified\n", core[cpu % 4]);
        put_cache(cpu, 3, "3\n", "Unified\n", cpu % 2 ? "aa\n" : "55\n");
    }
    assert_read(0xff, 0, "smt:4 l3:2 machine:1", "0 4 2 6 1 5 3 7");
    assert_read(0xfe, 0, "smt:4 l3:2 machine:1", "1 5 3 7 2 6 4");
    assert_read(0x0f, 0, "l3:2 machine:1", "0 2 1 3"); /* one thread of each core */
}

/* Cores of two kinds: two with two threads, and four that share a second-level cache. */
static void cores_of_two_kinds(void **state)
{
    (void)state;
    static const char *const core[] = {"03\n", "03\n", "0c\n", "0c\n", "10\n", "20\n", "40\n", "80\n"};
    for (unsigned cpu = 0; cpu < 8; cpu++) {
        put(core[cpu], "cpu/cpu%u/topology/core_cpus", cpu);
        put("ff\n", "cpu/cpu%u/topology/package_cpus", cpu);
        put_cache(cpu, 0, "2\n", "Unified\n", cpu < 4 ? core[cpu] : "f0\n");
        put_cache(cpu, 1, "3\n", "Unified\n", "ff\n");
    }
    assert_read(0xff, 0, "smt:6 l2:3 machine:1", "0 1 2 3 4 5 6 7");
}

/* Many processors a set, nodes in a package, one node without processors, and two kinds of memory. */
static void nodes_in_packages(void **state)
{
    (void)state;
    put("0-3,6-7\n", "node/online");
    put("00000000,00000003\n", "node/node0/cpumap");
    put("00000000,0000000c\n", "node/node1/cpumap");
    put("00000003,00000000\n", "node/node2/cpumap");
    put("00000000,00000000\n", "node/node3/cpumap");
    put("00000000,0000000f\n", "node/node6/cpumap"); /* the larger memory of a package */
    put("00000003,00000000\n", "node/node7/cpumap");
    for (unsigned cpu = 0; cpu < 34; cpu += cpu == 3 ? 29 : 1)
        put(cpu < 4 ? "00000000,0000000f\n" : "00000003,00000000\n", "cpu/cpu%u/topology/core_siblings", cpu);
    assert_read(UINT64_C(0x30000000f), 0, "numa:3 package:2 machine:1", "0 1 2 3 32 33");
    put("junk\n", "cpu/cpu32/topology/core_siblings"); /* a table that does not name its processor */
    assert_read(UINT64_C(0x30000000f), 0, "numa:3 package:2 machine:1", "0 1 2 3 32 33");
}

static const char *self_path;

/* Only what the program was given at its start counts: run anew with one processor less. */
static void restricted_at_start(void **state)
{
    (void)state;
    struct os_cpuset all, one;
    assert_int_equal(os_affinity_get(&all), 0);
    unsigned last = 0;
    for (unsigned cpu = 0; cpu < OS_MAX_CPUS; cpu++)
        if (os_cpuset_has(&all, cpu))
            last = cpu;
    pid_t child = fork();
    if (child == 0) {
        os_cpuset_zero(&one);
        os_cpuset_add(&one, last);
        if (os_affinity_set(&one) == 0)
            execl(self_path, self_path, "--only", NULL);
        _exit(99);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* The child of restricted_at_start: exactly the processor that the kernel says it may use. */
static int check_only_one(void)
{
    struct os_topology t;
    struct os_cpuset mask;
    if (os_affinity_get(&mask) != 0 || os_topology_read(&t) != 0)
        return 1;
    bool good = t.n == 1 && os_cpuset_has(&mask, t.cpu[0]) && t.num_levels == 1;
    os_topology_free(&t);
    return good ? 0 : 2;
}

/* --- memory nodes of high bandwidth --- */

static void assert_fast(uint64_t expected)
{
    struct os_cpuset nodes;
    topology_high_bandwidth(&nodes, root);
    assert_int_equal(nodes.bits[0], expected);
}

static void put_node(unsigned node, const char *processors, const char *bandwidth)
{
    put(processors, "node/node%u/cpulist", node);
    if (bandwidth != NULL)
        put(bandwidth, "node/node%u/access0/initiators/read_bandwidth", node);
}

/* Two packages, each with another kind of memory beside its own: faster, or slower as persistent memory is. */
static void memory_of_two_kinds(void **state)
{
    (void)state;
    assert_fast(0); /* no tables */
    put("0-3\n", "node/has_memory");
    put_node(0, "0-3\n", "128000\n");
    put_node(1, "4-7\n", "120000\n");
    put_node(2, "\n", "200000\n");
    put_node(3, "\n", "200000\n");
    assert_fast(0xc);
    put_node(3, "\n", "128000\n");
    assert_fast(0x4);
    put("0-1,3\n", "node/has_memory");
    assert_fast(0);
    /* Memory of a device, which alone is near to it: 900 GB/s from there, 100 from the processors. */
    put_node(3, "\n", "900000\n");
    put("100000\n", "node/node3/access1/initiators/read_bandwidth");
    put("128000\n", "node/node0/access1/initiators/read_bandwidth");
    assert_fast(0);
}

/* Firmware that tells nothing: the user says. */
static void memory_of_which_nothing_is_told(void **state)
{
    (void)state;
    put("0-1\n", "node/has_memory");
    put_node(0, "0-3\n", NULL);
    put_node(1, "\n", NULL);
    assert_fast(0);
    setenv("MEMKIND_HBW_NODES", "1,4-5", 1);
    assert_fast(0x32);
    setenv("MEMKIND_HBW_NODES", "1,all", 1); /* one line, and the tables */
    assert_fast(0);
    const char *const no_ranges[] = {"0-", "5-3", "99999", "1,18446744073709551616"};
    for (size_t i = 0; i < sizeof no_ranges / sizeof *no_ranges; i++) {
        setenv("MEMKIND_HBW_NODES", no_ranges[i], 1);
        assert_fast(0);
    }
    put_node(0, "0-3\n", "100\n");
    put_node(1, "\n", "101\n");
    assert_fast(2);
    unsetenv("MEMKIND_HBW_NODES");
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--only") == 0)
        return check_only_one();
    self_path = argv[0];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(synthetic_machines),
        cmocka_unit_test(unreadable_strings),
        cmocka_unit_test(uneven_groups),
        cmocka_unit_test(this_machine),
        cmocka_unit_test(reading_leaves_no_trace),
        cmocka_unit_test_setup_teardown(tables_that_are_missing, made_root_make, made_root_remove),
        cmocka_unit_test_setup_teardown(siblings_apart, made_root_make, made_root_remove),
        cmocka_unit_test_setup_teardown(cores_of_two_kinds, made_root_make, made_root_remove),
        cmocka_unit_test_setup_teardown(nodes_in_packages, made_root_make, made_root_remove),
        cmocka_unit_test_setup_teardown(memory_of_two_kinds, made_root_make, made_root_remove),
        cmocka_unit_test_setup_teardown(memory_of_which_nothing_is_told, made_root_make, made_root_remove),
        cmocka_unit_test(restricted_at_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
