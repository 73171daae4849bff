/* What a kernel thread has: number, scheduling, credentials, namespaces, time. The caller's own state, that of a thread
 * named by its handle, and signals to such a thread, by a call or a file's owner. See calls.h. */
#define _GNU_SOURCE
#include "calls.h"

#include "../apart.h"
#include "../directed.h"
#include "../lone_root.h"
#include "os.h"
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST_ERRNO 4095

/* --- number, scheduling, credentials, namespaces, time --- */

/* What the kernel counts for its kernel thread is for the caller alone from now on; a member is promoted for that. */
static bool be_counted(void)
{
    if (uth_tls_current() != NULL)
        return true;
    ps_root_counted(NULL);
    return false;
}

ANSWER("GLIBC_2.30", pid_t, gettid, (void), ());
/* Nice value, policy, slack: what regions' members begin with. */
#define ANSWER_SCHEDULES(number, node, type, name, parameters, arguments) \
    ANSWER_AS(be_alone_to_schedule(number), scheduled, VERSIONS, node, type, name, parameters, arguments)
static void be_alone_to_schedule(int number)
{
    if (uth_tls_current() == NULL && (number == 0 || number == os_thread_id()))
        apart_before_change();
    be_alone_to_set(number);
}
static int scheduled(int result)
{
    apart_changed();
    return result;
}
ANSWER_SCHEDULES(0, "GLIBC_2.2.5", int, nice, (int increment), (increment));
/* Of a process group or a user: the first threads of processes. */
ANSWER_SCHEDULES(which == PRIO_PROCESS ? (int)who : getpid(), "GLIBC_2.2.5", int, setpriority,
                 (__priority_which_t which, id_t who, int value), (which, who, value));
ANSWER_IF(which == PRIO_PROCESS && who == 0, "GLIBC_2.2.5", int, getpriority, (__priority_which_t which, id_t who),
          (which, who));
ANSWER_AS(be_alone_to_set(pid), inherited, VERSIONS, "GLIBC_2.3.4", int, sched_setaffinity,
          (pid_t pid, size_t bytes, const cpu_set_t *set), (pid, bytes, set));
ANSWER_IF(pid == 0, "GLIBC_2.3.4", int, sched_getaffinity, (pid_t pid, size_t bytes, cpu_set_t *set),
          (pid, bytes, set));
ANSWER_SCHEDULES(pid, "GLIBC_2.2.5", int, sched_setscheduler, (pid_t pid, int policy, const struct sched_param *param),
                 (pid, policy, param));
ANSWER_IF(pid == 0, "GLIBC_2.2.5", int, sched_getscheduler, (pid_t pid), (pid));
ANSWER_SCHEDULES(pid, "GLIBC_2.2.5", int, sched_setparam, (pid_t pid, const struct sched_param *param), (pid, param));
ANSWER_IF(pid == 0, "GLIBC_2.2.5", int, sched_getparam, (pid_t pid, struct sched_param *param), (pid, param));
ANSWER_IF(pid == 0, "GLIBC_2.2.5", int, sched_rr_get_interval, (pid_t pid, struct timespec *interval), (pid, interval));
ANSWER_SETS(0, "GLIBC_2.2.5", int, setfsuid, (uid_t id), (id));
ANSWER_SETS(0, "GLIBC_2.2.5", int, setfsgid, (gid_t id), (id));
ANSWER_SETS(0, "GLIBC_2.2.5", int, personality, (unsigned long persona), (persona));
ANSWER("GLIBC_2.2.5", int, arch_prctl, (int what, unsigned long value), (what, value));
ANSWER_SETS(0, "GLIBC_2.2.5", int, iopl, (int level), (level));
ANSWER_SETS(0, "GLIBC_2.2.5", int, ioperm, (unsigned long from, unsigned long n, int on), (from, n, on));
ANSWER("GLIBC_2.2.5", int, capget, (void *header, void *data), (header, data));
ANSWER_SETS(0, "GLIBC_2.2.5", int, capset, (void *header, const void *data), (header, data));
ANSWER_SETS(0, "GLIBC_2.4", int, unshare, (int flags), (flags));
ANSWER_SETS(0, "GLIBC_2.14", int, setns, (int fd, int kind), (fd, kind));
ANSWER_IF(who == RUSAGE_THREAD && be_counted(), "GLIBC_2.2.5", int, getrusage,
          (__rusage_who_t who, struct rusage *usage), (who, usage));
