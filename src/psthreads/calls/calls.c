/* Calls of the C library whose subject is a thread as the kernel knows it, answered for user-level threads.
 *
 * The C library hands these on to the kernel for the kernel thread that happens to run, or that stands in a thread's
 * descriptor. Here the thread is promoted first (../promote.h); then the C library's own function is called, which is
 * right from then on. A call about another thread goes by the number of that one's kernel thread. A kernel thread's
 * own calls go straight on: one load and a jump.
 *
 * Found before the C library's because a program's libraries are searched in order, and the C library comes last;
 * where it does not, psrun preloads the runtime. Each has the version nodes of the C library for this processor. The
 * runtime itself asks the kernel (src/os/linux/raw.h): none of this is called by it. Loaded as a whole or not at all,
 * since the numbers in descriptors are nothing that the C library could hand on (uth_tls_number_blocks).
 *
 * What is here and why not less: everything of the C library that sets or tells state of the calling kernel thread,
 * or makes a process that is its child, or a kernel thread.
 * `syscall` is judged by the number: what is known to be the process's or nobody's goes straight on, everything else
 * is taken for a thread's. Not here: siglongjmp, which sets the mask to what it was on the same thread; kernel threads'
 * masks differ where the program has set them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <termios.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#if defined(__GLIBC__)
#include <gnu/lib-names.h>
#else
#define LIBC_SO "libc.so"
#endif

#include "../divided.h"
#include "../forked_exit.h"
#include "../promote.h"
#include "../standby.h"
#include "compiler.h"
#include "os.h"
#include "tls.h"
#include "uth.h"

/* The C library's functions, behind ours, by name: in a section, so that they can all be looked up when the library is
 * loaded. Not when they are needed: dlsym waits for the dynamic linker's lock, which a thread may hold that waits for
 * the caller. */
struct next {
    const char *name;
    void *function;
};
extern struct next __start_ps_next[], __stop_ps_next[];
#define NEXT(name, type)                                                                                      \
    static struct next place_of_##name __attribute__((section("ps_next"), used, aligned(8))) = {#name, NULL}; \
    typedef __typeof__(type) next_##name;
#define CALL_NEXT(name) ((next_##name *)next_definition(&place_of_##name))

/* Where the C library comes before the runtime there is nothing behind: a library of the program's that is opened late,
 * or whose own library wants the runtime. Then it is the C library that answers. */
static void *look_behind(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name), *library;
    if (function != NULL || (library = dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD)) == NULL)
        return function;
    function = dlsym(library, name);
    dlclose(library);
    return function;
}

/* First of all constructors: the others may call them, and threads may begin there, which is when blocks are made. */
int answer_pthread_getattr_np(pthread_t thread, pthread_attr_t *attr);
__attribute__((constructor(101))) static void look_up(void)
{
    for (struct next *next = __start_ps_next; next < __stop_ps_next; next++)
        next->function = look_behind(next->name);
    /* Not where the program finds the C library's first: a number is nothing that it could hand on to the kernel. */
    if (dlsym(RTLD_DEFAULT, "pthread_getattr_np") == (void *)answer_pthread_getattr_np)
        uth_tls_number_blocks();
}

/* Before that, objects' functions for indirect symbols may have run: on the only thread. */
static void *next_definition(struct next *next)
{
    if (PS_UNLIKELY(next->function == NULL))
        next->function = look_behind(next->name);
    return next->function;
}

/* The caller's state is the kernel thread's that runs it when this returns. */
static inline void be_alone(void)
{
    if (PS_UNLIKELY(uth_tls_current() != NULL))
        ps_promote();
}

/* The same, before it is set for kernel thread `number` (0: the caller's own) what kernel threads begin with. */
static inline void be_alone_to_set(int number)
{
    if (number != 0 || uth_tls_current() == NULL)
        ps_root_changes(NULL, number);
    else
        ps_promote();
}

