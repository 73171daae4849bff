/* No fork while a kernel thread of the runtime's is in a sanitizer's allocator: see fork_gate.c. */
#ifndef PS_OS_LINUX_FORK_GATE_H
#define PS_OS_LINUX_FORK_GATE_H

#include <stdbool.h>
#include <stdint.h>

/* Registers the handlers of fork, where there is such an allocator. Once, and before the handlers of any lock under
 * which a kernel thread is started: so the gate is the last thing that a fork takes. */
void fork_gate_watch(void);

/* Called around the creation of a kernel thread, which starts with fork_gate_begin(the first's result) instead of
 * start(arg). All signals are blocked meanwhile; *mask: the mask of before. `failed`: no kernel thread was made. NULL:
 * start(arg) is started as usual, and there is no second call. */
void *fork_gate_making(void *(*start)(void *), void *arg, uint64_t *mask);
void fork_gate_made(void *making, bool failed, uint64_t mask);
void *fork_gate_begin(void *making);

/* Called around the joining of a kernel thread; all signals are blocked meanwhile. False: they are not, and there is no
 * second call. */
bool fork_gate_joining(uint64_t *mask);
void fork_gate_joined(uint64_t mask);

#endif
