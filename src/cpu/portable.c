/* The thread pointer of the ports without assembly can be read and is never set, because their contexts use the
 * thread-local storage of a kernel thread. Callers ask cpu_tp_settable first, and do not call cpu_set_tp when it
 * returns false. */
#include "check.h"
#include "cpu.h"

bool cpu_tp_settable(void) { return false; }

void *cpu_get_tp(void) { return __builtin_thread_pointer(); }

void cpu_set_tp(void *tp) { ps_fatal("the context port %s cannot set the thread pointer (to %p)", CPU_PORT_NAME, tp); }
