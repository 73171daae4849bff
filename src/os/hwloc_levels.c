/* The levels of sharing out of hwloc's tree; see hwloc_levels.h and os.h ("topology").
 *
 * Does: for each kind of sharing (core, second- and third-level cache, NUMA node, package) finds the groups that it
 * makes of the processors, and keeps a chain of them from fine to coarse. Does not: load topologies, or know the
 * affinity mask.
 * Callers: topology.c and synthetic/synthetic.c, one at a time on each topology. No shared state.
 *
 * Machines differ in what contains what. A NUMA node may be part of a package or of a third-level cache; a core may
 * have no third-level cache while its neighbour has one. So no order of kinds is taken for granted:
 *   - a processor without an object of a kind takes its group of the kind before (alone, if it has none either);
 *   - kinds are ordered by their number of groups, most first;
 *   - a kind is kept if each of its groups is a union of groups of the last kept, and is not the same set of groups
 *     again.
 * A level of processors all alone, and one of the whole machine, say nothing and go likewise; "machine" is then put
 * last.
 *
 * NUMA nodes hang beside hwloc's tree, as memory of the object that they serve. Several nodes may serve a processor:
 * its node is the one that serves the fewest processors, and the first of those. (Machines with two kinds of memory
 * have two nodes for one set.)
 * Failures: ENOMEM, EINVAL. Cost: processors x kinds x depth of the tree. Rejected: hwloc's distances (latencies in
 * arbitrary units; groups are what stealing needs). */
#include "hwloc_levels.h"
#include "topology.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum kind {
    KIND_SMT = OS_SHARING_SMT,
    KIND_L2 = OS_SHARING_L2,
    KIND_L3 = OS_SHARING_L3,
    KIND_NUMA = OS_SHARING_NUMA,
    KIND_PACKAGE = OS_SHARING_PACKAGE,
    NUM_KINDS = OS_NUM_SHARINGS
};
static const char *const kind_name[NUM_KINDS] = {"smt", "l2", "l3", "numa", "package"};