ANSWER_IF(PS_UNLIKELY(clock == CLOCK_THREAD_CPUTIME_ID) && be_counted(), "GLIBC_2.17", int, clock_gettime,
          (clockid_t clock, struct timespec *now), (clock, now));
OLD_VERSION(clock_gettime, "GLIBC_2.2.5");
NEXT(timer_create, int(clockid_t, struct sigevent *, timer_t *));
PS_EXPORT int answer_timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
    /* The C library starts a kernel thread for the first one that calls a function. */
    if ((clock == CLOCK_THREAD_CPUTIME_ID && be_counted()) || (event != NULL && event->sigev_notify == SIGEV_THREAD))
        be_alone();
    if (event != NULL && event->sigev_notify == SIGEV_THREAD_ID)
        ps_ready_root_for_signals(NULL, event->_sigev_un._tid);
    return CALL_NEXT(timer_create)(clock, event, timer);
}
VERSIONS(timer_create, "GLIBC_2.34");
OLD_VERSION(timer_create, "GLIBC_2.3.3");

NEXT(prctl, int(int, ...));
PS_EXPORT int answer_prctl(int option, ...)
{
    va_list list;
    va_start(list, option);
    unsigned long a = va_arg(list, unsigned long), b = va_arg(list, unsigned long), c = va_arg(list, unsigned long),
                  d = va_arg(list, unsigned long);
    va_end(list);
    if (option == PR_SET_TIMERSLACK)
        be_alone_to_schedule(0);
    else
        be_alone_to_set(0);
    int result = CALL_NEXT(prctl)(option, a, b, c, d);
    return option == PR_SET_NAME ? inherited(result) : option == PR_SET_TIMERSLACK ? scheduled(result) : result;
}
VERSIONS(prctl, "GLIBC_2.2.5");

/* Calls that concern the process, a file or memory, on any thread; calls that are hot, and calls that name their
 * thread. */
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

/* The same as the C library's syscall tells it. Not inlined: errno is looked up anew after a call that may switch. */
static PS_NOINLINE long told(long result)
{
    if (result >= 0 || result < -MOST_ERRNO)
        return result;
    errno = (int)-result;
    return -1;
}

/* Preemptible: the C++ library waits so, on futexes, and is to be left there as in any wait of the program's. */
PS_PREEMPTIBLE PS_EXPORT long answer_syscall(long number, ...)
{
    va_list list;
    va_start(list, number);
    long a = va_arg(list, long), b = va_arg(list, long), c = va_arg(list, long), d = va_arg(list, long),
         e = va_arg(list, long), f = va_arg(list, long);
    va_end(list);
    if (number == SYS_rt_sigprocmask && b != 0)
        mask_changes();
    /* A mask is nothing that the runtime's kernel threads begin with; and the port on ucontext sets it in a switch. */
    if (number == SYS_perf_event_open && uth_tls_current() == NULL)
        ps_root_counted(NULL);
    if (number == SYS_gettid || number == SYS_rt_sigprocmask || (number == SYS_futex && os_futex_is_owned((int)b)))
        be_alone();
    else if (!is_anybodys(number))
        be_alone_to_set(0);
    if ((number == SYS_tgkill || number == SYS_rt_tgsigqueueinfo) && (int)a == getpid())
        ps_ready_root_for_signals(NULL, (int)b);
    if (number == SYS_tkill)
        ps_ready_root_for_signals(NULL, (int)a);
    long result = os_system_call(number, a, b, c, d, e, f);
    if (number == SYS_rt_sigprocmask || number == SYS_sched_setaffinity)
        ps_root_changed();
    return told(result);
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
    NEXT(name, int parameters);                                                   \
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

static void set_by_handle(pthread_t thread)
{
    if (thread == pthread_self())
        apart_before_change();
    ps_root_changes((const void *)thread, 0);
}

/* /proc's file with the name of kernel thread `number`. "c" in the mode: no cancellation points, as the C library's. */
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
    FILE *file = open_name(number, "wce");
    if (file == NULL)
        return errno;
    bool written = fwrite(name, 1, length, file) == length;
    return fclose(file) == 0 && written ? 0 : EIO;
}

