/* System calls that an interrupt ends, made anew. See restart.c. */
#ifndef PS_OS_LINUX_RESTART_H
#define PS_OS_LINUX_RESTART_H

#include <stdbool.h>
#include <stdint.h>

#include "os.h"
#include "restart_block.h"

/* Looks which system call kernel thread `tid` waits in. One caller at a time. False: it is not to be interrupted yet,
 * for the last interrupt of this call that called `kind` was in vain. */
bool restart_look(int tid, os_interrupt_fn *kind);
/* In the handler of an interrupt by signal `by`: the call that it has ended with EINTR is made again when the handler
 * returns. Whether a call will be made again, and by what: this handler's frame, or the kernel. UNTOLD: the instruction
 * of a call is next, and it cannot be told whether the call has begun, and is made again by the kernel. */
enum restart { RESTART_NONE, RESTART_UNTOLD, RESTART_ANEW, RESTART_BY_KERNEL };
enum restart restart_in(void *frame, int by);
/* At the end of that handler, all signals blocked: the program's handlers of these signals (bits from 0) have run
 * meanwhile, and those of pending signals run next. Where one of them would have ended the call, it ends with EINTR
 * after all. */
void restart_take_back(void *frame, int by, enum restart made, uint64_t signals);
/* How the interrupted thread goes on with its call, from the begin of the handler to its end. It lies in its frame,
 * and the call reads `room`. */
struct restart_call {
    enum restart made;
    struct restart_block *block; /* NULL: the call's arguments stay as they are */
    struct restart_block room;
};
void restart_begin(void *frame, int by, struct restart_call *call);
/* All signals blocked, `signals` as above. The call is made anew, or goes on with its rest, or ends after all. */
void restart_end(void *frame, int by, struct restart_call *call, uint64_t signals);
/* In the handler: whether the interrupt of kernel thread `tid` that called `kind` was in vain. */
void restart_was(int tid, os_interrupt_fn *kind, bool in_vain);

#endif
