/* The dynamic linker: callbacks under its lock, and objects that it has loaded. See calls.h. */
#define _GNU_SOURCE
#include "calls.h"

#include <link.h>

#include "../standby.h"

/* --- callbacks that keep others from starting kernel threads --- */

/* A callback may be unwound (an exception, cancellation): then there is a runtime for that, and else it is not asked
 * for (once.c). */
__asm__(".weak _Unwind_Resume\n\t.weak __gcc_personality_v0");

NEXT(dl_iterate_phdr, int(int (*)(struct dl_phdr_info *, size_t, void *), void *));
typedef int object_visitor(struct dl_phdr_info *info, size_t bytes, void *arg);
static void leave_callback(const uint32_t *entered) { standby_leave(*entered); }
PS_EXPORT int answer_dl_iterate_phdr(object_visitor *visitor, void *arg)
{
    PS_UNUSED __attribute__((cleanup(leave_callback))) uint32_t entered = standby_enter((uintptr_t)visitor);
    return CALL_NEXT(dl_iterate_phdr)(visitor, arg);
}
VERSIONS(dl_iterate_phdr, "GLIBC_2.2.5");

/* --- objects that begin --- */

/* The first function of each object (_init, of the C library's crti.o) calls __gmon_start__ where there is one, for the
 * sake of gprof. The dynamic linker has relocated the object by then, and all that it loads with it; none of their code
 * has run: constructors come behind. The C library has initialised their thread-local variables in the threads that it
 * knows. A program that is built for gprof has a __gmon_start__ of its own, which is found first; an object without
 * crti.o calls none. Then that is seen to at the next region.
 * Rejected: to answer dlopen (it finds libraries by the address of its caller, and constructors run in the middle of
 * it). To put threads in the C library's lists (setxid and debuggers take every entry for a kernel thread). */
PS_EXPORT void answer___gmon_start__(void) { uth_tls_object_begins(__builtin_return_address(0)); }
VERSIONS(__gmon_start__, "GLIBC_2.2.5");