static int get_name(int number, char *to, size_t bytes)
{
    char name[NAME_BYTES + 1];
    FILE *file = open_name(number, "rce");
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

NEXT(pthread_setname_np, int(pthread_t, const char *));
static int set_name_of_kernel_thread(pthread_t thread, const char *name)
{
    int error = CALL_NEXT(pthread_setname_np)(thread, name);
    return thread == pthread_self() ? inherited(error) : error;
}
PS_EXPORT int answer_pthread_setname_np(pthread_t thread, const char *name)
{
    int error, number = kernel_thread_number(thread, &error), before = errno;
    if (PS_LIKELY(number == 0 && error == 0))
        return set_name_of_kernel_thread(thread, name);
    if (error == 0)
        error = set_name(number, name);
    errno = before;
    return error;
}
VERSIONS(pthread_setname_np, "GLIBC_2.34");
OLD_VERSION(pthread_setname_np, "GLIBC_2.12");
ANSWER_HANDLE("GLIBC_2.34", pthread_getname_np, (pthread_t thread, char *name, size_t bytes), (thread, name, bytes),
              get_name(number, name, bytes));
OLD_VERSION(pthread_getname_np, "GLIBC_2.12");
NEXT(pthread_setaffinity_np, int(pthread_t, size_t, const cpu_set_t *));
static int set_processors_of_kernel_thread(pthread_t thread, size_t bytes, const cpu_set_t *set)
{
    ps_root_changes((const void *)thread, 0);
    int error = CALL_NEXT(pthread_setaffinity_np)(thread, bytes, set);
    return thread == pthread_self() ? inherited(error) : error;
}
PS_EXPORT int answer_pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t *set)
{
    int error, number = kernel_thread_number(thread, &error), before = errno;
    if (PS_LIKELY(number == 0 && error == 0))
        return set_processors_of_kernel_thread(thread, bytes, set);
    if (error == 0)
        error = error_of(CALL_NEXT(sched_setaffinity)(number, bytes, set));
    errno = before;
    return error;
}
VERSIONS(pthread_setaffinity_np, "GLIBC_2.34");
OLD_VERSION(pthread_setaffinity_np, "GLIBC_2.3.4");
ANSWER_HANDLE("GLIBC_2.32", pthread_getaffinity_np, (pthread_t thread, size_t bytes, cpu_set_t *set),
              (thread, bytes, set), error_of(CALL_NEXT(sched_getaffinity)(number, bytes, set)));
OLD_VERSION(pthread_getaffinity_np, "GLIBC_2.3.4");
ANSWER_HANDLE_AFTER(set_by_handle(thread), "GLIBC_2.2.5", pthread_setschedparam,
                    (pthread_t thread, int policy, const struct sched_param *param), (thread, policy, param),
                    error_of(CALL_NEXT(sched_setscheduler)(number, policy, param)));

static int get_scheduling(int number, int *policy, struct sched_param *param)
{
    *policy = CALL_NEXT(sched_getscheduler)(number);
    return *policy < 0 ? errno : error_of(CALL_NEXT(sched_getparam)(number, param));
}
ANSWER_HANDLE("GLIBC_2.2.5", pthread_getschedparam, (pthread_t thread, int *policy, struct sched_param *param),
              (thread, policy, param), get_scheduling(number, policy, param));
ANSWER_HANDLE_AFTER(set_by_handle(thread), "GLIBC_2.34", pthread_setschedprio, (pthread_t thread, int priority),
                    (thread, priority),
                    error_of(CALL_NEXT(sched_setparam)(number, &(struct sched_param){.sched_priority = priority})));
