/* Stack overflow: one line says whose stack has overflowed and how to raise its size; then SIGSEGV's default action
 * follows.
 *
 * The handler of SIGSEGV runs on an alternate stack, because the stack that overflowed has no room for it. The handler
 * is installed only where there is none: a program's or a sanitizer's handler stays. If the address lies in the guard
 * page of the uth that runs, the handler writes the line. In any case it restores the default action and returns. The
 * instruction faults again, so a core dump shows the place, and the exit status is the usual one. A SIGSEGV that
 * another thread or process has sent has no such instruction. The handler raises it anew, and it is delivered when the
 * handler returns.
 *
 * Two things are not seen: a frame so large that it steps over the guard page (gcc -fstack-clash-protection prevents
 * that), and overflow of a stack that is not ours.
 *
 * The handler calls only async-signal-safe functions. `report` is published whole (release, acquire) before the handler
 * is installed; a later install replaces it. An alternate stack belongs to its kernel thread. `alternate` is native
 * thread-local: only uth_overflow_thread_init and _fini write it, called on the kernel thread's own thread pointer. If
 * there is no memory for an alternate stack, an overflow in that kernel thread ends without the line. A kernel thread
 * that ends leaves its alternate stack for others (free_slots.h). A forked child may use the stacks that its parent's
 * kernel threads have left, because it reads nothing of what they contain. */
#include "check.h"
#include "free_slots.h"
#include "os.h"
#include "uth.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>

/* Bytes of an alternate stack beyond the signal frame. To format one line takes some kilobytes. The program's handlers
 * with SA_ONSTACK run here too, in threads that have set no alternate stack of their own; under other runtimes they
 * would have a whole thread's stack. Pages that are not touched cost nothing. */
#define HANDLER_BYTES ((size_t)256 * 1024)

struct report {
    uth_current_fn *current;
    uth_describe_fn *describe;
    const char *variable;
};

static struct report reports[2]; /* the one that `report` points to, and the one that a later install fills in */
static _Atomic(struct report *) report;

static struct ps_free_slots left; /* alternate stacks that ended kernel threads have left */

static __thread void *alternate;

static bool in_guard_page(const struct uth *u, const void *address)
{
    uintptr_t a = (uintptr_t)address, stack = (uintptr_t)u->stack;
    return stack != 0 && a < stack && a >= stack - os_page_size();
}

static void on_fault(int signo, siginfo_t *info, void *context)
{
    (void)context;
    struct report *r = ps_load_acquire(&report);
    struct uth *u = r->current();
    bool sent = info->si_code <= 0;
    if (!sent && u != NULL && in_guard_page(u, info->si_addr)) {
        char who[160] = "a thread";
        r->describe(who, sizeof who);
        ps_warn("stack overflow in %s: its stack has %zu KiB; raise it with %s", who, u->stack_bytes / 1024,
                r->variable);
    }
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigaction(signo, &standard, NULL);
    if (sent)
        raise(signo);
}

void uth_overflow_install(uth_current_fn *current, uth_describe_fn *describe, const char *variable)
{
    struct report *next = ps_load_relaxed(&report) == &reports[0] ? &reports[1] : &reports[0];
    *next = (struct report){current, describe, variable};
    ps_store_release(&report, next);
    struct sigaction present, ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&ours.sa_mask);
    if (sigaction(SIGSEGV, NULL, &present) == 0 && !(present.sa_flags & SA_SIGINFO) && present.sa_handler == SIG_DFL)
        sigaction(SIGSEGV, &ours, NULL);
    uth_overflow_thread_init();
}

bool uth_overflow_handles(uintptr_t handler) { return handler == (uintptr_t)&on_fault; }

static size_t alternate_bytes(void)
{
    /* getauxval changes errno, which is the program's, if the kernel has no such entry. */
    int saved_errno = errno;
    size_t frame = getauxval(AT_MINSIGSTKSZ); /* depends on the processor's vector state; 0 before Linux 5.14 */
    errno = saved_errno;
    return (frame < MINSIGSTKSZ ? (size_t)MINSIGSTKSZ : frame) + HANDLER_BYTES;
}

static void leave_alternate(void *stack)
{
    if (!ps_free_slots_put(&left, stack))
        os_unmap(stack, alternate_bytes());
}

void uth_overflow_thread_init(void)
{
    stack_t present, ours = {.ss_size = alternate_bytes()};
    if (alternate != NULL || os_alternate_stack(NULL, &present) != 0 || !(present.ss_flags & SS_DISABLE))
        return;
    ours.ss_sp = ps_free_slots_take(&left);
    if (ours.ss_sp == NULL && (ours.ss_sp = os_map(ours.ss_size)) == NULL)
        return;
    if (os_alternate_stack(&ours, NULL) == 0)
        alternate = ours.ss_sp;
    else
        leave_alternate(ours.ss_sp);
}

bool uth_overflow_is_ours(const void *stack) { return stack != NULL && stack == alternate; }

void uth_overflow_thread_fini(void)
{
    if (alternate == NULL)
        return;
    stack_t present, none = {.ss_flags = SS_DISABLE};
    if (os_alternate_stack(NULL, &present) == 0 && present.ss_sp == alternate && os_alternate_stack(&none, NULL) != 0)
        return; /* the kernel thread runs on it right now: to keep it is a leak, to unmap it would be a crash */
    leave_alternate(alternate);
    alternate = NULL;
}

void uth_overflow_drain(void)
{
    for (void *stack; (stack = ps_free_slots_take(&left)) != NULL;)
        os_unmap(stack, alternate_bytes());
}
