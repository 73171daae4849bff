/* From a topology that hwloc has read to the levels of os.h. Shared by topology.c and synthetic/synthetic.c, used by
 * nobody else.
 *
 * hwloc is opened with dlopen, its symbols local: a program that has an hwloc of its own, of whatever version, keeps
 * it, and one that never asks for the topology never loads it. Its types come from its header, its functions from this
 * table alone: none of hwloc's inline functions may be called here, they would refer to its symbols.
 * Only libhwloc.so.15 is asked for, the binary interface of all of hwloc 2. */
#ifndef PS_HWLOC_LEVELS_H
#define PS_HWLOC_LEVELS_H

#include "os.h"

#include <hwloc.h>

#if HWLOC_API_VERSION < 0x00020000 || HWLOC_API_VERSION >= 0x00030000
#error "hwloc 2 is needed"
#endif

/* X(result, name, parameters): the functions used. */
#define HWLOC_CALLS(X)                                                                       \
    X(int, hwloc_topology_init, (hwloc_topology_t *))                                        \
    X(int, hwloc_topology_load, (hwloc_topology_t))                                          \
    X(void, hwloc_topology_destroy, (hwloc_topology_t))                                      \
    X(int, hwloc_topology_set_synthetic, (hwloc_topology_t, const char *))                   \
    X(int, hwloc_topology_restrict, (hwloc_topology_t, hwloc_const_bitmap_t, unsigned long)) \
    X(int, hwloc_get_type_depth, (hwloc_topology_t, hwloc_obj_type_t))                       \
    X(unsigned, hwloc_get_nbobjs_by_depth, (hwloc_topology_t, int))                          \
    X(hwloc_obj_t, hwloc_get_obj_by_depth, (hwloc_topology_t, int, unsigned))                \
    X(hwloc_bitmap_t, hwloc_bitmap_alloc, (void))                                            \
    X(void, hwloc_bitmap_free, (hwloc_bitmap_t))                                             \
    X(int, hwloc_bitmap_set, (hwloc_bitmap_t, unsigned))                                     \
    X(int, hwloc_bitmap_isset, (hwloc_const_bitmap_t, unsigned))                             \
    X(int, hwloc_bitmap_weight, (hwloc_const_bitmap_t))

struct hwloc_calls {
    void *library;
    /* Newer than the rest of hwloc 2; NULL where it is missing. */
    int (*hwloc_topology_set_components)(hwloc_topology_t, unsigned long, const char *);
#define HWLOC_MEMBER(result, name, parameters) result(*name) parameters;
    HWLOC_CALLS(HWLOC_MEMBER)
#undef HWLOC_MEMBER
};

/* ENOENT where hwloc is not to be had. */
int hwloc_calls_load(struct hwloc_calls *calls);
void hwloc_calls_unload(struct hwloc_calls *calls);

/* Fills *out from a loaded topology. ENOMEM, or EINVAL where it has no processor that os_cpuset can name. */
int hwloc_levels_extract(const struct hwloc_calls *calls, hwloc_topology_t topology, struct os_topology *out);

#endif