OLD_VERSION(pthread_setschedprio, "GLIBC_2.3.4");

/* The clock's number as the kernel makes it of a thread's. */
static clockid_t clock_of(int number) { return (clockid_t)(~(unsigned)number << 3 | 6); }
static int get_clock(int number, clockid_t *clock)
{
    *clock = clock_of(number);
    return 0;
}
ANSWER_HANDLE_AFTER(ps_root_counted((const void *)thread), "GLIBC_2.34", pthread_getcpuclockid,
                    (pthread_t thread, clockid_t *clock), (thread, clock), get_clock(number, clock));
OLD_VERSION(pthread_getcpuclockid, "GLIBC_2.2.5");

NEXT(pthread_getattr_np, int(pthread_t, pthread_attr_t *));
PS_EXPORT int answer_pthread_getattr_np(pthread_t thread, pthread_attr_t *attr)
{
    struct uth_tls *block = uth_tls_of(thread);
    if (block == uth_tls_current())
        ps_keep_stack();
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
        return error_of(told(os_system_call(SYS_tgkill, getpid(), tid, d->number, 0, 0, 0)));
    info.si_value = *d->value;
    return error_of(told(os_system_call(SYS_rt_tgsigqueueinfo, getpid(), tid, d->number, (long)&info, 0, 0)));
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
    struct directed directed = {number, value};
    if (block == uth_tls_current() &&
        !ps_promote()) /* in a handler: this kernel thread is the caller's until that ends */
        *error = send(os_thread_id(), &directed);
    else
        *error = ps_promoted_signal(block, number, send, &directed);
    errno = before;
    return 1;
}

NEXT(pthread_kill, int(pthread_t, int));
PS_EXPORT int answer_pthread_kill(pthread_t thread, int number)
{
    int error;
    return direct(thread, number, NULL, &error) ? error : CALL_NEXT(pthread_kill)(thread, number);
}
VERSIONS(pthread_kill, "GLIBC_2.34");
OLD_VERSION(pthread_kill, "GLIBC_2.2.5");

NEXT(pthread_sigqueue, int(pthread_t, int, union sigval));
PS_EXPORT int answer_pthread_sigqueue(pthread_t thread, int number, const union sigval value)
{
    int error;
    return direct(thread, number, &value, &error) ? error : CALL_NEXT(pthread_sigqueue)(thread, number, value);
}
VERSIONS(pthread_sigqueue, "GLIBC_2.34");
OLD_VERSION(pthread_sigqueue, "GLIBC_2.11");

NEXT(tgkill, int(pid_t, pid_t, int));
PS_EXPORT int answer_tgkill(pid_t process, pid_t thread, int number)
{
    if (process == getpid())
        ps_ready_root_for_signals(NULL, thread);
    return CALL_NEXT(tgkill)(process, thread, number);
}
VERSIONS(tgkill, "GLIBC_2.30");

/* A file's signals to a thread. Preemptible: some commands wait, for the program. */
#define ANSWER_FCNTL(name, node)                                           \
    NEXT(name, int(int, int, ...));                                        \
    PS_PREEMPTIBLE PS_EXPORT int answer_##name(int file, int command, ...) \
    {                                                                      \
        va_list list;                                                      \
        va_start(list, command);                                           \
        void *argument = va_arg(list, void *);                             \
        va_end(list);                                                      \
        if (PS_UNLIKELY(command == F_SETOWN_EX)) {                         \
            const struct f_owner_ex *owner = argument;                     \
            if (owner != NULL && owner->type == F_OWNER_TID)               \
                ps_ready_root_for_signals(NULL, owner->pid);               \
        }                                                                  \
        return CALL_NEXT(name)(file, command, argument);                   \
    }                                                                      \
    VERSIONS(name, node)
ANSWER_FCNTL(fcntl, "GLIBC_2.2.5");
ANSWER_FCNTL(fcntl64, "GLIBC_2.28");
