/* Contexts emulated by kernel threads (POSIX threads and semaphores alone): what cpu.h asks of a port.
 *
 * Each context is carried by a POSIX thread, which runs on the context's stack. Of the contexts that switch to one
 * another, the one that holds the baton runs. A switch posts the semaphore of the next context, and waits for the
 * semaphore of its own. A context therefore brings its own thread-local storage, and "the kernel thread that runs"
 * changes with each switch: CPU_CARRIES_TLS. Cost: each switch takes a post and a wait, some microseconds; each context
 * takes the start and the end of a thread. */
#ifndef PS_CPU_PORT_H
#define PS_CPU_PORT_H

#include "portable.h"

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>

#define CPU_PORT_NAME "posix"
#define CPU_CARRIES_TLS 1
/* On some processors the C library refuses stacks below 128 KiB, and places static thread-local storage in them. Thread
 * sanitizer has much of that storage. */
#define CPU_STACK_MIN (PS_TSAN ? 2u << 20 : 256u << 10)

typedef void cpu_posix_entry_fn(void *transfer, void *arg);

struct cpu_context {
    enum { CPU_POSIX_NONE, CPU_POSIX_ADOPTED, CPU_POSIX_CARRIED } state;
    /* What the carrier does when it gets the baton next. cpu_context_init and cpu_context_fini write it. The carrier
     * sets it back to GO_ON. */
    enum { CPU_POSIX_GO_ON, CPU_POSIX_RESTART, CPU_POSIX_END } order;
    sem_t baton;
    pthread_t carrier;
    jmp_buf base;
    uint64_t mode[2]; /* holds a femode_t; that type needs a feature macro which not every includer defines */
    cpu_posix_entry_fn *entry;
    void *arg;
    void *transfer; /* written by the context that switches to this one, before the switch; read by this context */
};

#endif