#define VERSIONS(name, node) __asm__(".symver answer_" #name "," #name "@@" node)
#define OLD_VERSION(name, node)                                                                                 \
    extern __typeof__(answer_##name) old_##name __attribute__((alias("answer_" #name), visibility("default"))); \
    __asm__(".symver old_" #name "," #name "@" node)

/* Not a call but a jump, to what ready(the same arguments) has returned: the C library's function finds its caller's
 * frame, and all arguments (integers), as they are. */
#define JUMP(name, ready)                           \
    __asm__(".pushsection .text\n"                  \
            "\t.globl answer_" #name "\n"           \
            "\t.type answer_" #name ", @function\n" \
            "answer_" #name ":\n"                   \
            "\t.cfi_startproc\n"                    \
            "\tendbr64\n"                           \
            "\tsub $56, %rsp\n"                     \
            "\t.cfi_adjust_cfa_offset 56\n"         \
            "\tmov %rdi, (%rsp)\n"                  \
            "\tmov %rsi, 8(%rsp)\n"                 \
            "\tmov %rdx, 16(%rsp)\n"                \
            "\tmov %rcx, 24(%rsp)\n"                \
            "\tmov %r8, 32(%rsp)\n"                 \
            "\tmov %r9, 40(%rsp)\n"                 \
            "\tcall " #ready "\n"                   \
            "\tmov %rax, %r11\n"                    \
            "\tmov (%rsp), %rdi\n"                  \
            "\tmov 8(%rsp), %rsi\n"                 \
            "\tmov 16(%rsp), %rdx\n"                \
            "\tmov 24(%rsp), %rcx\n"                \
            "\tmov 32(%rsp), %r8\n"                 \
            "\tmov 40(%rsp), %r9\n"                 \
            "\tadd $56, %rsp\n"                     \
            "\t.cfi_adjust_cfa_offset -56\n"        \
            "\txor %eax, %eax\n"                    \
            "\tjmp *%r11\n"                         \
            "\t.cfi_endproc\n"                      \
            "\t.size answer_" #name ", . - answer_" #name "\n\t.popsection")

/* After a call that sets what a region's threads begin with. */
static inline int inherited(int result)
{
    if (uth_tls_current() == NULL)
        ps_root_changed();
    return result;
}
#define ANSWER_INHERITED(own, node, type, name, parameters, arguments) \
    NEXT(name, type parameters)                                        \
    PS_EXPORT type answer_##name parameters;                           \
    PS_EXPORT type answer_##name parameters                            \
    {                                                                  \
        if (own)                                                       \
            be_alone();                                                \
        return inherited(CALL_NEXT(name) arguments);                   \
    }                                                                  \
    VERSIONS(name, node)

/* A call of the caller's own state with these parameters, where `own` holds: promoted, then the C library's. */
#define ANSWER_IF(own, node, type, name, parameters, arguments) \
    NEXT(name, type parameters)                                 \
    PS_EXPORT type answer_##name parameters;                    \
    PS_EXPORT type answer_##name parameters                     \
    {                                                           \
        if (own)                                                \
            be_alone();                                         \
        return CALL_NEXT(name) arguments;                       \
    }                                                           \
    VERSIONS(name, node)
#define ANSWER(node, type, name, parameters, arguments) ANSWER_IF(true, node, type, name, parameters, arguments)

/* A call that sets what kernel threads begin with, for kernel thread `number`. */
#define ANSWER_SETS(number, node, type, name, parameters, arguments) \
    NEXT(name, type parameters)                                      \
    PS_EXPORT type answer_##name parameters;                         \
    PS_EXPORT type answer_##name parameters                          \
    {                                                                \
        be_alone_to_set(number);                                     \
        return CALL_NEXT(name) arguments;                            \
    }                                                                \
    VERSIONS(name, node)

#define ANSWER_MUTEX(node, name, what, none)                          \
    NEXT(name, int(pthread_mutexattr_t *, int))                       \
    PS_EXPORT int answer_##name(pthread_mutexattr_t *attr, int what); \
    PS_EXPORT int answer_##name(pthread_mutexattr_t *attr, int what)  \
    {                                                                 \
        if (what != none)                                             \
            ps_promote_all();                                         \
        return CALL_NEXT(name)(attr, what);                           \
    }                                                                 \
    VERSIONS(name, node)

/* --- signals --- */

/* Where members' masks differ, a signal for the process is for who does not block it: roots are to be found. */
static bool is_change(const sigset_t *set)
{
    if (set != NULL && uth_tls_current() != NULL && !ps_in_vfork_child())
        ps_all_roots_alone();
    return true;
}
ANSWER_INHERITED(is_change(set), "GLIBC_2.2.5", int, sigprocmask, (int how, const sigset_t *set, sigset_t *old),
                 (how, set, old));
ANSWER_INHERITED(is_change(set), "GLIBC_2.32", int, pthread_sigmask, (int how, const sigset_t *set, sigset_t *old),
                 (how, set, old));
OLD_VERSION(pthread_sigmask, "GLIBC_2.2.5");

/* The runtime's own, on which it tells of overflows, is none of the program's. */
NEXT(sigaltstack, int(const stack_t *, stack_t *))
PS_EXPORT int answer_sigaltstack(const stack_t *stack, stack_t *before);
PS_EXPORT int answer_sigaltstack(const stack_t *stack, stack_t *before)
{
    be_alone();
    int result = CALL_NEXT(sigaltstack)(stack, before);
    if (result == 0 && before != NULL && uth_overflow_is_ours(before->ss_sp))
        *before = (stack_t){.ss_flags = SS_DISABLE};
    return result;
}
VERSIONS(sigaltstack, "GLIBC_2.2.5");

ANSWER("GLIBC_2.2.5", int, sigpending, (sigset_t * set), (set));
ANSWER("GLIBC_2.2.5", int, sigsuspend, (const sigset_t *set), (set));
ANSWER("GLIBC_2.2.5", int, sigwait, (const sigset_t *set, int *number), (set, number));
ANSWER("GLIBC_2.2.5", int, sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info));
ANSWER("GLIBC_2.2.5", int, sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *timeout),
       (set, info, timeout));
ANSWER_INHERITED(true, "GLIBC_2.2.5", int, sigblock, (int mask), (mask));
ANSWER_INHERITED(true, "GLIBC_2.2.5", int, sigsetmask, (int mask), (mask));
ANSWER_INHERITED(true, "GLIBC_2.2.5", int, sighold, (int number), (number));
ANSWER_INHERITED(true, "GLIBC_2.2.5", int, sigrelse, (int number), (number));
ANSWER("GLIBC_2.2.5", int, sigpause, (int mask), (mask));
ANSWER("GLIBC_2.2.5", int, __xpg_sigpause, (int number), (number));
typedef void handler_of(int);
NEXT(sigset, handler_of *(int, handler_of *))
PS_EXPORT handler_of *answer_sigset(int number, handler_of *handler);
PS_EXPORT handler_of *answer_sigset(int number, handler_of *handler)
{
    be_alone();
    handler_of *before = CALL_NEXT(sigset)(number, handler);
    inherited(0);
    return before;
}
VERSIONS(sigset, "GLIBC_2.2.5");

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

/* The child of vfork leaves the function that called it, in memory that it shares. */
NEXT(vfork, pid_t(void))
PS_UNUSED __attribute__((used)) static void *ready_to_vfork(void)
{
    be_alone();
    return (void *)CALL_NEXT(vfork);
}
JUMP(vfork, ready_to_vfork);
JUMP(__vfork, ready_to_vfork);
VERSIONS(vfork, "GLIBC_2.2.5");
VERSIONS(__vfork, "GLIBC_2.2.5");

/* It has seven arguments, the last one on the stack. */
NEXT(clone, int(int (*)(void *), void *, int, void *, ...))
PS_UNUSED __attribute__((used)) static void *ready_to_clone(void)
{
    be_alone();
    return (void *)CALL_NEXT(clone);
}
JUMP(clone, ready_to_clone);
JUMP(__clone, ready_to_clone);
VERSIONS(clone, "GLIBC_2.2.5");
VERSIONS(__clone, "GLIBC_2.2.5");

NEXT(ptrace, long(int, ...))
PS_EXPORT long answer_ptrace(int request, ...);
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

/* They begin with what their maker's has. The runtime's own starts do not count (os_thread_is_starting). Those are
 * linked to the C library's default version, which this is not: so the dynamic linker resolves them as it does the
 * program's, and whoever stands before both sees all. */
#define HIDDEN_VERSION(name, node) __asm__(".symver answer_" #name "," #name "@" node)
#define ANSWER_START(node, type, name, parameters, arguments)                   \
    NEXT(name, type parameters)                                                 \
    PS_EXPORT type answer_##name parameters;                                    \
    PS_EXPORT type answer_##name parameters                                     \
    {                                                                           \
        if (PS_UNLIKELY(uth_tls_current() != NULL) && !os_thread_is_starting()) \
            ps_promote();                                                       \
        return CALL_NEXT(name) arguments;                                       \
    }                                                                           \
    HIDDEN_VERSION(name, node)
ANSWER_START("GLIBC_2.34", int, pthread_create,
             (pthread_t * thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg),
             (thread, attr, start, arg));
OLD_VERSION(pthread_create, "GLIBC_2.2.5");
ANSWER_START("GLIBC_2.34", int, thrd_create, (thrd_t * thread, thrd_start_t start, void *arg), (thread, start, arg));
OLD_VERSION(thrd_create, "GLIBC_2.28");

/* --- number, scheduling, credentials, namespaces, time --- */

ANSWER("GLIBC_2.30", pid_t, gettid, (void), ());
ANSWER_SETS(0, "GLIBC_2.2.5", int, nice, (int increment), (increment));
/* Of a process group or a user: the first threads of processes. */
ANSWER_SETS(which == PRIO_PROCESS ? (int)who : getpid(), "GLIBC_2.2.5", int, setpriority,
            (__priority_which_t which, id_t who, int value), (which, who, value));
ANSWER_IF(which == PRIO_PROCESS && who == 0, "GLIBC_2.2.5", int, getpriority, (__priority_which_t which, id_t who),
          (which, who));
ANSWER_INHERITED(pid == 0, "GLIBC_2.3.4", int, sched_setaffinity, (pid_t pid, size_t bytes, const cpu_set_t *set),
                 (pid, bytes, set));
ANSWER_IF(pid == 0, "GLIBC_2.3.4", int, sched_getaffinity, (pid_t pid, size_t bytes, cpu_set_t *set),
          (pid, bytes, set));
ANSWER_SETS(pid, "GLIBC_2.2.5", int, sched_setscheduler, (pid_t pid, int policy, const struct sched_param *param),
            (pid, policy, param));
ANSWER_IF(pid == 0, "GLIBC_2.2.5", int, sched_getscheduler, (pid_t pid), (pid));
ANSWER_SETS(pid, "GLIBC_2.2.5", int, sched_setparam, (pid_t pid, const struct sched_param *param), (pid, param));
ANSWER_IF(pid == 0, "GLIBC_2.2.5", int, sched_getparam, (pid_t pid, struct sched_param *param), (pid, param));
ANSWER_IF(pid == 0, "GLIBC_2.2.5", int, sched_rr_get_interval, (pid_t pid, struct timespec *interval), (pid, interval));
ANSWER_SETS(0, "GLIBC_2.2.5", int, setfsuid, (uid_t id), (id));
ANSWER_SETS(0, "GLIBC_2.2.5", int, setfsgid, (gid_t id), (id));
ANSWER_SETS(0, "GLIBC_2.2.5", int, personality, (unsigned long persona), (persona));
ANSWER_SETS(0, "GLIBC_2.2.5", int, iopl, (int level), (level));
ANSWER_SETS(0, "GLIBC_2.2.5", int, ioperm, (unsigned long from, unsigned long n, int on), (from, n, on));
ANSWER("GLIBC_2.2.5", int, capget, (void *header, void *data), (header, data));
ANSWER_SETS(0, "GLIBC_2.2.5", int, capset, (void *header, const void *data), (header, data));
ANSWER_SETS(0, "GLIBC_2.4", int, unshare, (int flags), (flags));
ANSWER_SETS(0, "GLIBC_2.14", int, setns, (int fd, int kind), (fd, kind));
ANSWER_IF(who == RUSAGE_THREAD, "GLIBC_2.2.5", int, getrusage, (__rusage_who_t who, struct rusage *usage),
          (who, usage));
ANSWER_IF(PS_UNLIKELY(clock == CLOCK_THREAD_CPUTIME_ID), "GLIBC_2.17", int, clock_gettime,
          (clockid_t clock, struct timespec *now), (clock, now));
OLD_VERSION(clock_gettime, "GLIBC_2.2.5");
NEXT(timer_create, int(clockid_t, struct sigevent *, timer_t *))
PS_EXPORT int answer_timer_create(clockid_t clock, struct sigevent *event, timer_t *timer);
PS_EXPORT int answer_timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
    /* The C library starts a kernel thread for the first one that calls a function. */
    if (clock == CLOCK_THREAD_CPUTIME_ID || (event != NULL && event->sigev_notify == SIGEV_THREAD))
        be_alone();
    if (event != NULL && event->sigev_notify == SIGEV_THREAD_ID)
        ps_ready_root_for_signals(NULL, event->_sigev_un._tid);
    return CALL_NEXT(timer_create)(clock, event, timer);
}
VERSIONS(timer_create, "GLIBC_2.34");
OLD_VERSION(timer_create, "GLIBC_2.3.3");

