/* Child processes, and kernel threads that begin. See calls.h. */
#define _GNU_SOURCE
#include "calls.h"

#include <aio.h>
#include <mqueue.h>
#include <netdb.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <threads.h>
#include <unistd.h>

#include "../life.h"
#include "os.h"

/* --- child processes --- */

/* A child is the kernel thread's that makes it: for PR_SET_PDEATHSIG, ptrace and __WNOTHREAD. */
ANSWER("GLIBC_2.2.5", pid_t, fork, (void), ());
ANSWER("GLIBC_2.2.5", pid_t, __fork, (void), ());
ANSWER("GLIBC_2.34", pid_t, _Fork, (void), ());
ANSWER("GLIBC_2.34", int, forkpty, (int *terminal, char *name, const struct termios *as, const struct winsize *size),
       (terminal, name, as, size));
OLD_VERSION(forkpty, "GLIBC_2.2.5");
/* Not under GLIBC_2.2.5, where each is another function. */
#define SPAWN(name)                                                                                                    \
    ANSWER("GLIBC_2.15", int, name,                                                                                    \
           (pid_t * child, const char *file, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr, \
            char *const *arguments, char *const *environment),                                                         \
           (child, file, actions, attr, arguments, environment))
SPAWN(posix_spawn);
SPAWN(posix_spawnp);
ANSWER("GLIBC_2.2.5", FILE *, popen, (const char *command, const char *mode), (command, mode));
/* SIGCHLD is blocked while it waits. */
ANSWER("GLIBC_2.2.5", int, system, (const char *command), (command));

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

/* The child of vfork leaves the function that called it, in memory that it shares. */
NEXT(vfork, pid_t(void));
PS_UNUSED __attribute__((used)) static void *ready_to_vfork(void)
{
    be_alone();
    return (void *)CALL_NEXT(vfork);
}
JUMP(vfork, ready_to_vfork);
JUMP(__vfork, ready_to_vfork);
VERSIONS(vfork, "GLIBC_2.2.5");
VERSIONS(__vfork, "GLIBC_2.2.5");

/* clone has seven arguments, the last one on the stack. */
NEXT(clone, int(int (*)(void *), void *, int, void *, ...));
PS_UNUSED __attribute__((used)) static void *ready_to_clone(void)
{
    be_alone();
    return (void *)CALL_NEXT(clone);
}
JUMP(clone, ready_to_clone);
JUMP(__clone, ready_to_clone);
VERSIONS(clone, "GLIBC_2.2.5");
VERSIONS(__clone, "GLIBC_2.2.5");

NEXT(ptrace, long(int, ...));
PS_EXPORT long answer_ptrace(int request, ...)
{
    va_list list;
    va_start(list, request);
    pid_t process = va_arg(list, pid_t);
    void *address = va_arg(list, void *), *data = va_arg(list, void *);
    va_end(list);
    be_alone();
    return CALL_NEXT(ptrace)(request, process, address, data);
}
VERSIONS(ptrace, "GLIBC_2.2.5");

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
