/* A topology read from a string: any machine on any machine, for tests.
 *
 * Does: lets hwloc build the machine that its synthetic notation describes and takes the levels from it with the same
 * code that reads real ones. Does not: stand in the product (a target of its own, ps_os_synthetic).
 * Callers: tests, on any stack of 64 KiB or more. No shared state.
 * Failures: EINVAL and one line where the string cannot be read, ENOENT without hwloc, ENOMEM; *out is empty then. */
#include "check.h"
#include "hwloc_levels.h"

#include <errno.h>
#include <string.h>

int os_topology_synthetic(struct os_topology *out, const char *description)
{
    memset(out, 0, sizeof *out);
    struct hwloc_calls calls;
    int error = hwloc_calls_load(&calls);
    if (error != 0)
        return error;
    hwloc_topology_t topology;
    error = ENOMEM;
    if (calls.hwloc_topology_init(&topology) == 0) {
        error = EINVAL;
        if (calls.hwloc_topology_set_synthetic(topology, description) == 0 && calls.hwloc_topology_load(topology) == 0)
            error = hwloc_levels_extract(&calls, topology, out);
        calls.hwloc_topology_destroy(topology);
    }
    hwloc_calls_unload(&calls);
    if (error == EINVAL)
        ps_warn("cannot read the topology \"%s\" (hwloc's notation is expected, such as \"package:2 core:4 pu:2\"); "
                "none is used",
                description);
    return error;
}
