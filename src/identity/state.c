/* Calls about what a kernel thread has (number, scheduling, name, time), for the caller or for a kernel thread that is
 * named by its number. See calls.h. */
#define _GNU_SOURCE
#include "calls.h"

#include "bind.h"
#include "home.h"
#include "lone_root.h"
#include "os.h"
#include "priority.h"
#include "state.h"
#include "thread_signal.h"
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

/* --- number, scheduling, time, name --- */

/* Called when the program asks for something that the kernel counts for the caller, such as its processor time. If the
 * caller's kernel thread is a root's, it runs no other threads from now on. Returns true if the caller is in a block:
 * then it has to become dedicated. */
static bool be_counted(void)
{
    const struct uth_tls *block = uth_tls_current();
    if (block == NULL || block->adopted)
        ps_root_counted(cpu_get_tp());
    return block != NULL;
}

/* Returns the number of the kernel thread to ask, if the program has passed `number`. If `number` is 0, the program
 * means the caller. Then returns home's number for a root that is away (home.h), the number of its own kernel thread
 * for a thread in a block, and 0 otherwise. */
static int number_to_ask(int number)
{
    if (number != 0 || (number = home_number()) != 0)
        return number;
    struct uth_tls *block = uth_tls_current();
    return PS_UNLIKELY(block != NULL) ? ps_number_to_ask(block) : 0;
}

/* Returns the number of the kernel thread for which something is set, if the program has passed `number`. If `number`
 * is 0, the program means the caller. Then returns home's number for a root that is away. Otherwise makes the caller
 * dedicated, and returns 0. */
static int number_to_set(int number)
{
    if (number != 0)
        return ps_number_to_set(number);
    if ((number = home_number()) == 0)
        be_dedicated();
    return number;
}

NEXT(gettid, pid_t(void));
PS_EXPORT pid_t interposed_gettid(void) { return ps_number_of_caller(); }
VERSIONS(gettid, GLIBC_2_30);
/* Defines a call that sets the nice value or policy of kernel thread `number`: members of a region may begin with
 * them. */
#define INTERPOSE_SCHEDULES(number, node, type, name, parameters, arguments) \
    INTERPOSE_AS(before_scheduling(number), scheduled, VERSIONS, node, type, name, parameters, arguments)
static void before_scheduling(int number)
{
    if (uth_tls_current() == NULL && (number == 0 || number == os_thread_id()))
        priority_before_change();
}
static int scheduled(int result)
{
    priority_changed();
    return result;
}
/* Adds to the nice value of kernel thread `number`: the C library's function can change only the caller's. */
static int nice_of(int number, int increment)
{
    errno = 0;
    int value = getpriority(PRIO_PROCESS, (id_t)number) + increment;
    value = value < -20 ? -20 : value > 19 ? 19 : value;
    return errno != 0 || setpriority(PRIO_PROCESS, (id_t)number, value) != 0 ? -1 : value;
}
NEXT(nice, int(int));
PS_EXPORT int interposed_nice(int increment)
{
    int number = home_number();
    if (PS_UNLIKELY(number != 0))
        return nice_of(number, increment);
    be_dedicated();
    before_scheduling(0);
    return scheduled(CALL_NEXT(nice)(increment));
}
VERSIONS(nice, GLIBC_2_2_5);
/* For a process group (PRIO_PGRP) the kernel sets the nice values of the processes' initial threads, for a user
 * (PRIO_USER) those of all threads. Both count here as a change for the initial thread, whose number is getpid(). */
INTERPOSE_SCHEDULES(which == PRIO_PROCESS ? (int)(who = (id_t)number_to_set((int)who)) : getpid(), GLIBC_2_2_5, int,
                    setpriority, (__priority_which_t which, id_t who, int value), (which, who, value));
/* If the caller is a root away from home, asks the kernel. The C library would read the area for restartable sequences,
 * in which the kernel keeps the processor of home's kernel thread. */
NEXT(sched_getcpu, int(void));
PS_EXPORT int interposed_sched_getcpu(void)
{
    unsigned cpu;
    if (PS_LIKELY(home_number() == 0))
        return CALL_NEXT(sched_getcpu)();
    be_dedicated(); /* then the caller runs where its home may run */
    return syscall(SYS_getcpu, &cpu, NULL, NULL) == 0 ? (int)cpu : -1;
}
VERSIONS(sched_getcpu, GLIBC_2_6);
/* Defines a call that tells the state of kernel thread `pid`. */
#define INTERPOSE_TELLS(node, name, parameters, arguments) \
    INTERPOSE_AS(pid = number_to_ask(pid), , VERSIONS, node, int, name, parameters, arguments)
INTERPOSE_AS(if (which == PRIO_PROCESS) who = (id_t)number_to_ask((int)who), , VERSIONS, GLIBC_2_2_5, int, getpriority,
             (__priority_which_t which, id_t who), (which, who));
