/* Calls that name a thread by its handle (pthread_t); calls that send signals to a thread, or make it the owner of a
 * file; and pthread_create. See calls.h. */
#define _GNU_SOURCE
#include "calls.h"

#include "bind.h"
#include "lone_root.h"
#include "os.h"
#include "priority.h"
#include "state.h"
#include "thread_signal.h"
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

NEXT(gettid, pid_t(void));
NEXT(sched_getaffinity, int(pid_t, size_t, cpu_set_t *));
NEXT(sched_setscheduler, int(pid_t, int, const struct sched_param *));
NEXT(sched_getscheduler, int(pid_t));
NEXT(sched_setparam, int(pid_t, const struct sched_param *));
NEXT(sched_getparam, int(pid_t, struct sched_param *));
int interposed_sched_setaffinity(pid_t pid, size_t bytes, const cpu_set_t *set);

/* --- calls about a thread that is named by its handle --- */

/* Returns the number of the kernel thread to which a call about `thread` applies. sets: the call sets something.
 * Returns 0 with *error 0 if `thread` is a kernel thread: the C library's function is to be called. Returns 0 with an
 * error number if no dedicated kernel thread can be started. A child between vfork and exec that names itself gets its
 * own number. */
static int kernel_thread_number(pthread_t thread, bool sets, int *error)
{
    struct uth_tls *block = uth_tls_of(thread);
    *error = 0;
    if (block == NULL)
        return 0;
    if (block->adopted) /* a root that is away from home: home's number, which the C library knows */
        return *block->tid;
    bool own = block == uth_tls_current();
    if (own && (sets ? !ps_dedicate_self() : ps_number_to_ask(block) == 0) && ps_in_vfork_child())
        return (int)CALL_NEXT(gettid)();
    int number = sets ? ps_dedicated_number(block) : ps_number_of(block);
    *error = number == 0 ? EAGAIN : 0;
    return number;
}

static int error_of(long result) { return result < 0 ? errno : 0; }

/* Defines a function about a thread. If the thread is a kernel thread, `first` runs, then the C library's function,
 * then `last`. Otherwise the result is that of `by_number`, an expression in which `number` is the thread's kernel
 * thread. errno does not change. */
#define INTERPOSE_HANDLE_WITHIN(sets, first, last, node, name, parameters, arguments, by_number) \
    NEXT(name, int parameters);                                                                  \
    PS_EXPORT int interposed_##name parameters                                                   \
    {                                                                                            \
        int error, number = kernel_thread_number(thread, sets, &error), before = errno;          \
        if (PS_LIKELY(number == 0 && error == 0)) {                                              \
            first;                                                                               \
            error = CALL_NEXT(name) arguments;                                                   \
            last;                                                                                \
            return error;                                                                        \
        }                                                                                        \
        if (error == 0)                                                                          \
            error = (by_number);                                                                 \
        errno = before;                                                                          \
        return error;                                                                            \
    }                                                                                            \
    VERSIONS(name, node)
#define INTERPOSE_HANDLE_AFTER(first, node, name, parameters, arguments, by_number) \
    INTERPOSE_HANDLE_WITHIN(true, first, (void)0, node, name, parameters, arguments, by_number)
#define INTERPOSE_HANDLE_ASKS(node, name, parameters, arguments, by_number) \
    INTERPOSE_HANDLE_WITHIN(false, (void)0, (void)0, node, name, parameters, arguments, by_number)
static void has_set(pthread_t thread)
{
    if (thread == pthread_self())
        ps_root_changed();
}

static void set_by_handle(pthread_t thread)
{
    if (thread == pthread_self())
        priority_before_change();
}

INTERPOSE_HANDLE_AFTER((void)0, GLIBC_2_34, pthread_setname_np, (pthread_t thread, const char *name), (thread, name),
                       calls_set_name(number, name));
OLD_VERSION(pthread_setname_np, GLIBC_2_12);
INTERPOSE_HANDLE_ASKS(GLIBC_2_34, pthread_getname_np, (pthread_t thread, char *name, size_t bytes),
                      (thread, name, bytes), calls_get_name(number, name, bytes));
OLD_VERSION(pthread_getname_np, GLIBC_2_12);
INTERPOSE_HANDLE_WITHIN(true, (void)0, has_set(thread), GLIBC_2_34, pthread_setaffinity_np,
                        (pthread_t thread, size_t bytes, const cpu_set_t *set), (thread, bytes, set),
                        error_of(interposed_sched_setaffinity(thread == pthread_self() ? 0 : number, bytes, set)));
