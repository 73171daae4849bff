/* Makes the places that OMP_PLACES names by a word ("cores") from the machine's topology. See place.h. */
#include <stdlib.h>

#include "place.h"

/* As place_from_topology, for a machine whose processors are numbered group by group: n places out of `groups`. */
static bool places_in_order(struct ort_places *out, const struct os_topology *machine, unsigned groups, unsigned n)
{
    unsigned each = machine->n / groups, *first = malloc((n + 1) * sizeof *first);
    if (first == NULL)
        return false;
    for (unsigned p = 0; p <= n; p++)
        first[p] = p * each;
    *out = (struct ort_places){.n = n, .first = first};
    return true;
}

bool place_from_topology(struct ort_places *out, const struct os_topology *machine, enum place_kind kind,
                         unsigned count)
{
    static const enum os_sharing shared[] = {[PLACE_CORES] = OS_SHARING_SMT,
                                             [PLACE_LL_CACHES] = OS_SHARING_L3,
                                             [PLACE_NUMA_DOMAINS] = OS_SHARING_NUMA,
                                             [PLACE_SOCKETS] = OS_SHARING_PACKAGE};
    int number = kind == PLACE_THREADS ? OS_LEVEL_ALONE : machine->sharing_level[shared[kind]];
    const struct os_topology_level *level = number == OS_LEVEL_ALONE ? NULL : &machine->level[number];
    unsigned groups = level == NULL ? machine->n : level->num_groups;
    unsigned wanted = count == 0 || count > groups ? groups : count;
    struct place_builder b = {0};
    if (machine->cpu == NULL)
        return places_in_order(out, machine, groups, wanted);
    for (unsigned g = 0; g < wanted; g++) {
        struct os_cpuset set;
        os_cpuset_zero(&set);
        for (unsigned i = 0; i < machine->n; i++)
            if ((level == NULL ? i : level->group_of[i]) == g)
                os_cpuset_add(&set, machine->cpu[i]);
        if (!place_append(&b, &set)) {
            place_free(&b.list);
            return false;
        }
    }
    *out = b.list;
    return true;
}