NEXT(prctl, int(int, ...))
PS_EXPORT int answer_prctl(int option, ...);
PS_EXPORT int answer_prctl(int option, ...)
{
    va_list list;
    va_start(list, option);
    unsigned long a = va_arg(list, unsigned long), b = va_arg(list, unsigned long), c = va_arg(list, unsigned long),
                  d = va_arg(list, unsigned long);
    va_end(list);
    be_alone_to_set(0);
    return CALL_NEXT(prctl)(option, a, b, c, d);
}
VERSIONS(prctl, "GLIBC_2.2.5");

/* Calls that concern the process, a file or memory, whoever makes them; those that are hot, and those that name
 * their thread. */
static bool is_anybodys(long number)
{
    switch (number) {
    case SYS_futex:
    case SYS_sched_yield:
    case SYS_getrandom:
    case SYS_getcpu:
    case SYS_getpid:
    case SYS_tgkill:
    case SYS_tkill:
    case SYS_membarrier:
    case SYS_memfd_create:
    case SYS_copy_file_range:
    case SYS_io_uring_setup:
    case SYS_io_uring_enter:
    case SYS_io_uring_register:
    case SYS_pidfd_open:
    case SYS_pidfd_send_signal:
    case SYS_getdents64:
    case SYS_statx:
    /* Libraries that watch the address space (UCX below MPI) make these in malloc's place, which holds its lock
     * then. */
    case SYS_mmap:
    case SYS_munmap:
    case SYS_mremap:
    case SYS_madvise:
    case SYS_mprotect:
    case SYS_brk:
    case SYS_shmat:
    case SYS_shmdt:
    case SYS_mbind:
    case SYS_move_pages:
    case SYS_exit_group:
        return true;
    default:
        return false;
    }
}

