/* Making an os_topology; for this folder's own files. */
#ifndef PS_OS_TOPOLOGY_H
#define PS_OS_TOPOLOGY_H

#include "os.h"

/* Room for n processors and all levels in one block, which os_topology_free gives back. ENOMEM. */
int topology_alloc(struct os_topology *t, unsigned n);
/* Adds the level that is always last: one group of all. */
void topology_add_machine(struct os_topology *t);

#endif
