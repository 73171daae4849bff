/* What a signal's handler learns from its arguments and changes by them, and signals that are sent on. The mask is the
 * kernel's, 64 bits, signal 1 in bit 0.
 *
 * Callers: handlers, and any other code, about the calling kernel thread. Nothing here waits or takes a lock. */
#include "os.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "raw.h"

#define BIT(number) (UINT64_C(1) << ((number)-1))

uint64_t os_signals_pending(void)
{
    uint64_t pending = 0;
    raw_call(SYS_rt_sigpending, (long)&pending, KERNEL_MASK_BYTES, 0, 0);
    return pending;
}

bool os_signal_is_for_process(int number, const void *info)
{
    const siginfo_t *of = info;
    if (number < 1 || number > 64 || of->si_code == SI_TKILL || os_interrupt_is_told(info))
        return false;
    return !(OS_FAULT_SIGNALS >> (number - 1) & 1) || of->si_code <= 0;
}

bool os_signal_is_for_first(int number, const void *info, bool came_there)
{
    const siginfo_t *of = info;
    int code = of->si_code;
    if (!os_signal_is_for_process(number, info) || ((number == SIGVTALRM || number == SIGPROF) && code == SI_KERNEL))
        return false;
    if (code == SI_USER || code == SI_KERNEL || (number == SIGCHLD && code > 0))
        return true;
    return came_there && !(code == SI_QUEUE && of->si_pid == getpid());
}

/* The kernel takes codes of its own (not negative) from a process's first thread alone, or from the receiver itself. So
 * such a code travels where an error would stand, which is 0 there. */
#define SENT_AGAIN (-0x7053)

/* To send SIGCONT takes stop signals back that are pending, or ends the stop; to send one of these takes SIGCONT back.
 * Of two such signals, one in hand and one pending, the pending one is younger: else it would have been taken back. So
 * it takes the other one back. The caller has blocked all signals: by that it has taken SIGSTOP, and takes part in any
 * stop that has begun. Limit: a signal that comes between the look and the sending is taken back itself. */
static bool is_taken_back(int number)
{
    const uint64_t stops = BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU);
    uint64_t others = number == SIGCONT ? stops : BIT(number) & stops ? BIT(SIGCONT) : 0;
    return others && os_signals_pending() & others;
}

static siginfo_t sent_again(const void *info)
{
    siginfo_t again;
    memcpy(&again, info, sizeof again);
    if (again.si_code >= 0) {
        again.si_errno = again.si_code;
        again.si_code = SENT_AGAIN;
    }
    return again;
}

/* tid: 0, the process. */
static bool send_signal_on(int tid, int number, const void *info)
{
    siginfo_t again = sent_again(info);
    if (tid == os_thread_id()) /* the kernel's own codes need no queue */
        memcpy(&again, info, sizeof again);
    uint64_t mask = os_swap_signal_mask(OS_ALL_SIGNALS);
    long error = is_taken_back(number) ? 0
                 : tid                 ? raw_call(SYS_rt_tgsigqueueinfo, getpid(), tid, number, (long)&again)
                                       : raw_call(SYS_rt_sigqueueinfo, getpid(), number, (long)&again, 0);
    os_set_signal_mask(mask);
    return error == 0;
}

_Static_assert(sizeof(siginfo_t) == OS_SIGNAL_BYTES, "os.h");
bool os_signal_again(int number, const void *info) { return send_signal_on(0, number, info); }
bool os_signal_to_thread(int tid, int number, const void *info) { return send_signal_on(tid, number, info); }

void os_signal_as_sent(void *info)
{
    siginfo_t *of = info;
    if (of->si_code != SENT_AGAIN)
        return;
    of->si_code = of->si_errno;
    of->si_errno = 0;
}

uint64_t os_frame_mask(const void *frame)
{
    const ucontext_t *uc = frame;
    uint64_t mask;
    memcpy(&mask, &uc->uc_sigmask, sizeof mask);
    return mask;
}

void os_frame_set_mask(void *frame, uint64_t mask)
{
    ucontext_t *uc = frame;
    memcpy(&uc->uc_sigmask, &mask, sizeof mask);
}

bool os_frame_is_apart(const void *frame)
{
    const ucontext_t *uc = frame;
    uintptr_t start = (uintptr_t)uc->uc_stack.ss_sp, at = (uintptr_t)frame;
    return !(uc->uc_stack.ss_flags & SS_DISABLE) && at >= start && at < start + uc->uc_stack.ss_size;
}

bool os_on_alternate_stack(uintptr_t address)
{
    stack_t now = {0};
    if (raw_call(SYS_sigaltstack, 0, (long)&now, 0, 0) != 0 || now.ss_flags & SS_DISABLE)
        return false;
    return address - (uintptr_t)now.ss_sp < now.ss_size;
}

void os_frame_returns_here(void *frame)
{
    ucontext_t *uc = frame;
    raw_call(SYS_sigaltstack, 0, (long)&uc->uc_stack, 0, 0);
    uc->uc_stack.ss_flags &= ~SS_ONSTACK;
}
