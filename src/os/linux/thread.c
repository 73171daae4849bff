/* Kernel threads: start, join, detach, number, name.
 *
 * Does: starts kernel threads through the C library, so that thread-local storage, malloc and debuggers know them. Does
 * not: pool them, bind them (processors.c), or decide how many there are.
 * Callers: any thread, on any stack. With block_signals, all signals are blocked on the calling kernel thread while it
 * makes the new one.
 * States of a handle: started -> joined or detached, once; afterwards the handle is invalid.
 * Failures: EAGAIN if the system refuses a thread for any reason. Cost: some tens of microseconds.
 *
 * The name is set by prctl, not pthread_setname_np: the caller's thread pointer may be that of a user-level thread's
 * block.
 * Rejected: raw clone (no C library in the thread: no malloc, no dlopen, no errno). pthread_attr_setsigmask_np (glibc
 * only). */
#include "os.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "file.h"
#include "fork_gate.h"
#include "raw.h"

#define BOUNDLESS_STACK ((size_t)1 << 30)  /* the most that counts as the initial thread's stack */
#define UNLIMITED_STACK ((size_t)64 << 20) /* a thread's stack, at least, where `ulimit -s` has no limit */
#define LARGEST_STACK ((size_t)4 << 30)    /* thousands of such stacks fit in the address space */

_Static_assert(sizeof(pthread_t) <= sizeof(os_thread), "a handle must hold the C library's");

/* Sets the stack size in attr. If the C library refuses the size, its default stays. */
static void ask_stack(pthread_attr_t *attr, size_t bytes)
{
    size_t page = os_page_size();
    if (bytes < (size_t)PTHREAD_STACK_MIN)
        bytes = (size_t)PTHREAD_STACK_MIN;
    if (bytes <= SIZE_MAX - page)
        pthread_attr_setstacksize(attr, (bytes + page - 1) / page * page);
}

static __thread volatile bool is_starting;
bool os_thread_is_starting(void) { return is_starting; }

static int create_kernel_thread_as(os_thread *out, void *(*start)(void *), void *arg, size_t stack_bytes)
{
    pthread_t t;
    int rc;
    is_starting = true;
    if (stack_bytes == 0) {
        rc = pthread_create(&t, NULL, start, arg);
    } else {
        pthread_attr_t attr;
        pthread_attr_init(&attr);
        ask_stack(&attr, stack_bytes);
        rc = pthread_create(&t, &attr, start, arg);
        pthread_attr_destroy(&attr);
        if (rc == EINVAL) /* the stack is smaller than the program's static thread-local storage */
            rc = pthread_create(&t, NULL, start, arg);
    }
    is_starting = false;
    if (rc != 0)
        return EAGAIN;
    *out = (os_thread)t;
    return 0;
}

static int create_kernel_thread(os_thread *out, void *(*start)(void *), void *arg, size_t stack_bytes)
{
    uint64_t mask;
    void *making = fork_gate_making(start, arg, &mask);
    if (PS_LIKELY(making == NULL))
        return create_kernel_thread_as(out, start, arg, stack_bytes);
    int rc = create_kernel_thread_as(out, fork_gate_begin, making, stack_bytes);
    fork_gate_made(making, rc != 0, mask);
    return rc;
}

/* Sets the kernel thread's mask by a system call, whatever thread of the program it carries. */
static void set_signal_mask(const sigset_t *set, sigset_t *before)
{
    raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)set, (long)before, KERNEL_MASK_BYTES);
}

int os_thread_start(os_thread *out, void *(*start)(void *), void *arg, size_t stack_bytes, bool block_signals)
{
    if (!block_signals)
        return create_kernel_thread(out, start, arg, stack_bytes);
    /* The new thread inherits the mask. So all signals are blocked during the creation: none can arrive there before
     * start() runs. */
    sigset_t all, before;
    sigfillset(&all);
    set_signal_mask(&all, &before);
    int rc = create_kernel_thread(out, start, arg, stack_bytes);
    set_signal_mask(&before, NULL);
    return rc;
}

static uint64_t deferred; /* the mask that os_signals_keep stores (os.h) */
void os_signals_keep(uint64_t mask) { deferred = mask; }
uint64_t os_signals_deferred(void) { return deferred; }

uint64_t os_signal_mask(void)
{
    uint64_t mask = 0;
    raw_call(SYS_rt_sigprocmask, SIG_SETMASK, 0, (long)&mask, KERNEL_MASK_BYTES);
    return mask;
}
void os_set_signal_mask(uint64_t mask) { raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, KERNEL_MASK_BYTES); }
uint64_t os_swap_signal_mask(uint64_t mask)
{
    uint64_t before = 0;
    raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, (long)&before, KERNEL_MASK_BYTES);
    return before;
}

int os_alternate_stack(const void *stack, void *before)
{
    return (int)-raw_call(SYS_sigaltstack, (long)stack, (long)before, 0, 0);
}

void os_thread_join(os_thread t)
{
    uint64_t mask;
    int cancelable; /* if the calling thread of the program is cancelled, it must not end here */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    bool gated = fork_gate_joining(&mask);
    pthread_join((pthread_t)t, NULL);
    if (PS_UNLIKELY(gated))
        fork_gate_joined(mask);
    pthread_setcancelstate(cancelable, NULL);
}

