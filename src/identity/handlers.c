/* Signal handlers. The library's function `call_handler` stands before each handler of the program, and asks whether
 * the handler runs here (process_signal.h). See calls.h.
 *
 * For each signal for which the program has a handler, the kernel's action is call_handler, with the flags and the mask
 * that the program wants. Two flags differ. SA_SIGINFO is always set, because a signal that is passed on takes its
 * information with it. SA_RESETHAND never is, because a signal that is passed on must not reset the action;
 * call_handler resets it. The program is shown its own actions. Where the runtime's own handler is installed (for stack
 * overflows), the program is shown the default action.
 *
 * `installed` has the program's handler and these two flags for each signal. An entry counts while the kernel's action
 * is call_handler. The entry is written before that action is set, so that a signal that comes at once finds it. A
 * signal that is on its way while the program sets another handler may find the new handler. One lock guards changes.
 * While a thread has the lock, it blocks all signals, since handlers make these calls too. A child between vfork and
 * exec has its own actions, but shares the parent's memory: call_handler is not put before handlers that such a child
 * sets.
 *
 * siginterrupt, system, abort and posix_spawn change or keep the kernel's action inside the C library, and are right as
 * they are. The runtime does not see actions that are set by the system call itself, by the C library for its own
 * signals, or by sigset, ssignal, bsd_signal and sysv_signal. */
#define _GNU_SOURCE
#include "calls.h"

#include "process_signal.h"
#include "uth.h"
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SIGNALS 65
#define OURS (SA_SIGINFO | (int)SA_RESETHAND)

typedef void handler_of(int);
typedef void informed_of(int, siginfo_t *, void *);
struct installed {
    _Atomic(informed_of *) handler;
    _Atomic int flags;    /* the program's SA_SIGINFO and SA_RESETHAND */
    _Atomic bool used_up; /* with SA_RESETHAND: a signal has come, and the action was reset */
};
static struct installed installed[SIGNALS];
static _Atomic uint32_t lock;
static _Atomic int process; /* number of the process that has this memory, not of a child between vfork and exec */

NEXT(sigaction, int(int, const struct sigaction *, struct sigaction *));

/* --- changes --- */

static uint64_t hold_lock(void)
{
    uint64_t mask = os_swap_signal_mask(OS_ALL_SIGNALS);
    while (ps_xchg_acq_rel(&lock, 1))
        os_yield();
    return mask;
}

static void free_lock(uint64_t mask)
{
    ps_store_release(&lock, 0);
    os_set_signal_mask(mask);
}

static bool in_other_memory(void) { return ps_load_relaxed(&process) != (int)getpid(); }

/* --- a signal comes --- */

/* Called for a handler with SA_RESETHAND. The first signal resets the action: returns true. Another signal may have
 * been on its way already: returns false, and sends the signal again. It meets the default action when call_handler
 * returns. */
static bool comes_once(int number)
{
    struct sigaction action;
    uint64_t mask = hold_lock();
    int flags = ps_load_relaxed(&installed[number].flags);
    bool once = flags & (int)SA_RESETHAND;
    bool first = !once || !ps_load_relaxed(&installed[number].used_up);
    if (once && first && CALL_NEXT(sigaction)(number, NULL, &action) == 0) {
        ps_store_relaxed(&installed[number].used_up, true);
        action.sa_handler = SIG_DFL; /* flags and mask stay, as the kernel leaves them */
        action.sa_flags = (action.sa_flags & ~OURS) | flags;
        CALL_NEXT(sigaction)(number, &action, NULL);
    }
    free_lock(mask);
    if (!first)
        syscall(SYS_tgkill, getpid(), os_thread_id(), number);
    return first;
}

static void call_handler(int number, siginfo_t *info, void *frame)
{
    const struct installed *of = &installed[number];
    informed_of *handler = ps_load_acquire(&of->handler);
    struct ps_handler self;
    os_signal_as_sent(info);
    if (!ps_handler_begins(&self, number, info, frame))
        return;
    if (PS_LIKELY(!(ps_load_relaxed(&of->flags) & (int)SA_RESETHAND)) || comes_once(number))
        handler(number, info, frame);
    ps_handler_ends(&self);
}

/* --- the program's view --- */

struct view {
    informed_of *handler;
    int flags;
};

