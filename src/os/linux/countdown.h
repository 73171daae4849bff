/* The rest of a relative time limit, for a system call that is made anew. See countdown.c. */
#ifndef PS_OS_LINUX_COUNTDOWN_H
#define PS_OS_LINUX_COUNTDOWN_H

#include <stdbool.h>

#include "restart_block.h"

/* The frame has just been interrupted; anew: at a call that is to be made anew (restart.h). What its limit is counted
 * by from then on: room, in the handler's frame on this stack, or what was room before, where the call has been made
 * anew already. NULL: there is nothing to count. */
struct restart_block *countdown_begin(const void *frame, bool anew, struct restart_block *room);
/* At the end of the handler, all signals blocked: the call is made with the rest. */
void countdown_go_on(void *frame, struct restart_block *block);

#endif
