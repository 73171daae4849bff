/* The rest of a transfer that an interrupt has cut short. See transfer.c. */
#ifndef PS_OS_LINUX_TRANSFER_H
#define PS_OS_LINUX_TRANSFER_H

#include "restart_block.h"

/* At the begin of the handler: call `number`, which is over, may have been cut short. `room` is in the handler's frame.
 * NULL: it was not. */
struct restart_block *transfer_begin(const void *frame, long number, struct restart_block *room);
/* At the handler's end, all signals blocked: the rest is transferred when the handler returns. */
void transfer_go_on(void *frame, struct restart_block *block);

#endif
