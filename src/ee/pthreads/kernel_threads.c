/* See kernel_threads.h. */
#include "kernel_threads.h"

#include "os.h"

struct ps_list kernel_threads_all = {&kernel_threads_all, &kernel_threads_all}; /* changed under `lock` */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

PS_NOINLINE void kernel_threads_add(struct kernel_thread *k)
{
    k->itself = pthread_self();
    k->tid = os_thread_id();
    pthread_mutex_lock(&lock);
    ps_list_push_back(&kernel_threads_all, &k->link);
    pthread_mutex_unlock(&lock);
}

void kernel_threads_remove(struct kernel_thread *k)
{
    pthread_mutex_lock(&lock);
    if (ps_list_linked(&k->link))
        ps_list_remove(&k->link);
    pthread_mutex_unlock(&lock);
}

void kernel_threads_after_fork_in_child(struct kernel_thread *k)
{
    pthread_mutex_init(&lock, NULL);
    ps_list_init(&kernel_threads_all);
    if (k != NULL)
        kernel_threads_add(k);
}
