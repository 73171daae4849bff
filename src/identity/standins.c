/* For static programs alone (src/abi/static/loader.c): what this room calls where the C library's function has no
 * second name in libc.a. Ours has the first name then, so the C library's is not linked in, and these do its work: by
 * system calls, for a kernel thread. */
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

/* A kernel thread's number stands in the number of its clock, as the kernel makes that. */
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

/* The kernel tells 20 less the value. */
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
