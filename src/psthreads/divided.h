/* A thread's stack may have a part that is a coroutine's (makecontext). No other thread is called on such a stack: on
 * the coroutine's part the room below the stack pointer is not what it is on the thread's own part. Coroutines of other
 * makers are not seen. */
#ifndef PS_DIVIDED_H
#define PS_DIVIDED_H

#include <stdint.h>

/* The running thread makes a coroutine with a stack that begins at low, on that thread's own stack or anywhere else. */
void ps_stack_divided(uintptr_t low);

#endif
