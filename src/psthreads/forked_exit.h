/* The end, by pthread_exit, of a user-level thread that has forked, in the child.
 *
 * There it is the process's only thread, so POSIX has its functions left with their C++ destructors and clean-up
 * handlers, then its thread-local objects and keys destroyed, then the process exit with status 0. The C library ends a
 * thread by unwinding its stack to a point that it has noted when the thread began. It has begun no user-level thread:
 * there is no such point, and the process would end by a signal. Elsewhere pthread_exit stays the C library's: a member
 * of a team may not leave it in the process that has the team.
 *
 * A member's frames end with the one of the core's that the member was begun in: its parent's may lie above, if it runs
 * as a call, and the parent is not in the child. Member 0 is its parent, so what the parent has called goes on above.
 * Handlers of C programs (pthread_cleanup_push without -fexceptions) are points in a list that the C library keeps for
 * the thread; each runs in its own function's frame, which then calls __pthread_unwind_next.
 *
 * Limits: cancellation of such a thread; pthread_join of it by a thread that the child has made since, which waits
 * until the process ends, and lets it not end; a member that forks in a task which it runs on its parent's stack, in a
 * region within that task; PSTHREADS_TLS=never; the program's own thread inside a region. */
#ifndef PS_FORKED_EXIT_H
#define PS_FORKED_EXIT_H

/* pthread_exit, where the caller is such a thread; else it returns. */
void ps_forked_exit(void);
/* __pthread_unwind_next, likewise: the handler at point `buffer` has run. */
void ps_forked_unwind_next(void *buffer);

#endif
