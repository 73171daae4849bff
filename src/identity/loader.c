/* The dynamic linker: objects that begin. See calls.h. */
#define _GNU_SOURCE
#include "calls.h"

#include "layer.h"

/* The first function of each object (_init, of the C library's crti.o) calls __gmon_start__ if it is defined, for
 * gprof. By then the dynamic linker has relocated the object and all that it loads with it. None of their code has run:
 * constructors come later. The C library has initialised their thread-local variables in the threads that it knows. A
 * program that is built for gprof has a __gmon_start__ of its own, which is found first; an object without crti.o calls
 * none, nor does any on RISC-V, where there is no _init. In these cases the next region finds the object. Rejected:
 * interposing dlopen (it finds libraries by the address of its caller, and constructors run in the middle of it).
 * Putting threads in the C library's lists (setxid and debuggers take every entry for a kernel thread). */
PS_EXPORT void interposed___gmon_start__(void)
{
    const void *code = __builtin_return_address(0);
    uth_tls_object_begins(code);
    void (*told)(const void *) = ps_load_acquire(&ps_layer_object);
    if (told)
        told(code);
}
VERSIONS(__gmon_start__, GLIBC_2_2_5);
