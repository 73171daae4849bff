/* Preloaded: lets calls that the OpenMP runtime makes fail as the system would. Calls by anybody else, the C library
 * included, are left alone: the return address tells.
 *
 * REFUSE=NAME:ERROR:FIRST:COUNT - the calls FIRST, FIRST+1, ... of NAME (the first is 0), COUNT of them, fail with
 * errno ERROR; a system call through syscall() has the name that stands in its wrapper. REFUSE_LOG=FILE - at the end,
 * "NAME calls refused" for each. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* clang-format off */
#define NAMES(X) \
    X(mmap) X(mprotect) X(munmap) X(madvise) X(pthread_create) X(pthread_getattr_np) \
    X(pthread_key_create) X(sigaction) X(sigaltstack) X(pthread_sigmask) X(prctl) X(getrlimit) \
    X(open) X(read) X(fopen) X(dlopen) X(malloc) X(calloc) X(realloc) X(aligned_alloc) \
    X(posix_memalign) X(_dl_allocate_tls) X(sched_getcpu) X(clock_getres) X(open_memstream) \
    X(gethostname) X(futex_wait) X(sched_yield) X(tgkill) X(sched_getaffinity) X(sched_setaffinity) \
    X(rseq) X(get_robust_list) X(mlock) X(mbind) X(get_mempolicy) X(other_syscall)
/* clang-format on */

enum {
#define X(name) N_##name,
    NAMES(X)
#undef X
        COUNT
};
static const char *const names[COUNT] = {
#define X(name) #name,
    NAMES(X)
#undef X
};
static long calls[COUNT], refused[COUNT];
static int which = -1, error_number;
static long first, how_many;
static char *low, *high; /* the runtime's code */

