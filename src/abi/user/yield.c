/* sched_yield of the C library, interposed for the program's OpenMP threads: the caller's virtual processor runs
 * another ready thread.
 *
 * Programs and libraries wait for one another's flags with sched_yield between two looks (OpenBLAS's teams do). With
 * more threads than processors, both may be on the same virtual processor, and the thread that sets the flag then
 * stands behind the one that waits. The kernel does not know that: it would give the processor back to the same thread,
 * and only the watchdog would help, some milliseconds later. A caller that is no OpenMP thread gets the kernel's
 * sched_yield and nothing else. Found before the C library's because a program's libraries are searched in order, and
 * the C library comes last; where it does not, the program has the kernel's, and the watchdog. Not async-signal-safe,
 * as POSIX has it.
 * The runtime itself yields by the system call (os_yield): this must not call itself. The build on POSIX primitives
 * alone has no system call, and does without this. */
#include "user.h"

#include "ee.h"

#if !PS_PORTABLE

#include <sys/syscall.h>
#include <unistd.h>

PS_EXPORT int sched_yield(void);
PS_EXPORT int sched_yield(void)
{
    if (ee_local())
        ee_yield(); /* falls back to the kernel's */
    else
        syscall(SYS_sched_yield);
    return 0;
}

#endif
