/* Machines that are described by a string. See synthetic.c. */
#ifndef PS_TESTS_OS_SYNTHETIC_H
#define PS_TESTS_OS_SYNTHETIC_H

#include "os.h"

/* E.g. "package:2 numa:4 core:8 pu:2". EINVAL with one line where it cannot be read. */
int os_topology_synthetic(struct os_topology *out, const char *description);

#endif
