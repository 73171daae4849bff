/* A thread's stack, a part of which is a coroutine's (makecontext): no other thread is called on it, for on the
 * coroutine the room below is not what it is on the thread's own part. Coroutines of other makers are not seen. */
#ifndef PS_DIVIDED_H
#define PS_DIVIDED_H

#include <stdint.h>

/* The running thread makes a coroutine whose stack begins at low; on that thread's own stack or anywhere else. */
void ps_stack_divided(uintptr_t low);

#endif
