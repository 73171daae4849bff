/* System calls that an interrupt ends, made anew. See restart.c. */
#ifndef PS_OS_LINUX_RESTART_H
#define PS_OS_LINUX_RESTART_H

#include <stdbool.h>

/* Looks which system call kernel thread `tid` waits in. One caller at a time. False: it is not to be interrupted yet,
 * for the last interrupt of this call was in vain. */
bool restart_look(int tid);
/* In the handler of an interrupt by signal `number`: the call that it has ended with EINTR is made again when the
 * handler returns. */
void restart_in(void *frame, int number);
/* In the handler: whether the interrupt of kernel thread `tid` was in vain. */
void restart_was(int tid, bool in_vain);

#endif
