/* Handlers of fork, and kernel threads that begin. See calls.h. */
#define _GNU_SOURCE
#include "calls.h"

#include <aio.h>
#include <mqueue.h>
#include <netdb.h>
#include <pthread.h>
#include <threads.h>

#include "../life.h"
#include "os.h"

/* Handlers of fork: pthread_atfork is this one, in the object that calls it. The runtime's own come first of all, in an
 * order of their own. */
extern void *__dso_handle __attribute__((visibility("hidden")));
NEXT(__register_atfork, int(void (*)(void), void (*)(void), void (*)(void), void *));
PS_EXPORT int answer___register_atfork(void (*before)(void), void (*parent)(void), void (*child)(void), void *object)
{
    if (object != __dso_handle)
        life_watch_forks();
    return CALL_NEXT(__register_atfork)(before, parent, child, object);
}
VERSIONS(__register_atfork, "GLIBC_2.3.2");

/* --- kernel threads that begin --- */

/* Kernel threads begin with what their maker's kernel thread has. The runtime's own starts do not count
 * (os_thread_is_starting). The starts are linked to the C library's default version, and this is not the default. So
 * the dynamic linker resolves them like the program's calls, and a library that stands before both sees all of them. */
#define HIDDEN_VERSION(name, node) __asm__(".symver answer_" #name "," #name "@" node)
#define ANSWER_START(node, type, name, parameters, arguments)                                                         \
    ANSWER_AS(if (PS_UNLIKELY(uth_tls_current() != NULL) && !os_thread_is_starting()) ps_promote(), , HIDDEN_VERSION, \
              node, type, name, parameters, arguments)
ANSWER_START("GLIBC_2.34", int, pthread_create,
             (pthread_t * thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg),
             (thread, attr, start, arg));
OLD_VERSION(pthread_create, "GLIBC_2.2.5");
ANSWER_START("GLIBC_2.34", int, thrd_create, (thrd_t * thread, thrd_start_t start, void *arg), (thread, start, arg));
OLD_VERSION(thrd_create, "GLIBC_2.28");

/* Calls at which the C library may start kernel threads of its own, by its own function. */
#if defined(__GLIBC__)
#define ANSWER_HELPED(old_node, name, parameters, arguments) \
    ANSWER("GLIBC_2.34", int, name, parameters, arguments);  \
    OLD_VERSION(name, old_node)
ANSWER_HELPED("GLIBC_2.2.5", aio_read, (struct aiocb * block), (block));
ANSWER_HELPED("GLIBC_2.2.5", aio_read64, (struct aiocb64 * block), (block));
ANSWER_HELPED("GLIBC_2.2.5", aio_write, (struct aiocb * block), (block));
ANSWER_HELPED("GLIBC_2.2.5", aio_write64, (struct aiocb64 * block), (block));
ANSWER_HELPED("GLIBC_2.2.5", aio_fsync, (int how, struct aiocb *block), (how, block));
ANSWER_HELPED("GLIBC_2.2.5", aio_fsync64, (int how, struct aiocb64 *block), (how, block));
/* Not under GLIBC_2.2.5, where each is another function. */
ANSWER_HELPED("GLIBC_2.4", lio_listio, (int mode, struct aiocb *const list[], int n, struct sigevent *event),
              (mode, list, n, event));
ANSWER_HELPED("GLIBC_2.4", lio_listio64, (int mode, struct aiocb64 *const list[], int n, struct sigevent *event),
              (mode, list, n, event));
ANSWER_HELPED("GLIBC_2.3.4", mq_notify, (mqd_t queue, const struct sigevent *event), (queue, event));
ANSWER_HELPED("GLIBC_2.2.5", getaddrinfo_a, (int mode, struct gaicb *list[], int n, struct sigevent *event),
              (mode, list, n, event));
#endif
