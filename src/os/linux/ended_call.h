/* System calls that handlers of the program's have ended. See ended_call.c. */
#ifndef PS_OS_LINUX_ENDED_CALL_H
#define PS_OS_LINUX_ENDED_CALL_H

#include <stdint.h>

/* pc, the instruction at which the frame goes on; where it stands at this file's, the one behind the call. */
uintptr_t ended_call_stands_at(const void *frame, uintptr_t pc);
/* How often kernel thread `tid` has had such a call that is not known by the instruction. Others may share the count. */
uint32_t ended_call_count(int tid);

#endif
