/* No fork while a kernel thread of the runtime's is in a sanitizer's allocator: see fork_gate.c. */
#ifndef PS_OS_LINUX_FORK_GATE_H
#define PS_OS_LINUX_FORK_GATE_H

#include <stdbool.h>
#include <stdint.h>

/* Registers the handlers of fork, where there is such an allocator. Once, and before the handlers of any lock under
 * which a kernel thread is started: so the gate is the last thing that a fork takes. */
void fork_gate_watch(void);

/* A kernel thread is made between these two, with fork_gate_begin(the first's result) instead of start(arg). `failed`:
 * there is none. All signals are blocked meanwhile; *mask: the mask of before. NULL: start it as it is; then there is
 * no second call. */
void *fork_gate_making(void *(*start)(void *), void *arg, uint64_t *mask);
void fork_gate_made(void *making, bool failed, uint64_t mask);
void *fork_gate_begin(void *making);

/* A kernel thread is joined between these two, and all signals are blocked; false: as it is, and there is no second
 * call. */
bool fork_gate_joining(uint64_t *mask);
void fork_gate_joined(uint64_t mask);

#endif
