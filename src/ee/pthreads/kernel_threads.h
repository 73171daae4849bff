/* The kernel threads that have been an entity, as a list that debuggers read: from a kernel thread's number to what it
 * runs. Added at the first entity, removed before the end; the scheduler does not look at the list. */
#ifndef PS_EE_KERNEL_THREADS_H
#define PS_EE_KERNEL_THREADS_H

#include "ee.h"
#include "list.h"

#include <pthread.h>

struct kernel_thread {
    struct ee_carrier carrier; /* first: ee_here */
    struct ps_list link;
    pthread_t itself;
    int tid;
};
extern struct ps_list kernel_threads_all;

/* The calling kernel thread. removed: it need not be in the list. */
void kernel_threads_add(struct kernel_thread *k);
void kernel_threads_remove(struct kernel_thread *k);
/* NULL: the calling kernel thread is none. */
void kernel_threads_after_fork_in_child(struct kernel_thread *k);

#endif
