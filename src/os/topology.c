/* The machine's processors and what they share, by hwloc where it is to be had.
 *
 * Does: reads the machine once a call, restricted to the processors that the program was given. Does not: keep it (the
 * caller does), bind anything, or load hwloc before the first call.
 * Callers: anybody, on a stack of 64 KiB or more; takes malloc's and the dynamic linker's locks. No shared state.
 * Failures: where hwloc is missing, or does not know all the program's processors, the machine is one group: ENOENT,
 * *out valid.
 * ENOMEM: *out is empty (n == 0). Cost: milliseconds.
 *
 * hwloc's x86 component stays out: it binds the calling kernel thread to each processor in turn to ask it, and tells
 * nothing that the kernel's tables do not.
 * hwloc is closed again: what it depends on is then not in the process when others look through its objects.
 * Rejected: linking to hwloc (its symbols and those of its dependencies in every process); reading /sys ourselves. */
#include "topology.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int topology_alloc(struct os_topology *t, unsigned n)
{
    memset(t, 0, sizeof *t);
    char *block = calloc(n, sizeof *t->cpu + OS_MAX_LEVELS * sizeof(uint16_t));
    if (block == NULL)
        return ENOMEM;
    t->n = n;
    t->cpu = (unsigned *)(void *)block;
    for (unsigned i = 0; i < OS_MAX_LEVELS; i++)
        t->level[i].group_of = (uint16_t *)(void *)(block + n * sizeof *t->cpu) + (size_t)i * n;
    return 0;
}

void os_topology_free(struct os_topology *t)
{
    free(t->cpu); /* the one block */
    memset(t, 0, sizeof *t);
}

void topology_add_machine(struct os_topology *t)
{
    struct os_topology_level *level = &t->level[t->num_levels++];
    level->kind = "machine";
    level->num_groups = 1;
    memset(level->group_of, 0, t->n * sizeof *level->group_of);
}

/* One group of the processors of the mask. */
static int one_group(struct os_topology *t, const struct os_cpuset *mask)
{
    unsigned n = os_cpuset_count(mask);
    int error = topology_alloc(t, n == 0 ? 1 : n);
    if (error != 0)
        return error;
    n = 0;
    for (unsigned cpu = 0; cpu < OS_MAX_CPUS; cpu++)
        if (os_cpuset_has(mask, cpu))
            t->cpu[n++] = cpu;
    for (unsigned i = 0; i < OS_NUM_SHARINGS; i++)
        t->sharing_level[i] = 0;
    t->sharing_level[OS_SHARING_SMT] = OS_LEVEL_ALONE;
    topology_add_machine(t);
    return 0;
}

#if PS_HAVE_HWLOC

#include "hwloc_levels.h"

/* The machine as hwloc sees it, cut to the mask. */
static int load_restricted(const struct hwloc_calls *calls, hwloc_topology_t topology, const struct os_cpuset *mask)
{
    if (calls->hwloc_topology_set_components != NULL)
        calls->hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    if (calls->hwloc_topology_load(topology) != 0)
        return ENOENT;
    hwloc_bitmap_t set = calls->hwloc_bitmap_alloc();
    if (set == NULL)
        return ENOMEM;
    for (unsigned cpu = 0; cpu < OS_MAX_CPUS; cpu++)
        if (os_cpuset_has(mask, cpu))
            calls->hwloc_bitmap_set(set, cpu);
    int error = calls->hwloc_topology_restrict(topology, set, 0) == 0 ? 0 : ENOENT;
    calls->hwloc_bitmap_free(set);
    return error;
}

static int read_with_hwloc(struct os_topology *out, const struct os_cpuset *mask)
{
    struct hwloc_calls calls;
    int error = hwloc_calls_load(&calls);
    if (error != 0)
        return error;
    hwloc_topology_t topology;
    error = ENOENT;
    if (os_loading_begin()) { /* hwloc loads its plugins in init, and unloads them in destroy */
        if (calls.hwloc_topology_init(&topology) == 0) {
            error = load_restricted(&calls, topology, mask);
            if (error == 0)
                error = hwloc_levels_extract(&calls, topology, out);
            calls.hwloc_topology_destroy(topology);
        }
        os_loading_end();
    }
    hwloc_calls_unload(&calls);
    /* Restricting drops processors that are not in the mask, never adds: equal numbers mean equal sets. */
    if (error == 0 && out->n != os_cpuset_count(mask)) {
        os_topology_free(out);
        error = ENOENT;
    }
    return error;
}

#else

static int read_with_hwloc(struct os_topology *out, const struct os_cpuset *mask)
{
    (void)out;
    (void)mask;
    return ENOENT;
}

#endif

int os_topology_read(struct os_topology *out)
{
    int saved_errno = errno;
    struct os_cpuset mask;
    memset(out, 0, sizeof *out);
    os_affinity_at_start(&mask);
    int error = read_with_hwloc(out, &mask);
    if (error != 0)
        error = one_group(out, &mask) == 0 ? ENOENT : ENOMEM;
    errno = saved_errno;
    return error;
}
