/* The time that processors were busy, below a root folder other than "/": for tests with made-up files. See busy.c. */
#ifndef PS_OS_BUSY_H
#define PS_OS_BUSY_H

#include "os.h"

/* As os_busy_ns, but the file is looked up below the folder `root` ("": the system itself). */
uint64_t os_busy_ns_below(const char *root, const struct os_cpuset *of);

#endif
