/* What the kernel tells of one kernel thread of this process in /proc. See thread.c. errno stays as it is. */
#ifndef PS_OS_LINUX_TASK_FILE_H
#define PS_OS_LINUX_TASK_FILE_H

#include <stddef.h>
#include <stdint.h>

/* The text of /proc/self/task/<tid>/<file>; its length, 0 if there is none. */
size_t task_file_read(int tid, const char *file, char *text, size_t bytes);
/* The signals that a kernel thread blocks; `untold` where it has ended, or cannot be asked. */
uint64_t task_file_blocked(int tid, uint64_t untold);

#endif
