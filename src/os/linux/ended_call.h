/* System calls that handlers of the program's have ended. See ended_call.c. */
#ifndef PS_OS_LINUX_ENDED_CALL_H
#define PS_OS_LINUX_ENDED_CALL_H

#include <stdint.h>

/* pc, the instruction at which the frame goes on; where it stands at this file's, the one behind the call. */
uintptr_t ended_call_stands_at(const void *frame, uintptr_t pc);
/* How often kernel thread `tid` has had such a call that is not known by the instruction. Others may share it. */
uint32_t ended_call_count(int tid);
/* A system call that has ended is not made anew for an interrupt that comes as its handler returns to this frame. */
void ended_call_stays(void *frame);
/* This frame's interrupt lets signals in, on the kernel thread that it has come to, `tid`. And: it has blocked all
 * again, here or elsewhere; for these (bits from 0) handlers of the program's have run inside its own. */
void ended_call_lets_in(const void *frame);
uint64_t ended_call_handled(int tid, const void *frame);

#endif
