/* Topologies: this machine's, others' from strings, cut ones, and none. */
#define _GNU_SOURCE
#include "test.h"

#include "hwloc_levels.h"
#include "os.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool hide_hwloc;

void *__real_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags)
{
    return hide_hwloc && strstr(name, "hwloc") != NULL ? NULL : __real_dlopen(name, flags);
}

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
    static const char *const bad[] = {"", "bogus:2", "package:2 core:0 pu:1", "core:two pu:1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct os_topology t;
        assert_int_equal(os_topology_synthetic(&t, bad[i]), EINVAL);
        assert_int_equal(t.n, 0);
        os_topology_free(&t);
    }
}

/* A machine with processors taken away: groups of different sizes. */
static void assert_cut(const char *description, const unsigned *gone, unsigned num_gone, unsigned n, const char *levels,
                       const char *first_level_sizes)
{
    struct hwloc_calls calls;
    hwloc_topology_t topology;
    struct os_topology t;
    assert_int_equal(hwloc_calls_load(&calls), 0);
    assert_int_equal(calls.hwloc_topology_init(&topology), 0);
    assert_int_equal(calls.hwloc_topology_set_synthetic(topology, description), 0);
    assert_int_equal(calls.hwloc_topology_load(topology), 0);
    hwloc_bitmap_t keep = calls.hwloc_bitmap_alloc();
    for (unsigned cpu = 0; cpu < n + num_gone; cpu++) {
        bool kept = true;
        for (unsigned i = 0; i < num_gone; i++)
            kept = kept && cpu != gone[i];
        if (kept)
            calls.hwloc_bitmap_set(keep, cpu);
    }
    assert_int_equal(calls.hwloc_topology_restrict(topology, keep, 0), 0);
    assert_int_equal(hwloc_levels_extract(&calls, topology, &t), 0);
    calls.hwloc_bitmap_free(keep);
    calls.hwloc_topology_destroy(topology);
    hwloc_calls_unload(&calls);

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
    assert_cut("package:2 core:3 pu:2", (const unsigned[]){1, 6, 7}, 3, 9, "smt:5 package:2 machine:1", "1 2 2 2 2 ");
    assert_cut("package:3 core:4 pu:1", (const unsigned[]){0, 1, 2, 11}, 4, 8, "package:3 machine:1", "1 4 3 ");
    /* one processor of each core left: no level of cores */
    assert_cut("package:2 core:2 pu:2", (const unsigned[]){0, 2, 5, 7}, 4, 4, "package:2 machine:1", "2 2 ");
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

static void hwloc_leaves_no_trace(void **state)
{
    (void)state;
    struct os_topology t;
    struct os_cpuset before, after;
    assert_int_equal(os_affinity_get(&before), 0);
    assert_int_equal(os_topology_read(&t), 0);
    os_topology_free(&t);
    assert_int_equal(os_affinity_get(&after), 0);
    assert_memory_equal(&before, &after, sizeof before);
    assert_null(dlsym(RTLD_DEFAULT, "hwloc_topology_init"));
}

static void without_hwloc_one_group(void **state)
{
    (void)state;
    struct os_topology t;
    struct os_cpuset mask;
    os_affinity_at_start(&mask);
    hide_hwloc = true;
    errno = 11;
    assert_int_equal(os_topology_read(&t), ENOENT);
    assert_int_equal(errno, 11);
    assert_well_formed(&t);
    assert_int_equal(t.n, os_cpuset_count(&mask));
    assert_int_equal(t.num_levels, 1);
    os_topology_free(&t);
    assert_int_equal(os_topology_synthetic(&t, "pu:2"), ENOENT);
    hide_hwloc = false;
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

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--only") == 0)
        return check_only_one();
    self_path = argv[0];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(synthetic_machines),    cmocka_unit_test(unreadable_strings),
        cmocka_unit_test(uneven_groups),         cmocka_unit_test(this_machine),
        cmocka_unit_test(hwloc_leaves_no_trace), cmocka_unit_test(without_hwloc_one_group),
        cmocka_unit_test(restricted_at_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