NEXT(sched_setaffinity, int(pid_t, size_t, const cpu_set_t *));
PS_EXPORT int interposed_sched_setaffinity(pid_t pid, size_t bytes, const cpu_set_t *set)
{
    int number = pid == 0 ? home_number() : 0;
    if (PS_UNLIKELY(number != 0) && CALL_NEXT(sched_setaffinity)(number, bytes, set) != 0)
        return -1;
    if (pid == 0)
        be_dedicated(); /* the caller itself is to run on these processors, too */
    else
        pid = ps_number_to_set(pid);
    return inherited(CALL_NEXT(sched_setaffinity)(pid, bytes, set));
}
VERSIONS(sched_setaffinity, GLIBC_2_3_4);
/* If the calling kernel thread is bound to a place, a call with pid 0 asks about this kernel thread, so the answer is
 * the place's processors. */
INTERPOSE_AS(if (pid != 0 || !bind_is_narrow()) pid = number_to_ask(pid), , VERSIONS, GLIBC_2_3_4, int,
             sched_getaffinity, (pid_t pid, size_t bytes, cpu_set_t *set), (pid, bytes, set));
INTERPOSE_SCHEDULES(pid = number_to_set(pid), GLIBC_2_2_5, int, sched_setscheduler,
                    (pid_t pid, int policy, const struct sched_param *param), (pid, policy, param));
INTERPOSE_TELLS(GLIBC_2_2_5, sched_getscheduler, (pid_t pid), (pid));
INTERPOSE_SCHEDULES(pid = number_to_set(pid), GLIBC_2_2_5, int, sched_setparam,
                    (pid_t pid, const struct sched_param *param), (pid, param));
INTERPOSE_TELLS(GLIBC_2_2_5, sched_getparam, (pid_t pid, struct sched_param *param), (pid, param));
INTERPOSE_IF(who == RUSAGE_THREAD && be_counted(), GLIBC_2_2_5, int, getrusage,
             (__rusage_who_t who, struct rusage *usage), (who, usage));
/* Makes the clock's number from a kernel thread's number, as the kernel does. */
clockid_t calls_clock_of(int number) { return (clockid_t)(~(unsigned)number << 3 | 6); }
NEXT(clock_gettime, int(clockid_t, struct timespec *));
/* Reads the clock of the caller's processor time. A root that is away has run on two kernel threads: its time is the
 * sum of home's clock and of the present one's. */
static PS_NOINLINE int own_clock(struct timespec *now)
{
    if (be_counted())
        be_dedicated();
    struct timespec before = {0, 0};
    int number = home_number();
    if (number != 0 && CALL_NEXT(clock_gettime)(calls_clock_of(number), &before) != 0)
        return -1;
    int result = CALL_NEXT(clock_gettime)(CLOCK_THREAD_CPUTIME_ID, now);
    if (result == 0 && number != 0) {
        long ns = now->tv_nsec + before.tv_nsec;
        now->tv_sec += before.tv_sec + ns / 1000000000;
        now->tv_nsec = ns % 1000000000;
    }
    return result;
}
PS_EXPORT int interposed_clock_gettime(clockid_t clock, struct timespec *now)
{
    return PS_UNLIKELY(clock == CLOCK_THREAD_CPUTIME_ID) ? own_clock(now) : CALL_NEXT(clock_gettime)(clock, now);
}
VERSIONS(clock_gettime, GLIBC_2_17);
OLD_VERSION_UNLESS(GLIBC_2_17, clock_gettime, GLIBC_2_2_5);
int calls_number_to_signal(int number)
{
    ps_ready_root_for_signals(NULL, number, 0);
    return ps_number_to_set(number);
}
NEXT(timer_create, int(clockid_t, struct sigevent *, timer_t *));
PS_EXPORT int interposed_timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
    if (clock == CLOCK_THREAD_CPUTIME_ID && be_counted())
        be_dedicated();
    if (event != NULL && event->sigev_notify == SIGEV_THREAD_ID)
        calls_number_to_signal(event->_sigev_un._tid);
    return CALL_NEXT(timer_create)(clock, event, timer);
}
VERSIONS(timer_create, GLIBC_2_34);
OLD_VERSION(timer_create, GLIBC_2_3_3);

/* Reads or writes the name of kernel thread `number`, in /proc. Opens the file with "c" in the mode, so that this is no
 * cancellation point: the C library's functions are none. Returns 0 or an error number. */
#define NAME_BYTES 16 /* with the byte 0 at the end */
static int move_name(int number, const char *mode, char name[NAME_BYTES + 1])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", number);
    FILE *file = fopen(path, mode);
    if (file == NULL)
        return errno;
    bool moved = *mode == 'w' ? fputs(name, file) >= 0 : fgets(name, NAME_BYTES + 1, file) != NULL;
    return fclose(file) == 0 && moved ? 0 : EIO;
}

int calls_set_name(int number, const char *name)
{
    char own[NAME_BYTES + 1];
    if (strlen(name) >= NAME_BYTES)
        return ERANGE;
    return move_name(number, "wce", strcpy(own, name));
}

