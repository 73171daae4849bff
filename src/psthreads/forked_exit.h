/* The end, by pthread_exit, of a user-level thread that has forked, in the child.
 *
 * There the thread is the process's only one. So POSIX demands three steps: the thread leaves its functions, with their
 * C++ destructors and clean-up handlers; its thread-local objects and keys are destroyed; the process exits with status
 * 0. The C library ends a thread by unwinding its stack to a point that it has noted when it began the thread. The C
 * library has not begun any user-level thread, so there is no such point, and the process would end by a signal.
 * Elsewhere pthread_exit stays the C library's: a member may not leave its team in the process that has the team.
 *
 * A member's frames end with the core's frame in which the member was begun. The parent's frames may lie above, if the
 * member runs as a call, and the parent is not in the child. Member 0 is its parent, so what the parent has called goes
 * on above. Handlers of C programs (pthread_cleanup_push without -fexceptions) are points in a list that the C library
 * keeps for the thread. Each runs in its own function's frame, and that function then calls __pthread_unwind_next.
 *
 * Limits. The three steps are not done in four cases: cancellation of such a thread; PSTHREADS_TLS=never; the program's
 * own thread inside a region; a member that forks in a region inside of a task on its parent's stack. A thread that the
 * child has made since, and that joins this one by pthread_join, waits for ever and keeps the process from ending. */
#ifndef PS_FORKED_EXIT_H
#define PS_FORKED_EXIT_H

/* pthread_exit, where the caller is such a thread; else it returns. */
void ps_forked_exit(void);
/* __pthread_unwind_next, likewise: the handler at point `buffer` has run. */
void ps_forked_unwind_next(void *buffer);

#endif