NEXT(syscall, long(long, ...))
PS_EXPORT long answer_syscall(long number, ...);
/* Preemptible: the C++ library waits so, on futexes, and is to be left there as in any wait of the program's. */
PS_PREEMPTIBLE PS_EXPORT long answer_syscall(long number, ...)
{
    va_list list;
    va_start(list, number);
    long a = va_arg(list, long), b = va_arg(list, long), c = va_arg(list, long), d = va_arg(list, long),
         e = va_arg(list, long), f = va_arg(list, long);
    va_end(list);
    /* A mask is nothing that the runtime's kernel threads begin with; and the port on ucontext sets it in a switch. */
    if (number == SYS_gettid || number == SYS_rt_sigprocmask || (number == SYS_futex && os_futex_is_owned((int)b)))
        be_alone();
    else if (!is_anybodys(number))
        be_alone_to_set(0);
    if ((number == SYS_tgkill || number == SYS_rt_tgsigqueueinfo) && (int)a == getpid())
        ps_ready_root_for_signals(NULL, (int)b);
    if (number == SYS_tkill)
        ps_ready_root_for_signals(NULL, (int)a);
    return CALL_NEXT(syscall)(number, a, b, c, d, e, f);
}
VERSIONS(syscall, "GLIBC_2.2.5");

