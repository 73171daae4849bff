/* How an os_topology is made; for this folder's own files and their tests. */
#ifndef PS_OS_TOPOLOGY_H
#define PS_OS_TOPOLOGY_H

#include "os.h"

/* A processor, and for each kind of sharing the number of its group. All processors of a group have the same number,
 * below OS_MAX_CPUS. */
#define TOPOLOGY_NO_GROUP (-1)
struct topology_processor {
    unsigned cpu;
    int32_t group[OS_NUM_SHARINGS];
};

/* Fills in *out: the levels, and an order of processors in which neighbours share most. p has n processors in ascending
 * order of `cpu`; the function writes to it. ENOMEM: *out is empty. */
int topology_build(struct os_topology *out, struct topology_processor *p, unsigned n);

/* Fills in the groups of p[0] to p[n - 1], whose `cpu` is set, from the kernel's tables below the folder `root` ("":
 * the system itself). ENOENT: the tables name none of these processors. */
int topology_scan(struct topology_processor *p, unsigned n, const char *root);
/* As os_topology_read, for the processors of mask, with the tables below `root`. */
int topology_read_below(struct os_topology *out, const struct os_cpuset *mask, const char *root);

/* Finds the memory nodes of high bandwidth: those that MEMKIND_HBW_NODES names, otherwise by the tables below
 * `root`. */
void topology_high_bandwidth(struct os_cpuset *nodes, const char *root);

#endif