static int find_runtime(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    (void)bytes;
    (void)arg;
    if (!info->dlpi_name || (!strstr(info->dlpi_name, "libgomp") && !strstr(info->dlpi_name, "libomp")))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
            low = (char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            high = low + info->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

/* The first caller of anything calls this: constructors of the runtime may run before one of this object. */
static void prepare(void)
{
    static int prepared;
    if (prepared)
        return;
    prepared = 1;
    dl_iterate_phdr(find_runtime, NULL);
    const char *text = getenv("REFUSE");
    char name[64];
    if (text && sscanf(text, "%63[^:]:%d:%ld:%ld", name, &error_number, &first, &how_many) == 4)
        for (int i = 0; i < COUNT; i++)
            if (!strcmp(names[i], name))
                which = i;
}

static int refuse(int number, const void *caller)
{
    prepare();
    if ((const char *)caller < low || (const char *)caller >= high)
        return 0;
    long n = __atomic_fetch_add(&calls[number], 1, __ATOMIC_RELAXED);
    if (number != which || n < first || n - first >= how_many)
        return 0;
    __atomic_fetch_add(&refused[number], 1, __ATOMIC_RELAXED);
    errno = error_number;
    return 1;
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("REFUSE_LOG");
    FILE *f = path ? fopen(path, "w") : NULL;
    for (int i = 0; f && i < COUNT; i++)
        fprintf(f, "%s %ld %ld\n", names[i], calls[i], refused[i]);
    if (f)
        fclose(f);
}

#define NEXT(name) ((__typeof__(&name))next(#name, &next_##name))
static void *next(const char *name, void **cached)
{
    if (!*cached)
        *cached = dlsym(RTLD_NEXT, name);
    return *cached;
}
#define CALLER __builtin_return_address(0)

/* RESULT NAME(PARAMETERS), called on with ARGUMENTS, answers FAILURE when refused. */
#define WRAP(result, name, parameters, arguments, failure) \
    static void *next_##name;                              \
    result name parameters                                 \
    {                                                      \
        if (refuse(N_##name, CALLER))                      \
            return failure;                                \
        return NEXT(name) arguments;                       \
    }

#pragma GCC visibility push(default)
void *_dl_allocate_tls(void *tcb);
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

WRAP(void *, mmap, (void *p, size_t n, int prot, int flags, int fd, off_t at), (p, n, prot, flags, fd, at), MAP_FAILED)
WRAP(int, mprotect, (void *p, size_t n, int prot), (p, n, prot), -1)
WRAP(int, munmap, (void *p, size_t n), (p, n), -1)
WRAP(int, madvise, (void *p, size_t n, int advice), (p, n, advice), -1)
WRAP(int, pthread_create, (pthread_t * t, const pthread_attr_t *a, void *(*f)(void *), void *arg), (t, a, f, arg),
     error_number)
WRAP(int, pthread_getattr_np, (pthread_t t, pthread_attr_t *a), (t, a), error_number)
WRAP(int, pthread_key_create, (pthread_key_t * k, void (*f)(void *)), (k, f), error_number)
WRAP(int, sigaction, (int n, const struct sigaction *a, struct sigaction *o), (n, a, o), -1)
WRAP(int, sigaltstack, (const stack_t *a, stack_t *o), (a, o), -1)
WRAP(int, pthread_sigmask, (int how, const sigset_t *a, sigset_t *o), (how, a, o), error_number)
WRAP(int, getrlimit, (__rlimit_resource_t what, struct rlimit *r), (what, r), -1)
WRAP(ssize_t, read, (int fd, void *p, size_t n), (fd, p, n), -1)
WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL)
WRAP(void *, dlopen, (const char *path, int flags), (path, flags), NULL)
WRAP(void *, _dl_allocate_tls, (void *tcb), (tcb), NULL)
WRAP(int, sched_getcpu, (void), (), -1)
WRAP(int, clock_getres, (clockid_t c, struct timespec *t), (c, t), -1)
WRAP(FILE *, open_memstream, (char **p, size_t *n), (p, n), NULL)
WRAP(int, gethostname, (char *p, size_t n), (p, n), -1)

/* malloc and its like may be called before dlsym can be. */
void *malloc(size_t n) { return refuse(N_malloc, CALLER) ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t m) { return refuse(N_calloc, CALLER) ? NULL : __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { return refuse(N_realloc, CALLER) ? NULL : __libc_realloc(p, n); }
void *aligned_alloc(size_t a, size_t n) { return refuse(N_aligned_alloc, CALLER) ? NULL : __libc_memalign(a, n); }
int posix_memalign(void **p, size_t a, size_t n)
{
    if (refuse(N_posix_memalign, CALLER))
        return error_number;
    *p = __libc_memalign(a, n);
    return *p ? 0 : ENOMEM;
}

static void *next_prctl, *next_open, *next_syscall;
int prctl(int option, ...)
{
    va_list ap;
    va_start(ap, option);
    unsigned long a = va_arg(ap, unsigned long), b = va_arg(ap, unsigned long), c = va_arg(ap, unsigned long),
                  d = va_arg(ap, unsigned long);
    va_end(ap);
    return refuse(N_prctl, CALLER) ? -1 : NEXT(prctl)(option, a, b, c, d);
}

int open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = va_arg(ap, mode_t);
    va_end(ap);
    return refuse(N_open, CALLER) ? -1 : NEXT(open)(path, flags, mode);
}

static int number_of(long call, long second)
{
    switch (call) {
    case SYS_futex:
        return (second & 0x7f) == FUTEX_WAIT ? N_futex_wait : -1; /* a wake never fails */
    case SYS_sched_yield:
        return N_sched_yield;
    case SYS_tgkill:
        return N_tgkill;
    case SYS_sched_getaffinity:
        return N_sched_getaffinity;
    case SYS_sched_setaffinity:
        return N_sched_setaffinity;
#ifdef SYS_rseq
    case SYS_rseq:
        return N_rseq;
#endif
    case SYS_get_robust_list:
        return N_get_robust_list;
    case SYS_mlock:
        return N_mlock;
    case SYS_mbind:
        return N_mbind;
    case SYS_get_mempolicy:
        return N_get_mempolicy;
    case SYS_gettid:
        return -1; /* cannot fail */
    default:
        return N_other_syscall;
    }
}

long syscall(long call, ...)
{
    va_list ap;
    va_start(ap, call);
    long a[6];
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(ap, long);
    va_end(ap);
    int number = number_of(call, a[1]);
    if (number >= 0 && refuse(number, CALLER))
        return -1;
    return NEXT(syscall)(call, a[0], a[1], a[2], a[3], a[4], a[5]);
}