int hwloc_calls_load(struct hwloc_calls *calls)
{
    memset(calls, 0, sizeof *calls);
    if (!os_loading_begin())
        return ENOENT;
    calls->library = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
    os_loading_end();
    if (calls->library == NULL)
        return ENOENT;
    bool whole = true;
#define HWLOC_FIND(result, name, parameters) \
    whole &= (calls->name = (result(*) parameters)dlsym(calls->library, #name)) != NULL;
    HWLOC_CALLS(HWLOC_FIND)
#undef HWLOC_FIND
    calls->hwloc_topology_set_components =
        (int (*)(hwloc_topology_t, unsigned long, const char *))dlsym(calls->library, "hwloc_topology_set_components");
    if (whole)
        return 0;
    hwloc_calls_unload(calls);
    return ENOENT;
}

void hwloc_calls_unload(struct hwloc_calls *calls)
{
    if (calls->library != NULL && os_loading_begin()) {
        dlclose(calls->library);
        os_loading_end();
    }
    calls->library = NULL;
}

static hwloc_obj_t ancestor(hwloc_obj_t object, hwloc_obj_type_t type)
{
    while (object != NULL && object->type != type)
        object = object->parent;
    return object;
}

static hwloc_obj_t numa_node_of(const struct hwloc_calls *calls, hwloc_topology_t topology, hwloc_obj_t processor)
{
    unsigned n = calls->hwloc_get_nbobjs_by_depth(topology, HWLOC_TYPE_DEPTH_NUMANODE);
    hwloc_obj_t best = NULL;
    int best_weight = 0;
    for (unsigned i = 0; i < n; i++) {
        hwloc_obj_t node = calls->hwloc_get_obj_by_depth(topology, HWLOC_TYPE_DEPTH_NUMANODE, i);
        if (!calls->hwloc_bitmap_isset(node->cpuset, processor->os_index))
            continue;
        int weight = calls->hwloc_bitmap_weight(node->cpuset);
        if (best == NULL || weight < best_weight) {
            best = node;
            best_weight = weight;
        }
    }
    return best;
}

static hwloc_obj_t object_of_kind(const struct hwloc_calls *calls, hwloc_topology_t topology, hwloc_obj_t processor,
                                  enum kind kind)
{
    switch (kind) {
    case KIND_SMT:
        return ancestor(processor, HWLOC_OBJ_CORE);
    case KIND_L2:
        return ancestor(processor, HWLOC_OBJ_L2CACHE);
    case KIND_L3:
        return ancestor(processor, HWLOC_OBJ_L3CACHE);
    case KIND_NUMA:
        return numa_node_of(calls, topology, processor);
    default:
        return ancestor(processor, HWLOC_OBJ_PACKAGE);
    }
}

/* How the processors fall into groups by one kind. */
struct partition {
    enum kind kind;
    unsigned num_groups;
    uint16_t *group_of;
};

/* Numbers the groups in the order in which they come first. seen: room for n. */
static void number_groups(struct partition *p, const hwloc_obj_t *object, unsigned n, hwloc_obj_t *seen)
{
    p->num_groups = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned g = 0;
        /* Neighbours are mostly in the last group: look from the end. */
        for (g = p->num_groups; g > 0 && seen[g - 1] != object[i]; g--)
            ;
        if (g == 0) {
            seen[p->num_groups++] = object[i];
            g = p->num_groups;
        }
        p->group_of[i] = (uint16_t)(g - 1);
    }
}

/* Is each group of `coarse` a union of groups of `fine`? room: for as many as `fine` has. */
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

static int by_groups_descending(const void *a, const void *b)
{
    const struct partition *x = a, *y = b;
    if (x->num_groups != y->num_groups)
        return x->num_groups < y->num_groups ? 1 : -1;
    return (int)x->kind - (int)y->kind;
}

/* Keeps the chain of levels out of all partitions. */
static void keep_chain(struct os_topology *t, struct partition part[NUM_KINDS], int32_t *room)
{
    qsort(part, NUM_KINDS, sizeof part[0], by_groups_descending);
    unsigned groups_before = t->n;
    for (int k = 0; k < NUM_KINDS; k++) {
        /* What makes no level of its own has the groups of the last kept; one of the whole machine, those of
         * "machine". */
        t->sharing_level[part[k].kind] = (int8_t)((int)t->num_levels - (part[k].num_groups > 1));
        if (part[k].num_groups == groups_before || part[k].num_groups == 1)
            continue;
        struct os_topology_level *last = t->num_levels == 0 ? NULL : &t->level[t->num_levels - 1];
        if (last != NULL && !is_union_of(part[k].group_of, last->group_of, t->n, room))
            continue;
        struct os_topology_level *level = &t->level[t->num_levels++];
        level->kind = kind_name[part[k].kind];
        level->num_groups = part[k].num_groups;
        memcpy(level->group_of, part[k].group_of, t->n * sizeof *level->group_of);
        groups_before = level->num_groups;
        t->sharing_level[part[k].kind] = (int8_t)(t->num_levels - 1);
    }
    topology_add_machine(t);
}

int hwloc_levels_extract(const struct hwloc_calls *calls, hwloc_topology_t topology, struct os_topology *out)
{
    int depth = calls->hwloc_get_type_depth(topology, HWLOC_OBJ_PU);
    unsigned all = calls->hwloc_get_nbobjs_by_depth(topology, depth);
    hwloc_obj_t *processor = calloc(all + 1, 3 * sizeof *processor);
    int32_t *room = calloc(all + 1, sizeof *room);
    uint16_t *groups = calloc(all + 1, NUM_KINDS * sizeof *groups);
    int result = ENOMEM;
    if (processor == NULL || room == NULL || groups == NULL)
        goto out;
    hwloc_obj_t *object = processor + all, *seen = object + all;
    unsigned n = 0;
    for (unsigned i = 0; i < all; i++) {
        hwloc_obj_t p = calls->hwloc_get_obj_by_depth(topology, depth, i);
        if (p->os_index < OS_MAX_CPUS)
            processor[n++] = p;
    }
    result = n == 0 ? EINVAL : topology_alloc(out, n);
    if (result != 0)
        goto out;
    struct partition part[NUM_KINDS];
    for (unsigned i = 0; i < n; i++) {
        out->cpu[i] = processor[i]->os_index;
        object[i] = processor[i];
    }
    for (unsigned k = 0; k < NUM_KINDS; k++) {
        part[k] = (struct partition){.kind = (enum kind)k, .group_of = groups + (size_t)k * all};
        for (unsigned i = 0; i < n; i++) {
            hwloc_obj_t found = object_of_kind(calls, topology, processor[i], (enum kind)k);
            if (found != NULL)
                object[i] = found;
        }
        number_groups(&part[k], object, n, seen);
    }
    keep_chain(out, part, room);
out:
    free(processor);
    free(room);
    free(groups);
    return result;
}