/* --- calls about a thread that is named by its handle --- */

/* The number of the kernel thread that is `thread`'s own; 0: that is a kernel thread for the C library to ask about.
 * *error: it can have none. */
static int kernel_thread_number(pthread_t thread, int *error)
{
    struct uth_tls *block = uth_tls_of(thread);
    *error = 0;
    if (block == NULL)
        return 0;
    if (block == uth_tls_current() && !ps_promote() && ps_in_vfork_child())
        return (int)CALL_NEXT(gettid)();
    int number = ps_promoted_id(block);
    *error = number == 0 ? EAGAIN : 0;
    return number;
}

static int error_of(long result) { return result < 0 ? errno : 0; }

/* A function of a thread: by the C library where it is a kernel thread's, after `first`; else `by_number`, an
 * expression in `number`. errno stays. */
#define ANSWER_HANDLE_AFTER(first, node, name, parameters, arguments, by_number)  \
    NEXT(name, int parameters)                                                    \
    PS_EXPORT int answer_##name parameters;                                       \
    PS_EXPORT int answer_##name parameters                                        \
    {                                                                             \
        int error, number = kernel_thread_number(thread, &error), before = errno; \
        if (PS_LIKELY(number == 0 && error == 0)) {                               \
            first;                                                                \
            return CALL_NEXT(name) arguments;                                     \
        }                                                                         \
        if (error == 0)                                                           \
            error = (by_number);                                                  \
        errno = before;                                                           \
        return error;                                                             \
    }                                                                             \
    VERSIONS(name, node)
