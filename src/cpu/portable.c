/* The thread pointer of the ports without assembly: read, never set. Their contexts use the kernel thread's own
 * thread-local storage; a caller that asks cpu_tp_settable first never calls cpu_set_tp. */
#include "check.h"
#include "cpu.h"

bool cpu_tp_settable(void) { return false; }

void *cpu_get_tp(void) { return __builtin_thread_pointer(); }

void cpu_set_tp(void *tp) { ps_fatal("the context port %s cannot set the thread pointer (to %p)", CPU_PORT_NAME, tp); }
