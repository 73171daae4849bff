/* Prevents a fork while a kernel thread of the runtime is in a sanitizer's allocator: see fork_gate.c. */
#ifndef PS_OS_LINUX_FORK_GATE_H
#define PS_OS_LINUX_FORK_GATE_H

#include <stdbool.h>
#include <stdint.h>

/* Registers the fork handlers, if the program has a sanitizer's allocator without fork handlers. Called once, before
 * fork handlers are registered for a lock under which a kernel thread is started. Handlers that were registered later
 * run earlier before a fork: so a fork takes those locks first, and then closes the gate. */
void fork_gate_watch(void);

/* The creation of a kernel thread. fork_gate_making comes first; if it returns NULL, start(arg) is started as usual,
 * and nothing else is called. Otherwise the new kernel thread calls fork_gate_begin(result) instead of start(arg), and
 * the maker then calls fork_gate_made. failed: no kernel thread was made. All signals are blocked between the maker's
 * two calls; *mask is the mask before. */
void *fork_gate_making(void *(*start)(void *), void *arg, uint64_t *mask);
void fork_gate_made(void *making, bool failed, uint64_t mask);
void *fork_gate_begin(void *making);

/* Called before and after a kernel thread is joined. fork_gate_joining blocks all signals, and *mask gets the mask
 * before. fork_gate_joined restores it. If fork_gate_joining returns false, it has done nothing, and fork_gate_joined
 * is not called. */
bool fork_gate_joining(uint64_t *mask);
void fork_gate_joined(uint64_t mask);

#endif