#define ANSWER_HANDLE(node, name, parameters, arguments, by_number) \
    ANSWER_HANDLE_AFTER((void)0, node, name, parameters, arguments, by_number)
#define ANSWER_HANDLE_SETS(node, name, parameters, arguments, by_number) \
    ANSWER_HANDLE_AFTER(ps_root_changes((const void *)thread, 0), node, name, parameters, arguments, by_number)

/* /proc's file with the name of kernel thread `number`. */
static FILE *open_name(int number, const char *mode)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", number);
    return fopen(path, mode);
}

#define NAME_BYTES 16 /* with the end */

static int set_name(int number, const char *name)
{
    size_t length = strlen(name);
    if (length >= NAME_BYTES)
        return ERANGE;
    FILE *file = open_name(number, "we");
    if (file == NULL)
        return errno;
    bool written = fwrite(name, 1, length, file) == length;
    return fclose(file) == 0 && written ? 0 : EIO;
}

static int get_name(int number, char *to, size_t bytes)
{
    char name[NAME_BYTES + 1];
    FILE *file = open_name(number, "re");
    if (file == NULL)
        return errno;
    bool got = fgets(name, sizeof name, file) != NULL;
    fclose(file);
    if (!got)
        return EIO;
    name[strcspn(name, "\n")] = '\0';
    if (strlen(name) >= bytes)
        return ERANGE;
    strcpy(to, name);
    return 0;
}

ANSWER_HANDLE("GLIBC_2.34", pthread_setname_np, (pthread_t thread, const char *name), (thread, name),
              set_name(number, name));
OLD_VERSION(pthread_setname_np, "GLIBC_2.12");
ANSWER_HANDLE("GLIBC_2.34", pthread_getname_np, (pthread_t thread, char *name, size_t bytes), (thread, name, bytes),
              get_name(number, name, bytes));
OLD_VERSION(pthread_getname_np, "GLIBC_2.12");
ANSWER_HANDLE("GLIBC_2.34", pthread_setaffinity_np, (pthread_t thread, size_t bytes, const cpu_set_t *set),
              (thread, bytes, set), error_of(CALL_NEXT(sched_setaffinity)(number, bytes, set)));
OLD_VERSION(pthread_setaffinity_np, "GLIBC_2.3.4");
ANSWER_HANDLE("GLIBC_2.32", pthread_getaffinity_np, (pthread_t thread, size_t bytes, cpu_set_t *set),
              (thread, bytes, set), error_of(CALL_NEXT(sched_getaffinity)(number, bytes, set)));
OLD_VERSION(pthread_getaffinity_np, "GLIBC_2.3.4");
ANSWER_HANDLE_SETS("GLIBC_2.2.5", pthread_setschedparam,
                   (pthread_t thread, int policy, const struct sched_param *param), (thread, policy, param),
                   error_of(CALL_NEXT(sched_setscheduler)(number, policy, param)));

static int get_scheduling(int number, int *policy, struct sched_param *param)
{
    *policy = CALL_NEXT(sched_getscheduler)(number);
    return *policy < 0 ? errno : error_of(CALL_NEXT(sched_getparam)(number, param));
}
ANSWER_HANDLE("GLIBC_2.2.5", pthread_getschedparam, (pthread_t thread, int *policy, struct sched_param *param),
              (thread, policy, param), get_scheduling(number, policy, param));
ANSWER_HANDLE_SETS("GLIBC_2.34", pthread_setschedprio, (pthread_t thread, int priority), (thread, priority),
                   error_of(CALL_NEXT(sched_setparam)(number, &(struct sched_param){.sched_priority = priority})));
OLD_VERSION(pthread_setschedprio, "GLIBC_2.3.4");

/* The clock's number as the kernel makes it of a thread's. */
static clockid_t clock_of(int number) { return (clockid_t)(~(unsigned)number << 3 | 6); }
static int get_clock(int number, clockid_t *clock)
{
    *clock = clock_of(number);
    return 0;
}
ANSWER_HANDLE("GLIBC_2.34", pthread_getcpuclockid, (pthread_t thread, clockid_t *clock), (thread, clock),
              get_clock(number, clock));
OLD_VERSION(pthread_getcpuclockid, "GLIBC_2.2.5");

