/* The machine's processors and what they share.
 *
 * Does: finds the groups that each kind of sharing makes of the processors (core, second- and third-level cache, NUMA
 * node, package), and keeps a chain of kinds from fine to coarse. Reads the machine once a call, restricted to the
 * processors that the program was given. Does not: know where the system keeps the groups (linux/machine.c), keep the
 * result (the caller does), or bind anything.
 * Callers: any thread, on a stack of 64 KiB or more. No shared state, no malloc. errno is kept.
 * Failures: if the system tells nothing of the processors, the machine is one group: ENOENT, *out valid. ENOMEM: *out
 * is empty (n == 0). Cost: a handful of small files for each group; all else grows with processors x kinds.
 *
 * Machines differ in what contains what. A NUMA node may be a part of a package or of a third-level cache; one core may
 * have a third-level cache and its neighbour none. So no order of kinds is assumed:
 *   - a processor without a group of one kind takes its group of the previous kind (or is alone, if that has none);
 *   - kinds are ordered by their number of groups, most first;
 *   - a kind is kept if each of its groups is a union of groups of the last kept kind, and the groups are not the same.
 * A level in which each processor is alone, and one with the whole machine, tell nothing and are dropped; then
 * "machine" is added as the last. Processors are ordered by their groups, coarse levels first; groups by their lowest
 * processor.
 *
 * Rejected: hwloc. It loads plugins with their libraries, and unloads those that do not fit, on a kernel thread that
 * the program does not know. A garbage collector (libgc) that reads the data of loaded objects meanwhile reads memory
 * that is gone. Only hwloc's environment variables could keep the plugins out, and the environment is the program's.
 * Rejected: loading hwloc in each program before `main`, which takes milliseconds. */
#include "topology.h"

#include <errno.h>
#include <string.h>

static const char *const kind_name[OS_NUM_SHARINGS] = {"smt", "l2", "l3", "numa", "package"};

static size_t topology_bytes(unsigned n) { return n * (sizeof(unsigned) + OS_MAX_LEVELS * sizeof(uint16_t)); }

/* Allocates room for n processors and all levels in one block; os_topology_free frees it. */
static int topology_alloc(struct os_topology *t, unsigned n)
{
    memset(t, 0, sizeof *t);
    char *block = os_map(topology_bytes(n));
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
    if (t->cpu != NULL)
        os_unmap(t->cpu, topology_bytes(t->n)); /* frees all the arrays: they are one block */
    memset(t, 0, sizeof *t);
}

/* The groups that one kind of sharing makes of the processors, numbered in the order of their first processor. */
struct partition {
    enum os_sharing kind;
    unsigned num_groups;
    uint16_t *group_of;
};

struct scratch {
    struct partition part[OS_NUM_SHARINGS], *kept[OS_NUM_SHARINGS];
    unsigned num_kept;
    int32_t *seen;          /* [OS_MAX_CPUS + n]; used as a table by several functions */
    uint16_t *order, *next; /* [n] */
    uint16_t *alone;        /* [n]: each processor's own number; the groups of each kind follow */
};

static size_t scratch_bytes(unsigned n)
{
    return (OS_MAX_CPUS + n) * sizeof(int32_t) + n * (3 + OS_NUM_SHARINGS) * sizeof(uint16_t);
}

/* Numbers the groups of out->kind. before: the group of each processor in the previous kind. seen: room for OS_MAX_CPUS
 * + n numbers. */
static void number_groups(struct partition *out, const struct topology_processor *p, unsigned n, const uint16_t *before,
                          int32_t *seen)
{
    for (unsigned i = 0; i < OS_MAX_CPUS + n; i++)
        seen[i] = -1;
    out->num_groups = 0;
    for (unsigned i = 0; i < n; i++) {
        int32_t own = p[i].group[out->kind];
        int32_t *number = &seen[own != TOPOLOGY_NO_GROUP ? own : OS_MAX_CPUS + before[i]];
        if (*number < 0)
            *number = (int32_t)out->num_groups++;
        out->group_of[i] = (uint16_t)*number;
    }
}

/* Returns whether each group of `coarse` is a union of groups of `fine`. room: space for n numbers. */
static bool is_union_of(const uint16_t *coarse, const uint16_t *fine, unsigned n, int32_t *room)
{
    for (unsigned i = 0; i < n; i++)
        room[i] = -1;
    for (unsigned i = 0; i < n; i++) {
        if (room[fine[i]] < 0)
            room[fine[i]] = coarse[i];
        if (room[fine[i]] != coarse[i])
            return false;
    }
    return true;
}

/* Sorts the kinds by their number of groups, most first. Kinds with the same number keep their order. */
static void sort_partitions(struct partition part[OS_NUM_SHARINGS])
{
    for (unsigned k = 1; k < OS_NUM_SHARINGS; k++)
        for (unsigned j = k; j > 0 && part[j - 1].num_groups < part[j].num_groups; j--) {
            struct partition one = part[j];
            part[j] = part[j - 1];
            part[j - 1] = one;
        }
}

/* Keeps the kinds that form the chain of levels.
 *
 * Of hwloc's own collection of machines (tests/hwloc/linux, 42 of them) 35 give the same levels and order here. Three
 * others are made-up tables that contradict themselves or have holes. Two have control groups and offline processors of
 * old kernels. One is a mainframe with books, in another order. One has modules of two cores, which count as cores with
 * two threads here, as in libgomp. tests/os/topology_peer_test.c makes up machines whose tables are sound. */
