/* Learns of each object that the dynamic linker loads, before its code runs. See calls.h. */
#define _GNU_SOURCE
#include "calls.h"

#include "layer.h"

/* Called by the first function of most objects (_init, of the C library's crti.o), which calls __gmon_start__ for gprof
 * if it is defined. By then the dynamic linker has relocated the object and all that it loads with it, and none of
 * their code has run: constructors come later. The C library has initialised the objects' thread-local variables in the
 * threads that it knows, and blocks get theirs here.
 * Some objects do not call this function: where a program is built for gprof, its own __gmon_start__ is found first; an
 * object without crti.o has no such call; on RISC-V there is no _init. These objects are found when a later outermost
 * region begins. Rejected: to interpose dlopen (it finds libraries by the address of its caller, and constructors run
 * in the middle of it). To put threads into the C library's lists (setxid and debuggers take every entry for a kernel
 * thread). */
PS_EXPORT void interposed___gmon_start__(void)
{
    const void *code = __builtin_return_address(0);
    uth_tls_object_begins(code);
    void (*told)(const void *) = ps_load_acquire(&ps_layer_object);
    if (told)
        told(code);
}
VERSIONS(__gmon_start__, GLIBC_2_2_5);