int calls_get_name(int number, char *to, size_t bytes)
{
    char name[NAME_BYTES + 1];
    int error = move_name(number, "rce", name);
    if (error)
        return error;
    name[strcspn(name, "\n")] = '\0';
    if (strlen(name) >= bytes)
        return ERANGE;
    strcpy(to, name);
    return 0;
}

NEXT(prctl, int(int, ...));
PS_EXPORT int interposed_prctl(int option, ...)
{
    va_list list;
    va_start(list, option);
    unsigned long a = va_arg(list, unsigned long), b = va_arg(list, unsigned long), c = va_arg(list, unsigned long),
                  d = va_arg(list, unsigned long);
    va_end(list);
    int number = option == PR_SET_NAME ? number_to_set(0) : option == PR_GET_NAME ? number_to_ask(0) : 0;
    if (PS_UNLIKELY(number != 0)) {
        char name[NAME_BYTES];
        if (option == PR_SET_NAME)
            snprintf(name, sizeof name, "%s", (const char *)a); /* a longer name is cut off, as by the kernel */
        int error =
            option == PR_SET_NAME ? calls_set_name(number, name) : calls_get_name(number, (char *)a, NAME_BYTES);
        errno = error != 0 ? error : errno;
        return error != 0 ? -1 : 0;
    }
    return CALL_NEXT(prctl)(option, a, b, c, d);
}
VERSIONS(prctl, GLIBC_2_2_5);

/* Returns how system call `number` concerns a thread; -1: it does not. OF_CALLER: the call sets state of the caller.
 * FIRST, SECOND: its first or second argument names a kernel thread, whose state it sets. ASKS, added to these two: it
 * only reads that state. */
#define OF_CALLER 0
#define FIRST 1
#define SECOND 2
#define ASKS 4
static int concerns_thread(long number)
{
    static const struct {
        short call, how;
    } calls[] = {{SYS_rt_sigprocmask, OF_CALLER}, {SYS_perf_event_open, OF_CALLER},
                 {SYS_set_mempolicy, OF_CALLER},  {SYS_prctl, OF_CALLER},
                 {SYS_sched_setaffinity, FIRST},  {SYS_sched_getaffinity, FIRST | ASKS},
                 {SYS_sched_setscheduler, FIRST}, {SYS_sched_getscheduler, FIRST | ASKS},
                 {SYS_sched_setparam, FIRST},     {SYS_sched_getparam, FIRST | ASKS},
                 {SYS_sched_setattr, FIRST},      {SYS_sched_getattr, FIRST | ASKS},
                 {SYS_setpriority, SECOND},       {SYS_getpriority, SECOND | ASKS},
                 {SYS_ioprio_set, SECOND},        {SYS_ioprio_get, SECOND | ASKS}};
    for (unsigned n = 0; n < sizeof calls / sizeof *calls; n++)
        if (number == calls[n].call)
            return calls[n].how;
    return -1;
}

/* Prepares a system call that concerns a thread. named: the argument that names a kernel thread; NULL: the call is
 * about the caller. If the call sets state of the caller, the caller becomes dedicated. Otherwise *named becomes the
 * number of the kernel thread to which the call applies. */
static void reach_thread(long *named, bool asks)
{
    if (named == NULL || (*named == 0 && !asks))
        be_dedicated();
    else
        *named = asks ? number_to_ask((int)*named) : ps_number_to_set((int)*named);
}

/* Not inlined, so that the address of errno is computed anew after a call that may have switched kernel threads. */
PS_NOINLINE long calls_told(long result)
{
    if (result >= 0 || result < -MOST_ERRNO)
        return result;
    errno = (int)-result;
    return -1;
}

/* If the call concerns a thread (concerns_thread, and the calls tested here), makes the caller dedicated, or passes on
 * the number of the right kernel thread. Any other call is passed on unchanged. */
PS_EXPORT long interposed_syscall(long number, ...)
{
    va_list list;
    va_start(list, number);
    long a = va_arg(list, long), b = va_arg(list, long), c = va_arg(list, long), d = va_arg(list, long),
         e = va_arg(list, long), f = va_arg(list, long);
    va_end(list);
    if (number == SYS_perf_event_open && uth_tls_current() == NULL)
        ps_root_counted(cpu_get_tp());
    if (number == SYS_gettid && (b = number_to_ask(0)) != 0)
        return b;
    int how = concerns_thread(number);
    if (how >= 0)
        reach_thread(how & FIRST ? &a : how & SECOND ? &b : NULL, how & ASKS);
    if (number == SYS_clock_gettime && a == CLOCK_THREAD_CPUTIME_ID)
        be_dedicated();
    if ((number == SYS_tgkill || number == SYS_rt_tgsigqueueinfo) && (int)a == getpid() && c != 0)
        b = calls_number_to_signal((int)b);
    long result = os_system_call(number, a, b, c, d, e, f);
    if (number == SYS_rt_sigprocmask || number == SYS_sched_setaffinity)
        ps_root_changed();
    return calls_told(result);
}
VERSIONS(syscall, GLIBC_2_2_5);
