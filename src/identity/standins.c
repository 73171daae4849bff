/* Stand-ins for functions of the C library, for static programs only (src/abi/static/loader.c). In a static program the
 * interposed function has the C library's name, so the C library's function can be called only by a second name. Where
 * libc.a has no second name for it, this file does its work: by system calls, for a kernel thread. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "os.h"

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN int static_getschedparam(pthread_t thread, int *policy, struct sched_param *param);
HIDDEN int static_setschedparam(pthread_t thread, int policy, const struct sched_param *param);
HIDDEN int static_getcpu(void);
HIDDEN int static_nice(int increment);
extern int clock_of_thread(pthread_t thread, clockid_t *clock) __asm__("__pthread_getcpuclockid");

/* Returns the number of a kernel thread, which the kernel has made part of the number of the thread's clock. -1: an
 * error. */
static int number_of_kernel_thread(pthread_t thread)
{
    clockid_t clock;
    return clock_of_thread(thread, &clock) == 0 ? ~(clock >> 3) : -1;
}

int static_getschedparam(pthread_t thread, int *policy, struct sched_param *param)
{
    int number = number_of_kernel_thread(thread);
    *policy = (int)os_system_call(SYS_sched_getscheduler, number, 0, 0, 0, 0, 0);
    return *policy < 0 ? -*policy : (int)-os_system_call(SYS_sched_getparam, number, (long)param, 0, 0, 0, 0);
}

int static_setschedparam(pthread_t thread, int policy, const struct sched_param *param)
{
    return (int)-os_system_call(SYS_sched_setscheduler, number_of_kernel_thread(thread), policy, (long)param, 0, 0, 0);
}

int static_getcpu(void)
{
    unsigned cpu;
    return os_system_call(SYS_getcpu, (long)&cpu, 0, 0, 0, 0, 0) == 0 ? (int)cpu : -1;
}

/* The system call returns 20 minus the nice value, so that its result is never negative. */
int static_nice(int increment)
{
    int value = 20 - (int)os_system_call(SYS_getpriority, PRIO_PROCESS, 0, 0, 0, 0, 0) + increment;
    value = value < -20 ? -20 : value > 19 ? 19 : value;
    long result = os_system_call(SYS_setpriority, PRIO_PROCESS, 0, value, 0, 0, 0);
    if (result == 0)
        return value;
    errno = result == -EACCES ? EPERM : (int)-result;
    return -1;
}
