/* The rest of a transfer that an interrupt has cut short. See transfer.c. */
#ifndef PS_OS_LINUX_TRANSFER_H
#define PS_OS_LINUX_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

/* Stands on the stack beside the call that transfers the rest. */
struct transfer {
    uintptr_t pc, sp, rdi, rsi, rdx; /* the program's, behind its call */
    uint64_t done;                   /* bytes that have been transferred before */
    long number;                     /* of the call */
};

/* In an interrupt's handler: whether the call that ended is one which transfers the rest; its number. */
bool transfer_call(const void *frame, long *number);
/* The address behind the program's call, where the frame stands at or behind a call that transfers the rest; else pc.
 */
uintptr_t transfer_stands_at(const void *frame, uintptr_t pc);
/* At the begin of the handler: call `number` may have been cut short. `room` is in the handler's frame. NULL: it was
 * not. */
struct transfer *transfer_begin(const void *frame, long number, struct transfer *room);
/* At the handler's end, all signals blocked: the rest is transferred when the handler returns. */
void transfer_go_on(void *frame, struct transfer *t);

#endif