static bool is_handler(const struct sigaction *action)
{
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

static struct view view_of(int number)
{
    return (struct view){ps_load_relaxed(&installed[number].handler), ps_load_relaxed(&installed[number].flags)};
}

/* Turns the program's action into the one that the kernel gets, and notes the program's handler. The caller holds the
 * lock. */
static void keep(int number, struct sigaction *action)
{
    if (!is_handler(action) || action->sa_sigaction == call_handler)
        return;
    ps_store_relaxed(&installed[number].used_up, false);
    ps_store_relaxed(&installed[number].flags, action->sa_flags & OURS);
    ps_store_release(&installed[number].handler, action->sa_sigaction);
    action->sa_sigaction = call_handler;
    action->sa_flags = (action->sa_flags & ~OURS) | SA_SIGINFO;
}

static void show_action(struct sigaction *action, struct view before)
{
    if (action->sa_sigaction != call_handler)
        return;
    action->sa_sigaction = before.handler;
    action->sa_flags = (action->sa_flags & ~OURS) | before.flags;
    if (is_handler(action) && uth_overflow_handles((uintptr_t)action->sa_sigaction))
        *action = (struct sigaction){.sa_handler = SIG_DFL};
}

static bool is_number(int number) { return number >= 1 && number < SIGNALS; }

static int change_action(int number, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction ours, was;
    bool other = in_other_memory();
    uint64_t mask = other ? 0 : hold_lock();
    struct view before = view_of(number);
    if (action != NULL) {
        ours = *action;
        if (!other)
            keep(number, &ours);
    }
    int result = CALL_NEXT(sigaction)(number, action != NULL ? &ours : NULL, &was);
    if (result == 0)
        show_action(&was, before);
    if (!other)
        free_lock(mask);
    if (result == 0 && old != NULL)
        *old = was;
    return result;
}

PS_EXPORT int interposed_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    return is_number(number) ? change_action(number, action, old) : CALL_NEXT(sigaction)(number, action, old);
}
VERSIONS(sigaction, GLIBC_2_2_5);
PS_EXPORT __typeof__(interposed_sigaction) interposed___sigaction __attribute__((alias("interposed_sigaction")));
VERSIONS(__sigaction, GLIBC_2_2_5);

/* --- functions of the C library that set a handler without calling sigaction by its name --- */

/* If the kernel's action is a handler of the program's that was set without call_handler, puts call_handler before it.
 * Otherwise does nothing. The caller holds the lock. */
static void wrap(int number)
{
    struct sigaction now;
    if (CALL_NEXT(sigaction)(number, NULL, &now) != 0 || !is_handler(&now) || now.sa_sigaction == call_handler)
        return;
    keep(number, &now);
    CALL_NEXT(sigaction)(number, &now, NULL);
}

static handler_of *change_by(handler_of *(*set)(int, handler_of *), int number, handler_of *handler)
{
    if (!is_number(number) || in_other_memory())
        return set(number, handler);
    uint64_t mask = hold_lock();
    struct view view = view_of(number);
    struct sigaction was = {.sa_handler = set(number, handler)};
    wrap(number);
    show_action(&was, view);
    free_lock(mask);
    return was.sa_handler;
}

#define SETS_HANDLER(name)                                                   \
    NEXT(name, handler_of *(int, handler_of *));                             \
    PS_EXPORT handler_of *interposed_##name(int number, handler_of *handler) \
    {                                                                        \
        return change_by(CALL_NEXT(name), number, handler);                  \
    }                                                                        \
    VERSIONS(name, GLIBC_2_2_5)
SETS_HANDLER(signal);
SETS_HANDLER(__sysv_signal);

/* --- the library is loaded --- */

static void begin_in_child(void)
{
    ps_store_relaxed(&lock, 0);
    ps_store_relaxed(&process, (int)getpid());
}

/* Runs after the constructor that looks up the C library's functions. If the program has loaded this library late, the
 * program may have handlers already: call_handler is put before them. */
__attribute__((constructor(102))) static void begin(void)
{
    ps_store_relaxed(&process, (int)getpid());
    pthread_atfork(NULL, NULL, begin_in_child);
    uint64_t mask = hold_lock();
    for (int number = 1; number < SIGNALS; number++)
        wrap(number);
    free_lock(mask);
}