void os_thread_detach(os_thread t) { pthread_detach((pthread_t)t); }

int os_thread_id(void) { return (int)raw_call(SYS_gettid, 0, 0, 0, 0); }

/* The initial thread's stack. Its top is taken to be the bytes of AT_RANDOM, which the kernel puts above the first
 * frame. (pthread_getattr_np would read a whole file for that.) */
static bool initial_stack(uintptr_t *top, size_t *bytes)
{
    struct rlimit limit;
    *top = (uintptr_t)getauxval(AT_RANDOM);
    if (*top == 0 || getrlimit(RLIMIT_STACK, &limit) != 0)
        return false;
    *bytes = limit.rlim_cur > BOUNDLESS_STACK ? BOUNDLESS_STACK : (size_t)limit.rlim_cur;
    return true;
}

bool os_thread_stack(uintptr_t *top, size_t *bytes)
{
    if (os_thread_id() == (int)getpid())
        return initial_stack(top, bytes);
    pthread_attr_t attr;
    void *low = NULL;
    if (pthread_getattr_np(pthread_self(), &attr) != 0)
        return false;
    bool known = pthread_attr_getstack(&attr, &low, bytes) == 0;
    pthread_attr_destroy(&attr);
    *top = (uintptr_t)low + *bytes;
    return known;
}

size_t os_thread_default_stack(void)
{
    struct rlimit limit;
    pthread_attr_t attr;
    size_t bytes = 0;
    if (pthread_getattr_default_np(&attr) == 0) {
        pthread_attr_getstacksize(&attr, &bytes);
        pthread_attr_destroy(&attr);
    }
    bool bounded = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    if (bytes > LARGEST_STACK)
        return LARGEST_STACK;
    return bounded && bytes != 0 ? bytes : bytes > UNLIMITED_STACK ? bytes : UNLIMITED_STACK;
}

void os_thread_name(const char *name)
{
    raw_call(SYS_prctl, PR_SET_NAME, (long)(name ? name : program_invocation_short_name), 0, 0);
}

struct kernel_attributes { /* the kernel's struct sched_attr, version 0 */
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

bool os_scheduling(struct os_scheduling *own)
{
    struct kernel_attributes a = {.size = sizeof a};
    if (raw_call(SYS_sched_getattr, 0, (long)&a, sizeof a, 0) < 0)
        return false;
    *own = (struct os_scheduling){(int)a.policy, a.nice, (int)a.priority};
    return true;
}

#define ROBUST_LIST_BYTES (3 * sizeof(void *))

void *os_robust_list(void)
{
    void *head = NULL;
    size_t bytes;
    return raw_call(SYS_get_robust_list, 0, (long)&head, (long)&bytes, 0) == 0 ? head : NULL;
}
void os_set_robust_list(void *head) { raw_call(SYS_set_robust_list, (long)head, ROBUST_LIST_BYTES, 0, 0); }

#define RSEQ_UNREGISTER 1
void os_rseq_forget(void *area, size_t bytes, unsigned signature)
{
    raw_call(SYS_rseq, (long)area, (long)bytes, RSEQ_UNREGISTER, (long)signature);
}

/* Reads /proc/self/task/<tid>/<file> into text. Returns its length; 0 if it cannot be read. errno is kept. */
static size_t task_file_read(int tid, const char *file, char *text, size_t bytes)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", tid, file);
    return file_text(path, text, bytes);
}

int os_thread_cpu_ns(int tid, uint64_t *cpu_ns)
{
    struct timespec used;
    /* The kernel's clock number: CPUCLOCK_SCHED of one thread. */
    if (clock_gettime((clockid_t)(~(unsigned)tid << 3 | 6), &used) != 0)
        return errno == EINVAL ? ESRCH : ENOSYS;
    *cpu_ns = (uint64_t)used.tv_sec * UINT64_C(1000000000) + (uint64_t)used.tv_nsec;
    return 0;
}

/* The usage if /proc cannot be read (not mounted, no descriptor left). Whether the thread sleeps is unknown then. The
 * result says that it sleeps, because the caller has seen no progress. */
static int usage_by_clock(int tid, struct os_usage *u)
{
    *u = (struct os_usage){.sleeping = true};
    return os_thread_cpu_ns(tid, &u->cpu_ns);
}

int os_thread_usage(int tid, struct os_usage *u)
{
    char text[512];
    if (!task_file_read(tid, "stat", text, sizeof text))
        return usage_by_clock(tid, u);
    /* the file has "tid (name) S ..."; the name may contain any character */
    const char *after_name = strrchr(text, ')');
    if (!after_name || after_name[1] != ' ')
        return ENOSYS;
    u->sleeping = after_name[2] == 'S' || after_name[2] == 'D';
    if (!task_file_read(tid, "schedstat", text, sizeof text))
        return usage_by_clock(tid, u);
    char *end = text;
    u->cpu_ns = strtoull(end, &end, 10);
    strtoull(end, &end, 10); /* skips how long the thread waited for a processor */
    u->slices = strtoull(end, NULL, 10);
    os_thread_cpu_ns(tid, &u->cpu_ns); /* more exact: the file lags by up to a tick of the system's clock */
    return 0;
}
