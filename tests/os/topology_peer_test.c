/* The groups of processors as hwloc finds them: this machine's, and those of machines that chance makes up. Each
 * made-up machine is a folder of the kernel's tables, which both read. */
#define _GNU_SOURCE
#include "made_root.h"

#include "os.h"
#include "topology.h"

#include <errno.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MACHINES = 24, MOST = 96, WORDS = MOST / 32 };

static uint32_t state = 12345;

static unsigned chance(unsigned below)
{
    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
}

/* --- what hwloc says --- */

static hwloc_obj_t ancestor(hwloc_obj_t object, hwloc_obj_type_t type)
{
    while (object != NULL && object->type != type)
        object = object->parent;
    return object;
}

/* The node that serves the fewest processors, and the first of those. */
static hwloc_obj_t node_of(hwloc_topology_t topology, unsigned cpu)
{
    hwloc_obj_t best = NULL;
    for (hwloc_obj_t node = NULL; (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != NULL;)
        if (hwloc_bitmap_isset(node->cpuset, cpu) &&
            (best == NULL || hwloc_bitmap_weight(node->cpuset) < hwloc_bitmap_weight(best->cpuset)))
            best = node;
    return best;
}

static int32_t number_of(hwloc_obj_t object)
{
    return object == NULL ? TOPOLOGY_NO_GROUP : (int32_t)hwloc_bitmap_first(object->cpuset);
}

/* The machine below `root`, of which `mask` counts, by hwloc's tree. */
static void build_by_hwloc(struct os_topology *out, const struct os_cpuset *mask)
{
    static const hwloc_obj_type_t type[] = {HWLOC_OBJ_CORE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_NUMANODE,
                                            HWLOC_OBJ_PACKAGE};
    static struct topology_processor p[OS_MAX_CPUS];
    hwloc_topology_t topology;
    hwloc_bitmap_t kept = hwloc_bitmap_alloc();
    unsigned n = 0;
    assert_int_equal(hwloc_topology_init(&topology), 0);
    assert_int_equal(hwloc_topology_load(topology), 0);
    for (unsigned cpu = 0; cpu < OS_MAX_CPUS; cpu++)
        if (os_cpuset_has(mask, cpu))
            hwloc_bitmap_set(kept, cpu);
    assert_int_equal(hwloc_topology_restrict(topology, kept, 0), 0);
    for (unsigned cpu = 0; cpu < OS_MAX_CPUS; cpu++) {
        if (!os_cpuset_has(mask, cpu))
            continue;
        hwloc_obj_t processor = hwloc_get_pu_obj_by_os_index(topology, cpu);
        assert_non_null(processor);
        p[n].cpu = cpu;
        for (unsigned k = 0; k < OS_NUM_SHARINGS; k++)
            p[n].group[k] = number_of(k == OS_SHARING_NUMA ? node_of(topology, cpu) : ancestor(processor, type[k]));
        n++;
    }
    assert_int_equal(topology_build(out, p, n), 0);
    hwloc_bitmap_free(kept);
    hwloc_topology_destroy(topology);
}

static void assert_same(const struct os_topology *ours, const struct os_topology *peers, unsigned machine)
{
    if (ours->n != peers->n || ours->num_levels != peers->num_levels)
        fail_msg("machine %u in %s: %u processors in %u levels, by hwloc %u in %u", machine, root, ours->n,
                 ours->num_levels, peers->n, peers->num_levels);
    for (unsigned l = 0; l < ours->num_levels; l++) {
        if (strcmp(ours->level[l].kind, peers->level[l].kind) != 0 ||
            ours->level[l].num_groups != peers->level[l].num_groups)
            fail_msg("machine %u in %s: level %u is %s:%u, by hwloc %s:%u", machine, root, l, ours->level[l].kind,
                     ours->level[l].num_groups, peers->level[l].kind, peers->level[l].num_groups);
        assert_memory_equal(ours->level[l].group_of, peers->level[l].group_of, ours->n * sizeof(uint16_t));
    }
    assert_memory_equal(ours->cpu, peers->cpu, ours->n * sizeof *ours->cpu);
}

/* --- machines by chance --- */

#define put(content, ...) made_root_put(content, "/sys/devices/system/" __VA_ARGS__)

enum { THREADS, L2, L3, NUMA, PACKAGE, NUM_KINDS };
struct machine {
    unsigned n;
    unsigned size[NUM_KINDS]; /* processors in a group; a multiple of an inner kind's */
    unsigned cpu[MOST];       /* their numbers, in the order of the tree */
    bool wide_memory;         /* a second node for each package */
    bool old;                 /* the names of files before Linux 5.3 */
    bool no_l3_at[MOST];      /* the core has no third-level cache */
};

/* The set of the `size` processors around place i. */
static const char *set_around(const struct machine *m, unsigned i, unsigned size)
{
    static char text[WORDS * 9 + 1];
    uint32_t word[WORDS] = {0};
    for (unsigned j = i / size * size; j < i / size * size + size; j++)
        word[m->cpu[j] / 32] |= 1u << m->cpu[j] % 32;
    for (int w = WORDS - 1, used = 0; w >= 0; w--)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%08x", w == WORDS - 1 ? "" : ",", word[w]);
    return text;
}

static void make_machine(struct machine *m)
{
    static const unsigned order[3][2] = {{L3, NUMA}, {NUMA, L3}, {L3, L3}}; /* the last: nodes are packages */
    const unsigned *middle = order[chance(3)];
    memset(m, 0, sizeof *m);
    m->size[THREADS] = 1 + chance(2);
    m->size[L2] = m->size[THREADS] * (1 + chance(3));
    m->size[middle[0]] = m->size[L2] * (1 + chance(3));
    m->size[middle[1]] = m->size[middle[0]] * (middle[0] == middle[1] ? 1 : 1 + chance(2));
    m->size[PACKAGE] = m->size[middle[1]] * (1 + chance(2));
    if (m->size[NUMA] == 0)
        m->size[NUMA] = m->size[PACKAGE];
    m->n = m->size[PACKAGE] * (1 + chance(3));
    if (m->n > MOST)
        m->n = m->size[PACKAGE]; /* at most 2 * 3 * 3 * 2 * 2 */
    for (unsigned i = 0; i < m->n; i++)
        m->cpu[i] = i;
    for (unsigned i = m->n; chance(3) > 0 && i-- > 1;) { /* the numbers in some other order */
        unsigned j = chance(i + 1), one = m->cpu[i];
        m->cpu[i] = m->cpu[j];
        m->cpu[j] = one;
    }
    m->old = chance(2);
    m->wide_memory = chance(4) == 0 && m->size[NUMA] < m->size[PACKAGE];
    for (unsigned i = 0; i < m->n; i++)
        m->no_l3_at[i] = i % m->size[L3] != 0 ? m->no_l3_at[i - 1] : chance(8) == 0;
}

static void put_cache(const struct machine *m, unsigned i, unsigned index, unsigned level, const char *type,
                      unsigned size)
{
    char text[16];
    snprintf(text, sizeof text, "%u", level);
    put(text, "cpu/cpu%u/cache/index%u/level", m->cpu[i], index);
    put(type, "cpu/cpu%u/cache/index%u/type", m->cpu[i], index);
    put("1024K", "cpu/cpu%u/cache/index%u/size", m->cpu[i], index);
    put(set_around(m, i, size), "cpu/cpu%u/cache/index%u/shared_cpu_map", m->cpu[i], index);
}

static void put_node(const struct machine *m, unsigned number, unsigned i, unsigned size)
{
    char text[80];
    put(set_around(m, i, size), "node/node%u/cpumap", number);
    snprintf(text, sizeof text, "Node %u MemTotal: 1048576 kB", number);
    put(text, "node/node%u/meminfo", number);
}

static void put_machine(const struct machine *m)
{
    char text[32];
    snprintf(text, sizeof text, m->n > 1 ? "0-%u" : "%u", m->n - 1);
    put(text, "cpu/online");
    put(text, "cpu/possible");
    put(text, "cpu/present");
    for (unsigned i = 0; i < m->n; i++) {
        unsigned cpu = m->cpu[i];
        snprintf(text, sizeof text, "%u", i / m->size[THREADS]);
        put(text, "cpu/cpu%u/topology/core_id", cpu);
        snprintf(text, sizeof text, "%u", i / m->size[PACKAGE]);
        put(text, "cpu/cpu%u/topology/physical_package_id", cpu);
        put(set_around(m, i, m->size[THREADS]), "cpu/cpu%u/topology/%s", cpu, m->old ? "thread_siblings" : "core_cpus");
        put(set_around(m, i, m->size[PACKAGE]), "cpu/cpu%u/topology/%s", cpu,
            m->old ? "core_siblings" : "package_cpus");
        put_cache(m, i, 0, 1, "Data", m->size[THREADS]);
        put_cache(m, i, 1, 1, "Instruction", m->size[THREADS]);
        put_cache(m, i, 2, 2, "Unified", m->size[L2]);
        if (!m->no_l3_at[i])
            put_cache(m, i, 3, 3, "Unified", m->size[L3]);
    }
    unsigned nodes = 0;
    for (unsigned i = 0; i < m->n; i += m->size[NUMA])
        put_node(m, nodes++, i, m->size[NUMA]);
    for (unsigned i = 0; m->wide_memory && i < m->n; i += m->size[PACKAGE])
        put_node(m, nodes++, i, m->size[PACKAGE]);
    snprintf(text, sizeof text, nodes > 1 ? "0-%u" : "%u", nodes - 1);
    put(text, "node/online");
    put(text, "node/possible");
}

static void machines_by_chance(void **unused)
{
    (void)unused;
    for (unsigned round = 0; round < MACHINES; round++) {
        struct machine m;
        struct os_topology ours, peers;
        struct os_cpuset mask;
        assert_int_equal(made_root_make(NULL), 0);
        make_machine(&m);
        put_machine(&m);
        os_cpuset_zero(&mask);
        bool cut = chance(3) == 0;
        for (unsigned i = 0; i < m.n; i++)
            if (i == 0 || !cut || chance(4) > 0)
                os_cpuset_add(&mask, m.cpu[i]);
        setenv("HWLOC_FSROOT", root, 1);
        build_by_hwloc(&peers, &mask);
        assert_int_equal(topology_read_below(&ours, &mask, root), 0);
        assert_same(&ours, &peers, round);
        os_topology_free(&ours);
        os_topology_free(&peers);
        assert_int_equal(made_root_remove(NULL), 0);
    }
}

static void this_machine_by_both(void **unused)
{
    (void)unused;
    struct os_topology ours, peers;
    struct os_cpuset mask;
    unsetenv("HWLOC_FSROOT");
    setenv("HWLOC_COMPONENTS", "linux,stop", 1); /* the kernel's tables, and not what the processor itself says */
    os_affinity_at_start(&mask);
    build_by_hwloc(&peers, &mask);
    assert_int_equal(os_topology_read(&ours), 0);
    assert_same(&ours, &peers, 0);
    os_topology_free(&ours);
    os_topology_free(&peers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_machine_by_both),
        cmocka_unit_test(machines_by_chance),
    };
    setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
