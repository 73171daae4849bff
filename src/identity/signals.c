/* Signals: masks, waits for signals, the alternate stack. See calls.h. Signals to one thread are in handles.c. */
#define _GNU_SOURCE
#include "calls.h"

#include "home.h"
#include "uth.h"

INTERPOSE_INHERITED(GLIBC_2_2_5, int, sigprocmask, (int how, const sigset_t *set, sigset_t *old), (how, set, old));
INTERPOSE_INHERITED(GLIBC_2_32, int, pthread_sigmask, (int how, const sigset_t *set, sigset_t *old), (how, set, old));
OLD_VERSION(pthread_sigmask, GLIBC_2_2_5);

/* The program is not shown the runtime's own alternate stack, on which the runtime reports stack overflows. */
NEXT(sigaltstack, int(const stack_t *, stack_t *));
PS_EXPORT int interposed_sigaltstack(const stack_t *stack, stack_t *before)
{
    be_dedicated();
    int result = CALL_NEXT(sigaltstack)(stack, before);
    if (result == 0 && stack != NULL)
        home_note();
    if (result == 0 && before != NULL && uth_overflow_is_ours(before->ss_sp))
        *before = (stack_t){.ss_flags = SS_DISABLE};
    return result;
}
VERSIONS(sigaltstack, GLIBC_2_2_5);

/* In each of these functions the caller becomes dedicated first. Otherwise a member that runs on the home of a root
 * which is away would signal that root by raise, and would take that root's signals by the other functions. */
INTERPOSE(GLIBC_2_2_5, int, raise, (int number), (number));
INTERPOSE(GLIBC_2_2_5, int, sigsuspend, (const sigset_t *set), (set));
INTERPOSE(GLIBC_2_2_5, int, sigwait, (const sigset_t *set, int *number), (set, number));
INTERPOSE(GLIBC_2_2_5, int, sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info));
INTERPOSE(GLIBC_2_2_5, int, sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *limit),
          (set, info, limit));
