/* Contexts by getcontext, makecontext, swapcontext (POSIX.1-2001): what cpu.h asks of a port.
 *
 * Differs from the contract: floating-point status flags come back as they were when the context was left, because
 * swapcontext saves them. swapcontext saves the signal mask too; context.c corrects that. Cost: each switch makes two
 * system calls for signal masks (glibc on x86-64). The port exists for comparison with other ports, and is not meant
 * for running programs. */
#ifndef PS_CPU_PORT_H
#define PS_CPU_PORT_H

#include "portable.h"

#include <ucontext.h>

#define CPU_PORT_NAME "ucontext"
#define CPU_CARRIES_TLS 0
#define CPU_STACK_MIN 16384

typedef void cpu_ucontext_entry_fn(void *transfer, void *arg);

struct cpu_context {
    ucontext_t machine;
    cpu_ucontext_entry_fn *entry;
    void *arg;
    void *transfer; /* written by the context that switches to this one, before the switch; read by this context */
};

#endif