NEXT(pthread_getattr_np, int(pthread_t, pthread_attr_t *))
PS_EXPORT int answer_pthread_getattr_np(pthread_t thread, pthread_attr_t *attr);
PS_EXPORT int answer_pthread_getattr_np(pthread_t thread, pthread_attr_t *attr)
{
    struct uth_tls *block = uth_tls_of(thread);
    if (block == NULL)
        return CALL_NEXT(pthread_getattr_np)(thread, attr);
    void *stack;
    size_t bytes;
    uth_tls_stack(block, &stack, &bytes);
    if (stack == NULL) { /* a kernel thread's own, which the member was called on */
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
VERSIONS(pthread_getattr_np, "GLIBC_2.32");
OLD_VERSION(pthread_getattr_np, "GLIBC_2.2.5");

/* --- signals to a thread --- */

struct directed {
    int number;
    const union sigval *value; /* NULL: none */
};

static int send(int tid, const void *arg)
{
    const struct directed *d = arg;
    siginfo_t info = {.si_signo = d->number, .si_code = SI_QUEUE, .si_pid = getpid(), .si_uid = getuid()};
    if (d->value == NULL)
        return error_of(CALL_NEXT(syscall)(SYS_tgkill, (long)getpid(), (long)tid, (long)d->number));
    info.si_value = *d->value;
    return error_of(CALL_NEXT(syscall)(SYS_rt_tgsigqueueinfo, (long)getpid(), (long)tid, (long)d->number, &info));
}

static int direct(pthread_t thread, int number, const union sigval *value, int *error)
{
    struct uth_tls *block = uth_tls_of(thread);
    int before = errno;
    if (block == NULL) {
        if (number != 0 && thread != pthread_self())
            ps_ready_root_for_signals((const void *)thread, 0);
        errno = before;
        return 0;
    }
    if (block == uth_tls_current())
        ps_promote();
    *error = ps_promoted_signal(block, send, &(struct directed){number, value});
    errno = before;
    return 1;
}

NEXT(pthread_kill, int(pthread_t, int))
PS_EXPORT int answer_pthread_kill(pthread_t thread, int number);
PS_EXPORT int answer_pthread_kill(pthread_t thread, int number)
{
    int error;
    return direct(thread, number, NULL, &error) ? error : CALL_NEXT(pthread_kill)(thread, number);
}
VERSIONS(pthread_kill, "GLIBC_2.34");
OLD_VERSION(pthread_kill, "GLIBC_2.2.5");

NEXT(pthread_sigqueue, int(pthread_t, int, union sigval))
PS_EXPORT int answer_pthread_sigqueue(pthread_t thread, int number, const union sigval value);
PS_EXPORT int answer_pthread_sigqueue(pthread_t thread, int number, const union sigval value)
{
    int error;
    return direct(thread, number, &value, &error) ? error : CALL_NEXT(pthread_sigqueue)(thread, number, value);
}
VERSIONS(pthread_sigqueue, "GLIBC_2.34");
OLD_VERSION(pthread_sigqueue, "GLIBC_2.11");

NEXT(tgkill, int(pid_t, pid_t, int))
PS_EXPORT int answer_tgkill(pid_t process, pid_t thread, int number);
PS_EXPORT int answer_tgkill(pid_t process, pid_t thread, int number)
{
    if (process == getpid())
        ps_ready_root_for_signals(NULL, thread);
    return CALL_NEXT(tgkill)(process, thread, number);
}
VERSIONS(tgkill, "GLIBC_2.30");

/* --- callbacks that keep others from starting kernel threads --- */

/* A callback may be unwound (an exception, cancellation): then there is a runtime for that, and else it is not asked
 * for (once.c). */
__asm__(".weak _Unwind_Resume\n\t.weak __gcc_personality_v0");

NEXT(dl_iterate_phdr, int(int (*)(struct dl_phdr_info *, size_t, void *), void *))
typedef int object_visitor(struct dl_phdr_info *info, size_t bytes, void *arg);
static void leave_callback(const uint32_t *entered) { standby_leave(*entered); }
PS_EXPORT int answer_dl_iterate_phdr(object_visitor *visitor, void *arg);
/* Preemptible: who waits in the C library for the lock may be left there, as if the program had called it. */
PS_PREEMPTIBLE PS_EXPORT int answer_dl_iterate_phdr(object_visitor *visitor, void *arg)
{
    PS_UNUSED __attribute__((cleanup(leave_callback))) uint32_t entered = standby_enter((uintptr_t)visitor);
    return CALL_NEXT(dl_iterate_phdr)(visitor, arg);
}
VERSIONS(dl_iterate_phdr, "GLIBC_2.2.5");

/* --- the end of a thread that has forked, in the child --- */

NEXT(pthread_exit, void(void *))
PS_EXPORT void answer_pthread_exit(void *result) __attribute__((noreturn));
PS_EXPORT void answer_pthread_exit(void *result)
{
    ps_forked_exit();
    CALL_NEXT(pthread_exit)(result);
    __builtin_unreachable();
}
VERSIONS(pthread_exit, "GLIBC_2.2.5");

NEXT(__pthread_unwind_next, void(void *))
PS_EXPORT void answer___pthread_unwind_next(void *buffer);
PS_EXPORT void answer___pthread_unwind_next(void *buffer)
{
    ps_forked_unwind_next(buffer);
    CALL_NEXT(__pthread_unwind_next)(buffer);
}
VERSIONS(__pthread_unwind_next, "GLIBC_2.34");
OLD_VERSION(__pthread_unwind_next, "GLIBC_2.3.3");

/* --- objects that begin --- */

/* The first function of each object (_init, of the C library's crti.o) calls __gmon_start__ where there is one, for the
 * sake of gprof. The dynamic linker has relocated the object by then, and all that it loads with it; none of their code
 * has run: constructors come behind. The C library has initialised their thread-local variables in the threads that it
 * knows. A program that is built for gprof has a __gmon_start__ of its own, which is found first; an object without
 * crti.o calls none. Then that is seen to at the next region.
 * Rejected: to answer dlopen (it finds libraries by the address of its caller, and constructors run in the middle of
 * it). To put threads in the C library's lists (setxid and debuggers take every entry for a kernel thread). */
PS_EXPORT void answer___gmon_start__(void);
PS_EXPORT void answer___gmon_start__(void) { uth_tls_object_begins(__builtin_return_address(0)); }
VERSIONS(__gmon_start__, "GLIBC_2.2.5");

/* --- coroutines on a part of their thread's stack --- */

NEXT(makecontext, void(ucontext_t *, void (*)(void), int, ...))
PS_UNUSED __attribute__((used)) static void *note_context(const ucontext_t *context)
{
    ps_stack_divided((uintptr_t)context->uc_stack.ss_sp);
    return (void *)CALL_NEXT(makecontext);
}

JUMP(makecontext, note_context);
VERSIONS(makecontext, "GLIBC_2.2.5");

/* --- contexts that bring a signal mask --- */

#ifndef PS_SWITCHES_BY_CONTEXT
/* A member that takes another mask than those around it takes it along. */
static void take_mask(const ucontext_t *context)
{
    uint64_t mask;
    memcpy(&mask, &context->uc_sigmask, sizeof mask);
    if (PS_LIKELY(uth_tls_current() == NULL || !ps_mask_is_own(mask)))
        return;
    is_change(&context->uc_sigmask);
    be_alone();
}

NEXT(swapcontext, int(ucontext_t *, const ucontext_t *))
NEXT(setcontext, int(const ucontext_t *))
PS_UNUSED __attribute__((used)) static void *ready_to_swap(const ucontext_t *from, const ucontext_t *to)
{
    (void)from;
    take_mask(to);
    return (void *)CALL_NEXT(swapcontext);
}
PS_UNUSED __attribute__((used)) static void *ready_to_set(const ucontext_t *to)
{
    take_mask(to);
    return (void *)CALL_NEXT(setcontext);
}

JUMP(swapcontext, ready_to_swap);
JUMP(setcontext, ready_to_set);
VERSIONS(swapcontext, "GLIBC_2.2.5");
VERSIONS(setcontext, "GLIBC_2.2.5");
#endif

/* --- mutexes that the kernel compares --- */

/* From the first mutex attribute of such a kind on, threads begin promoted and with the number of their kernel
 * thread. */
ANSWER_MUTEX("GLIBC_2.34", pthread_mutexattr_setprotocol, protocol, PTHREAD_PRIO_NONE);
OLD_VERSION(pthread_mutexattr_setprotocol, "GLIBC_2.4");
ANSWER_MUTEX("GLIBC_2.34", pthread_mutexattr_setrobust, robustness, PTHREAD_MUTEX_STALLED);
OLD_VERSION(pthread_mutexattr_setrobust, "GLIBC_2.12");