OLD_VERSION(pthread_setaffinity_np, GLIBC_2_3_4);
INTERPOSE_HANDLE_ASKS(GLIBC_2_32, pthread_getaffinity_np, (pthread_t thread, size_t bytes, cpu_set_t *set),
                      (thread, bytes, set),
                      error_of(CALL_NEXT(sched_getaffinity)(thread == pthread_self() && bind_is_narrow() ? 0 : number,
                                                            bytes, set)));
OLD_VERSION(pthread_getaffinity_np, GLIBC_2_3_4);
INTERPOSE_HANDLE_AFTER(set_by_handle(thread), GLIBC_2_2_5, pthread_setschedparam,
                       (pthread_t thread, int policy, const struct sched_param *param), (thread, policy, param),
                       error_of(CALL_NEXT(sched_setscheduler)(number, policy, param)));

static int get_scheduling(int number, int *policy, struct sched_param *param)
{
    *policy = CALL_NEXT(sched_getscheduler)(number);
    return *policy < 0 ? errno : error_of(CALL_NEXT(sched_getparam)(number, param));
}
INTERPOSE_HANDLE_ASKS(GLIBC_2_2_5, pthread_getschedparam, (pthread_t thread, int *policy, struct sched_param *param),
                      (thread, policy, param), get_scheduling(number, policy, param));
INTERPOSE_HANDLE_AFTER(set_by_handle(thread), GLIBC_2_34, pthread_setschedprio, (pthread_t thread, int priority),
                       (thread, priority),
                       error_of(CALL_NEXT(sched_setparam)(number, &(struct sched_param){.sched_priority = priority})));
OLD_VERSION(pthread_setschedprio, GLIBC_2_3_4);

static int get_clock(int number, clockid_t *clock)
{
    *clock = calls_clock_of(number);
    return 0;
}
/* Returns the thread pointer of a thread's storage. The handle is the address of the thread's descriptor, which has the
 * same distance from the thread pointer in all threads. (The distance is 0 on x86-64.) */
static const void *tp_of(pthread_t thread)
{
    return (const char *)thread - ((const char *)pthread_self() - (const char *)cpu_get_tp());
}

INTERPOSE_HANDLE_AFTER(ps_root_counted(tp_of(thread)), GLIBC_2_34, pthread_getcpuclockid,
                       (pthread_t thread, clockid_t *clock), (thread, clock), get_clock(number, clock));
OLD_VERSION(pthread_getcpuclockid, GLIBC_2_2_5);

NEXT(pthread_getattr_np, int(pthread_t, pthread_attr_t *));
PS_EXPORT int interposed_pthread_getattr_np(pthread_t thread, pthread_attr_t *attr)
{
    struct uth_tls *block = uth_tls_of(thread);
    if (block == uth_tls_current())
        ps_keep_stack();
    if (block == NULL || block->adopted)
        return CALL_NEXT(pthread_getattr_np)(thread, attr);
    void *stack;
    size_t bytes;
    uth_tls_stack(block, &stack, &bytes);
    if (stack == NULL) { /* the member runs as a call on its kernel thread's stack, which the C library knows */
        if (block != uth_tls_current())
            return EAGAIN;
        uth_tls_pose_as(block, (int)syscall(SYS_gettid));
        int error = CALL_NEXT(pthread_getattr_np)(thread, attr);
        uth_tls_pose_as(block, 0);
        return error;
    }
    int error = pthread_attr_init(attr);
    if (error == 0)
        error = pthread_attr_setstack(attr, stack, bytes);
    if (error == 0)
        error = pthread_attr_setguardsize(attr, (size_t)sysconf(_SC_PAGESIZE));
    return error;
}
VERSIONS(pthread_getattr_np, GLIBC_2_32);
OLD_VERSION(pthread_getattr_np, GLIBC_2_2_5);

/* --- signals to a thread --- */

static int send(int tid, int number, const union sigval *value)
{
    siginfo_t info = {.si_signo = number, .si_code = SI_QUEUE, .si_pid = getpid(), .si_uid = getuid()};
    if (value == NULL)
        return error_of(calls_told(os_system_call(SYS_tgkill, getpid(), tid, number, 0, 0, 0)));
    info.si_value = *value;
    return error_of(calls_told(os_system_call(SYS_rt_tgsigqueueinfo, getpid(), tid, number, (long)&info, 0, 0)));
}

