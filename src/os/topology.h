/* Making an os_topology; for this folder's own files and their tests. */
#ifndef PS_OS_TOPOLOGY_H
#define PS_OS_TOPOLOGY_H

#include "os.h"

/* A processor, and for each kind of sharing the number of its group: any number below OS_MAX_CPUS, the same for all in
 * the group. */
#define TOPOLOGY_NO_GROUP (-1)
struct topology_processor {
    unsigned cpu;
    int32_t group[OS_NUM_SHARINGS];
};

/* Fills *out: levels, and an order in which neighbours share most. p is in the order of processors' numbers, and is
 * written to. ENOMEM: *out is empty. */
int topology_build(struct os_topology *out, struct topology_processor *p, unsigned n);

/* Fills the groups of p, whose `cpu` are set, by the tables below `root` ("" is the system itself). ENOENT: the tables
 * name none of these processors. */
int topology_scan(struct topology_processor *p, unsigned n, const char *root);
/* The processors of mask, by the tables below `root`: as os_topology_read. */
int topology_read_below(struct os_topology *out, const struct os_cpuset *mask, const char *root);

/* Finds the memory nodes of high bandwidth: those that MEMKIND_HBW_NODES names, else by the tables below `root`. */
void topology_high_bandwidth(struct os_cpuset *nodes, const char *root);

#endif
