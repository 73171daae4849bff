/* Contexts emulated by kernel threads (POSIX threads and semaphores alone): what cpu.h asks of a port.
 *
 * Each context is carried by a POSIX thread on the context's stack. One of those that switch among each other holds the
 * baton and runs; a switch posts the semaphore of the one to come and waits on one's own. A context therefore brings
 * its own thread-local storage, and "the kernel thread that runs" changes with each switch: CPU_CARRIES_TLS.
 * Cost: a semaphore's post and wait a switch, some microseconds; a thread's start and end a context. */
#ifndef PS_CPU_PORT_H
#define PS_CPU_PORT_H

#include "portable.h"

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>

#define CPU_PORT_NAME "posix"
#define CPU_CARRIES_TLS 1
/* The C library asks for 128 KiB on some processors and takes static thread-local storage out of it; thread sanitizer
 * has much of that. */
#define CPU_STACK_MIN (PS_TSAN ? 2u << 20 : 256u << 10)

typedef void cpu_posix_entry_fn(void *transfer, void *arg);

struct cpu_context {
    enum { CPU_POSIX_NONE, CPU_POSIX_ADOPTED, CPU_POSIX_CARRIED } state;
    enum { CPU_POSIX_GO_ON, CPU_POSIX_RESTART, CPU_POSIX_END } order; /* what the next baton means; giver writes */
    sem_t baton;
    pthread_t carrier;
    jmp_buf base;
    uint64_t mode[2]; /* a femode_t, whose name takes a feature macro that not every includer sets */
    cpu_posix_entry_fn *entry;
    void *arg;
    void *transfer; /* written by the context that switches here, read by this one */
};

#endif