/* Sends a signal to a thread that is in a block, or to a root that is away from home: through its dedicated kernel
 * thread, which is started if there is none. Returns true, with the result in *error. Returns false, and sends nothing,
 * if the C library's function has to send the signal. */
static bool direct(pthread_t thread, int number, const union sigval *value, int *error)
{
    struct uth_tls *block = uth_tls_of(thread);
    int before = errno, tid = 0;
    if (block != NULL && number == 0) /* number 0: the caller only asks whether the thread exists */
        tid = block->adopted ? *block->tid : ps_number_of(block);
    else if (block == uth_tls_current() && block != NULL && !ps_dedicate_self())
        tid = os_thread_id(); /* not dedicated, as in a handler: sends to the kernel thread that runs it */
    else if (block != NULL)
        tid = ps_dedicated_number(block);
    else if (number != 0 && thread != pthread_self())
        tid = ps_ready_root_for_signals(tp_of(thread), 0, number);
    bool directs = block != NULL || tid != 0;
    if (directs)
        *error = tid == 0 ? EAGAIN : send(tid, number, value);
    errno = before;
    return directs;
}

NEXT(pthread_kill, int(pthread_t, int));
PS_EXPORT int interposed_pthread_kill(pthread_t thread, int number)
{
    int error;
    return direct(thread, number, NULL, &error) ? error : CALL_NEXT(pthread_kill)(thread, number);
}
VERSIONS(pthread_kill, GLIBC_2_34);
OLD_VERSION(pthread_kill, GLIBC_2_2_5);

NEXT(pthread_sigqueue, int(pthread_t, int, union sigval));
PS_EXPORT int interposed_pthread_sigqueue(pthread_t thread, int number, const union sigval value)
{
    int error;
    return direct(thread, number, &value, &error) ? error : CALL_NEXT(pthread_sigqueue)(thread, number, value);
}
VERSIONS(pthread_sigqueue, GLIBC_2_34);
OLD_VERSION(pthread_sigqueue, GLIBC_2_11);

NEXT(tgkill, int(pid_t, pid_t, int));
PS_EXPORT int interposed_tgkill(pid_t process, pid_t thread, int number)
{
    if (process == getpid() && number != 0)
        thread = calls_number_to_signal(thread);
    return CALL_NEXT(tgkill)(process, thread, number);
}
VERSIONS(tgkill, GLIBC_2_30);

/* fcntl may make a thread the owner of a file (F_SETOWN_EX). The file will send signals to this thread, so the thread
 * becomes dedicated first. */
#define INTERPOSE_FCNTL(name, node)                             \
    NEXT(name, int(int, int, ...));                             \
    PS_EXPORT int interposed_##name(int file, int command, ...) \
    {                                                           \
        va_list list;                                           \
        va_start(list, command);                                \
        void *argument = va_arg(list, void *);                  \
        va_end(list);                                           \
        if (PS_UNLIKELY(command == F_SETOWN_EX)) {              \
            const struct f_owner_ex *owner = argument;          \
            if (owner != NULL && owner->type == F_OWNER_TID)    \
                calls_number_to_signal(owner->pid);             \
        }                                                       \
        return CALL_NEXT(name)(file, command, argument);        \
    }                                                           \
    VERSIONS(name, node)
INTERPOSE_FCNTL(fcntl, GLIBC_2_2_5);
INTERPOSE_FCNTL(fcntl64, GLIBC_2_28);

/* --- kernel threads that begin --- */

/* A new kernel thread begins with the state of its maker's kernel thread, so a user-level thread that makes one becomes
 * dedicated first. The runtime's own starts are exempt (os_thread_is_starting). This function is not the default
 * version of its name. So the linker does not bind the runtime's own calls to it, and the dynamic linker resolves them
 * as it resolves the program's. A library that interposes pthread_create before the runtime therefore sees all
 * calls. */
#define HIDDEN_VERSION(name, node) __asm__(".symver interposed_" #name "," #name "@" node)
INTERPOSE_AS(if (PS_UNLIKELY(uth_tls_current() != NULL) && !os_thread_is_starting()) ps_dedicate_self(), ,
             HIDDEN_VERSION, GLIBC_2_34, int, pthread_create,
             (pthread_t * thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg),
             (thread, attr, start, arg));
OLD_VERSION(pthread_create, GLIBC_2_2_5);
