/* The functions of the dynamic linker that the runtime calls, for libgomp.a and libomp.a: a static program has no
 * dynamic linker.
 *
 * Does: dlsym finds the names in the tables below, whose addresses are filled in when the program is linked. For
 * other names it returns NULL; the runtime can do without those. Most names for RTLD_DEFAULT are weak references:
 * for such a name that the program does not have, dlsym returns NULL. Does not: open libraries. The functions are
 * hidden, and local in the archive, so the program's own calls go to the C library. Rejected: the C library's own
 * functions. Its dlsym finds no name in a static program, and a call of its dlopen makes the linker print a warning. */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <resolv.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* libc.a may hide some of these names from other libraries, but not from the program that it is linked into. */
#define NAMES(N)                             \
    N(_dl_allocate_tls)                      \
    N(_dl_deallocate_tls)                    \
    N(_dl_allocate_tls_init)                 \
    N(__ctype_init)                          \
    N(__libc_thread_freeres)                 \
    N(__pthread_keys)                        \
    N(__rseq_offset)                         \
    N(__rseq_size)                           \
    N(_thread_db_sizeof_pthread)             \
    N(_thread_db_pthread_tid)                \
    N(_thread_db_pthread_list)               \
    N(_thread_db_pthread_specific)           \
    N(__asan_init)                           \
    N(__tsan_init)                           \
    N(__lsan_init)                           \
    N(fetestexcept)                          \
    N(fegetexceptflag)                       \
    N(__ieee_exceptions_MOD_ieee_get_flag)   \
    N(__ieee_exceptions_MOD_ieee_get_status) \
    N(GOMP_parallel)                         \
    N(ompt_start_tool)

#define DECLARE(name) extern char here_##name[] __asm__(#name) __attribute__((weak));
NAMES(DECLARE)
extern char here_call_tls_dtors[] __asm__("__call_tls_dtors") __attribute__((weak));
extern char here_dl_load_adds[] __asm__("_dl_load_adds") __attribute__((weak));

/* Stands for the C library's __call_tls_dtors, which is not linked in if the program has no thread_local objects. */
static void no_destructors(void) {}

#ifdef PS_CALLS
/* Functions of the C library that functions of src/identity replace. The replacement calls the original, which it finds
 * by dlsym(RTLD_NEXT, NAME). This works in a static program because libc.a has the original under two names: the usual
 * one is weak, so the replacement takes its place, and the second name still leads to the original. A function for
 * which this does not hold is not interposed (src/abi/symbols.txt), or has a stand-in (src/identity/standins.c). */
#define BEHIND(name, second) extern char behind_##name[] __asm__(#second);
#include "static_behind.inc"
#undef BEHIND
#endif

struct entry {
    const char *name;
    void *address;
};

static void *find(const struct entry *table, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(table[i].name, name) == 0)
            return table[i].address;
    return NULL;
}

#define ENTRY(name) {#name, here_##name},
HIDDEN void *dlsym(void *handle, const char *name)
{
    /* In a static program the dynamic linker's count of loaded objects is the variable _dl_load_adds. The runtime asks
     * for it by the name _rtld_global. */
    const struct entry here[] = {
        NAMES(ENTRY){"__res_state", (void *)__res_state},
        {"pthread_getattr_np", (void *)pthread_getattr_np},
        {"_rtld_global", here_dl_load_adds},
        {"__call_tls_dtors", here_call_tls_dtors ? here_call_tls_dtors : (void *)no_destructors}};
    const struct entry behind[] = {
#ifdef PS_CALLS
#define BEHIND(name, second) {#name, behind_##name},
#include "static_behind.inc"
#endif
        {"", NULL}};
    return handle == RTLD_DEFAULT ? find(here, sizeof here / sizeof *here, name)
           : handle == RTLD_NEXT  ? find(behind, sizeof behind / sizeof *behind, name)
                                  : NULL;
}

/* The runtime calls this only for the address of _rtld_global. *extra gets a symbol with the variable's size. Returns 0
 * for other addresses. */
HIDDEN int dladdr1(const void *address, Dl_info *info, void **extra, int flags)
{
    static ElfW(Sym) count = {.st_size = sizeof(unsigned long long)};
    (void)flags;
    if (address != here_dl_load_adds)
        return 0;
    *info = (Dl_info){.dli_saddr = here_dl_load_adds};
    *extra = &count;
    return 1;
}

/* Finds no library for any address, since there are none. */
HIDDEN int dladdr(const void *address, Dl_info *info)
{
    (void)address;
    (void)info;
    return 0;
}

HIDDEN void *dlopen(const char *file, int mode)
{
    (void)file;
    (void)mode;
    return NULL;
}

HIDDEN int dlclose(void *handle)
{
    (void)handle;
    return -1;
}

HIDDEN char *dlerror(void) { return "the runtime is linked into the program, and opens no libraries"; }

/* The compilers' own libraries (libgfortran, libgcc) refer to these functions weakly. If the program has
 * pthread_create, these libraries assume that all of the functions exist. So the references here link them in. */
static void *const wanted[] __attribute__((used)) = {
    (void *)pthread_cond_broadcast,
    (void *)pthread_cond_destroy,
    (void *)pthread_cond_init,
    (void *)pthread_cond_signal,
    (void *)pthread_cond_timedwait,
    (void *)pthread_cond_wait,
    (void *)pthread_detach,
    (void *)pthread_equal,
    (void *)pthread_getspecific,
    (void *)pthread_join,
    (void *)pthread_key_create,
    (void *)pthread_key_delete,
    (void *)pthread_mutex_destroy,
    (void *)pthread_mutex_init,
    (void *)pthread_mutex_lock,
    (void *)pthread_mutex_timedlock,
    (void *)pthread_mutex_trylock,
    (void *)pthread_mutex_unlock,
    (void *)pthread_mutexattr_destroy,
    (void *)pthread_mutexattr_init,
    (void *)pthread_mutexattr_settype,
    (void *)pthread_once,
    (void *)pthread_rwlock_rdlock,
    (void *)pthread_rwlock_tryrdlock,
    (void *)pthread_rwlock_trywrlock,
    (void *)pthread_rwlock_unlock,
    (void *)pthread_rwlock_wrlock,
    (void *)pthread_self,
    (void *)pthread_setspecific,
    (void *)pthread_sigmask,
};
