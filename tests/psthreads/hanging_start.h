/* Kernel threads' starts that hang, or are refused, as a test says. The linker puts __wrap_os_thread_start in the place
 * of os.h's function (CMakeLists.txt). */
#ifndef PS_TESTS_HANGING_START_H
#define PS_TESTS_HANGING_START_H

#include "atomic.h"
#include "os.h"

#include <errno.h>
#include <unistd.h>

static _Atomic bool hangs, refused;
static _Atomic unsigned hanging;

/* A start hangs, for example, where the dynamic linker's lock is held. */
int __real_os_thread_start(os_thread *out, void *(*fn)(void *), void *arg, size_t stack_bytes, bool block_signals);
int __wrap_os_thread_start(os_thread *out, void *(*fn)(void *), void *arg, size_t stack_bytes, bool block_signals);
int __wrap_os_thread_start(os_thread *out, void *(*fn)(void *), void *arg, size_t stack_bytes, bool block_signals)
{
    ps_add_seq(&hanging, 1);
    while (ps_load_acquire(&hangs))
        usleep(1000);
    ps_sub_seq(&hanging, 1);
    if (ps_load_acquire(&refused))
        return EAGAIN;
    return __real_os_thread_start(out, fn, arg, stack_bytes, block_signals);
}

#endif
