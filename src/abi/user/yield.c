/* The C library's sched_yield, interposed for the program's OpenMP threads: the caller's vp runs another ready thread.
 *
 * Programs and libraries wait for one another's flags by calling sched_yield between two reads (OpenBLAS's teams do).
 * With more threads than processors, the thread that waits and the thread that sets the flag may be on the same vp. The
 * second is then ready behind the first. The kernel does not know that: its sched_yield would give the processor back
 * to the same kernel thread, and only the watchdog would help, some milliseconds later. A caller that is no OpenMP
 * thread gets the kernel's sched_yield and nothing else. The dynamic linker finds this function before the C library's,
 * because the C library comes last in a program's search order. In a program with another order the watchdog helps. Not
 * async-signal-safe, as POSIX allows. The runtime itself yields by the system call (os_yield), so it does not come
 * here. The build on POSIX primitives alone has no such function. */
#include "user.h"

#include "ee.h"

#if !PS_PORTABLE

#include <sys/syscall.h>
#include <unistd.h>

PS_EXPORT int sched_yield(void);
PS_EXPORT int sched_yield(void)
{
    if (ee_local())
        ee_yield(); /* yields the kernel thread too if no thread is ready */
    else
        syscall(SYS_sched_yield);
    return 0;
}

#endif
