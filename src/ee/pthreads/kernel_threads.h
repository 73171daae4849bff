/* A list of the kernel threads that have been an entity. Debuggers read it, to get from a kernel thread's number to
 * what the kernel thread runs. A kernel thread is added when it first becomes an entity, and removed before it ends.
 * The entities themselves do not look at the list. */
#ifndef PS_EE_KERNEL_THREADS_H
#define PS_EE_KERNEL_THREADS_H

#include "ee.h"
#include "list.h"

#include <pthread.h>

struct kernel_thread {
    struct ee_carrier carrier; /* must be first: ee_here points to it */
    struct ps_list link;
    pthread_t itself;
    int tid;
};
extern struct ps_list kernel_threads_all;

/* Called by the kernel thread that k describes. kernel_threads_remove does nothing if k is not in the list. */
void kernel_threads_add(struct kernel_thread *k);
void kernel_threads_remove(struct kernel_thread *k);
/* Called in a forked child: makes the list anew with only the calling kernel thread, k. NULL: the caller was in no
 * list. */
void kernel_threads_after_fork_in_child(struct kernel_thread *k);

#endif
