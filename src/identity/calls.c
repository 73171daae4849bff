/* Looks up the C library's functions that the functions of this folder stand before. See calls.h. */
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

/* Returns the C library's function `name`. Normally dlsym finds it in the libraries behind the runtime (RTLD_NEXT). It
 * finds none if the C library comes before the runtime in the order of the search. That is so if the program loads the
 * runtime by dlopen, or if not the program but a library below it needs the runtime. Then the function is looked up in
 * the C library by its file name; before glibc 2.34 libpthread has some of the functions. */
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

int interposed_pthread_getattr_np(pthread_t thread, pthread_attr_t *attr);

/* Looks up the C library's functions for all entries of the section ps_next. Runs before constructors without a
 * priority, because these may call the interposed functions. */
__attribute__((constructor(101))) static void look_up(void)
{
    for (struct next *next = __start_ps_next; next < __stop_ps_next; next++)
        next->function = look_behind(next->name);
    /* Threads in blocks get numbers of their own only if the program's calls reach the interposed functions. Otherwise
     * the program could pass such a number to the kernel, which does not know it. */
    if (dlsym(RTLD_DEFAULT, "pthread_getattr_np") == (void *)interposed_pthread_getattr_np)
        uth_tls_number_blocks();
}

/* Returns the C library's function of this entry, which look_up has normally found. Before look_up runs, resolvers of
 * indirect functions (ifunc) may call interposed functions, on the only thread. Then the function is looked up here. */
void *ps_calls_next(struct next *next)
{
    if (PS_UNLIKELY(next->function == NULL))
        next->function = look_behind(next->name);
    return next->function;
}
