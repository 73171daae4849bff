/* The C library's functions behind those of this folder. See calls.h. */
#define _GNU_SOURCE
#include "calls.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#if defined(__GLIBC__)
#include <gnu/lib-names.h>
#else
#define LIBPTHREAD_SO "libc.so"
#define LIBC_SO LIBPTHREAD_SO
#endif

extern struct next __start_ps_next[], __stop_ps_next[];

/* Where the C library comes before the runtime there is nothing behind. The C library comes first if a library of the
 * program's is opened late, or if a library of its libraries wants the runtime. Then the C library answers: before
 * glibc 2.34 by libpthread. */
static void *look_behind(const char *name)
{
    static const char *const c_library[] = {LIBPTHREAD_SO, LIBC_SO};
    void *function = dlsym(RTLD_NEXT, name);
    for (unsigned i = 0; i < 2 && function == NULL; i++) {
        void *library = dlopen(c_library[i], RTLD_LAZY | RTLD_NOLOAD);
        if (library == NULL)
            continue;
        function = dlsym(library, name);
        dlclose(library);
    }
    return function;
}

/* Runs first of all constructors: others may call these functions, and threads may begin in them, which is when blocks
 * are made. */
int interposed_pthread_getattr_np(pthread_t thread, pthread_attr_t *attr);
__attribute__((constructor(101))) static void look_up(void)
{
    for (struct next *next = __start_ps_next; next < __stop_ps_next; next++)
        next->function = look_behind(next->name);
    /* Not done where the program finds the C library's function first: then a block's number is nothing that the
     * program could hand on to the kernel. */
    if (dlsym(RTLD_DEFAULT, "pthread_getattr_np") == (void *)interposed_pthread_getattr_np)
        uth_tls_number_blocks();
}

/* Before look_up, objects' functions for indirect symbols may have run, on the only thread: they look here. */
void *ps_calls_next(struct next *next)
{
    if (PS_UNLIKELY(next->function == NULL))
        next->function = look_behind(next->name);
    return next->function;
}
