/* What a signal's handler reads from its arguments and changes in them; and sending signals again. A mask is the
 * kernel's: 64 bits, signal 1 in bit 0.
 *
 * Callers: handlers, and any other code, about the calling kernel thread. No function here waits or takes a lock. */
#include "os.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "raw.h"

uint64_t os_signals_pending(void)
{
    uint64_t pending = 0;
    raw_call(SYS_rt_sigpending, (long)&pending, KERNEL_MASK_BYTES, 0, 0);
    return pending;
}

/* si_code of a poke: a signal that only makes the receiver look for a letter (identity/thread_signal.h). */
#define POKE (-0x7054)

enum os_signal_sent os_signal_sent(int number, const void *info)
{
    const siginfo_t *of = info;
    int code = of->si_code;
    if (code > 0 && OS_FAULT_SIGNALS >> (number - 1) & 1)
        return OS_SIGNAL_FAULT;
    if (code == POKE)
        return OS_SIGNAL_POKE;
    if (code == SI_TKILL)
        return OS_SIGNAL_TO_THREAD;
    bool is_kernels = code == SI_KERNEL && number != SIGIO && number != SIGURG; /* SIGIO and SIGURG come from files */
    return code == SI_USER || is_kernels || (number == SIGCHLD && code > 0) ? OS_SIGNAL_TO_PROCESS
                                                                            : OS_SIGNAL_TO_EITHER;
}

/* The kernel accepts its own codes (not negative, and SI_TKILL) only from the process's initial thread, or from the
 * receiver itself. So such a code is moved into a range that no sender uses. The range is within 16 bits, because
 * qemu-user transmits no more of a code. */
#define SENT_AGAIN (-0x7000)

static bool is_kernels_own(int code) { return code == SI_TKILL || (code >= 0 && code <= SI_KERNEL); }

static siginfo_t sent_again(const void *info)
{
    siginfo_t again;
    memcpy(&again, info, sizeof again);
    if (is_kernels_own(again.si_code))
        again.si_code += SENT_AGAIN;
    return again;
}

/* Sends the signal to kernel thread tid; tid 0: to the process. Returns false if the kernel refuses. */
static bool send_signal_on(int tid, int number, const void *info)
{
    siginfo_t again = sent_again(info);
    if (tid == os_thread_id()) /* to itself a thread may send the kernel's own codes */
        memcpy(&again, info, sizeof again);
    return 0 == (tid ? raw_call(SYS_rt_tgsigqueueinfo, getpid(), tid, number, (long)&again)
                     : raw_call(SYS_rt_sigqueueinfo, getpid(), number, (long)&again, 0));
}

_Static_assert(sizeof(siginfo_t) == OS_SIGNAL_BYTES, "os.h");
bool os_signal_again(int number, const void *info) { return send_signal_on(0, number, info); }
bool os_signal_to_thread(int tid, int number, const void *info) { return send_signal_on(tid, number, info); }

unsigned os_signal_poked_by(const void *info) { return (unsigned)((const siginfo_t *)info)->si_value.sival_int; }
void os_signal_poke(int tid, int number, unsigned by)
{
    siginfo_t poke = {.si_signo = number, .si_code = POKE};
    poke.si_value.sival_int = (int)by;
    raw_call(SYS_rt_tgsigqueueinfo, getpid(), tid, number, (long)&poke);
}

void os_signal_as_sent(void *info)
{
    siginfo_t *of = info;
    if (is_kernels_own(of->si_code - SENT_AGAIN))
        of->si_code -= SENT_AGAIN;
}

int os_take_signal(uint64_t numbers, void *info)
{
    const struct timespec at_once = {0};
    long number = raw_call(SYS_rt_sigtimedwait, (long)&numbers, (long)info, (long)&at_once, KERNEL_MASK_BYTES);
    return number > 0 ? (int)number : 0;
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

bool os_on_alternate_stack(uintptr_t address)
{
    stack_t now = {0};
    if (raw_call(SYS_sigaltstack, 0, (long)&now, 0, 0) != 0 || now.ss_flags & SS_DISABLE)
        return false;
    return address - (uintptr_t)now.ss_sp < now.ss_size;
}
