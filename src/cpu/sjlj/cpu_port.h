/* Contexts by setjmp and longjmp (C standard): what cpu.h asks of a port.
 *
 * The first frame of a stack is made once by makecontext, left by setjmp at its base, and entered again by longjmp each
 * time that the context starts afresh. setjmp does not keep the floating-point control state: fegetmode does.
 * Cost: no system call a switch; two floating-point control loads. */
#ifndef PS_CPU_PORT_H
#define PS_CPU_PORT_H

#include "portable.h"

#include <setjmp.h>

#define CPU_PORT_NAME "sjlj"
#define CPU_CARRIES_TLS 0
#define CPU_STACK_MIN 16384

typedef void cpu_sjlj_entry_fn(void *transfer, void *arg);

struct cpu_context {
    jmp_buf here;     /* where it was left */
    jmp_buf base;     /* its first frame */
    void *stack;      /* that has that first frame; NULL: none made */
    void *creator;    /* while the first frame is made: the ucontext to go back to */
    uint64_t mode[2]; /* a femode_t, whose name takes a feature macro that not every includer sets */
    cpu_sjlj_entry_fn *entry;
    void *arg;
    void *transfer; /* written by the context that switches here, read by this one */
};

#endif