static void keep_chain(struct os_topology *t, struct scratch *s)
{
    unsigned groups_before = t->n;
    sort_partitions(s->part);
    for (unsigned k = 0; k < OS_NUM_SHARINGS; k++) {
        struct partition *part = &s->part[k];
        /* A kind that makes no level of its own gets the last kept level; a kind with one group gets the level
         * "machine". */
        t->sharing_level[part->kind] = (int8_t)((int)s->num_kept - (part->num_groups > 1));
        if (part->num_groups == groups_before || part->num_groups == 1)
            continue;
        if (s->num_kept > 0 && !is_union_of(part->group_of, s->kept[s->num_kept - 1]->group_of, t->n, s->seen))
            continue;
        groups_before = part->num_groups;
        t->sharing_level[part->kind] = (int8_t)s->num_kept;
        s->kept[s->num_kept++] = part;
    }
}

/* Sorts s->order by the groups of `part`. Processors of one group keep their order. */
static void sort_by(const struct partition *part, struct scratch *s, unsigned n)
{
    int32_t *at = s->seen;
    for (unsigned g = 0; g <= part->num_groups; g++)
        at[g] = 0;
    for (unsigned i = 0; i < n; i++)
        at[part->group_of[i] + 1]++;
    for (unsigned g = 1; g < part->num_groups; g++)
        at[g] += at[g - 1];
    for (unsigned i = 0; i < n; i++)
        s->next[at[part->group_of[s->order[i]]]++] = s->order[i];
    memcpy(s->order, s->next, n * sizeof *s->order);
}

static void fill_level(struct os_topology_level *level, const struct partition *part, struct scratch *s, unsigned n)
{
    for (unsigned g = 0; g < part->num_groups; g++)
        s->seen[g] = -1;
    level->kind = kind_name[part->kind];
    level->num_groups = 0;
    for (unsigned i = 0; i < n; i++) {
        int32_t *number = &s->seen[part->group_of[s->order[i]]];
        if (*number < 0)
            *number = (int32_t)level->num_groups++;
        level->group_of[i] = (uint16_t)*number;
    }
}

/* If the system tells no NUMA nodes, the machine is one node. */
static void one_node_at_least(struct topology_processor *p, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (p[i].group[OS_SHARING_NUMA] != TOPOLOGY_NO_GROUP)
            return;
    for (unsigned i = 0; i < n; i++)
        p[i].group[OS_SHARING_NUMA] = 0;
}

int topology_build(struct os_topology *out, struct topology_processor *p, unsigned n)
{
    char *room = os_map(scratch_bytes(n));
    int error = room == NULL ? ENOMEM : topology_alloc(out, n);
    struct scratch s = {.seen = (int32_t *)(void *)room};
    if (error == 0) {
        s.order = (uint16_t *)(void *)(room + (OS_MAX_CPUS + n) * sizeof *s.seen);
        s.next = s.order + n;
        s.alone = s.next + n;
        for (unsigned i = 0; i < n; i++)
            s.order[i] = s.alone[i] = (uint16_t)i;
        one_node_at_least(p, n);
        const uint16_t *before = s.alone;
        for (unsigned k = 0; k < OS_NUM_SHARINGS; k++, before += n) {
            s.part[k] = (struct partition){.kind = (enum os_sharing)k, .group_of = s.alone + (k + 1) * (size_t)n};
            number_groups(&s.part[k], p, n, before, s.seen);
        }
        keep_chain(out, &s);
        for (unsigned k = 0; k < s.num_kept; k++)
            sort_by(s.kept[k], &s, n);
        for (unsigned i = 0; i < n; i++)
            out->cpu[i] = p[s.order[i]].cpu;
        for (unsigned k = 0; k < s.num_kept; k++)
            fill_level(&out->level[k], s.kept[k], &s, n);
        out->num_levels = s.num_kept + 1;
        out->level[s.num_kept].kind = "machine";
        out->level[s.num_kept].num_groups = 1; /* the block is zeroed, so every processor is in group 0 */
    }
    if (room != NULL)
        os_unmap(room, scratch_bytes(n));
    return error;
}

int topology_read_below(struct os_topology *out, const struct os_cpuset *mask, const char *root)
{
    unsigned n = os_cpuset_count(mask), i = 0;
    size_t bytes = (n ? n : 1) * sizeof(struct topology_processor);
    struct topology_processor *p = os_map(bytes);
    memset(out, 0, sizeof *out);
    if (p == NULL)
        return ENOMEM;
    for (unsigned cpu = 0; cpu < OS_MAX_CPUS; cpu++)
        if (os_cpuset_has(mask, cpu))
            p[i++].cpu = cpu;
    n = n ? n : 1;
    int error = topology_scan(p, n, root);
    /* nothing is known: assume that the processors share everything except cores */
    for (i = 0; error != 0 && i < n; i++)
        for (unsigned k = 0; k < OS_NUM_SHARINGS; k++)
            p[i].group[k] = k == OS_SHARING_SMT ? TOPOLOGY_NO_GROUP : 0;
    if (topology_build(out, p, n) != 0)
        error = ENOMEM;
    os_unmap(p, bytes);
    return error;
}

int os_topology_read(struct os_topology *out)
{
    int saved_errno = errno;
    struct os_cpuset mask;
    os_affinity_at_start(&mask);
    int error = topology_read_below(out, &mask, "");
    errno = saved_errno;
    return error;
}
