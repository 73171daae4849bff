/* A root whose kernel thread carries nothing else (VP_LONE): the root waits in a futex on its own stack, calls no
 * members there, and is never released. The reasons:
 *   VP_OTHER_PRIORITY, VP_STARTS   the root, or its members, have another priority than the pool (priority.h).
 *   VP_MASK               the root has another signal mask than its members (root_state.c): elsewhere it would run
 *                         with theirs, and they with its own on its kernel thread.
 *   VP_COUNTED            the program asks for what the kernel counts for the root's kernel thread (processor time).
 * A spare stands in for such a root, so that as many kernel threads run its regions as without. */
#ifndef PS_LONE_ROOT_H
#define PS_LONE_ROOT_H

#include "work.h"
#include <stdbool.h>

struct vp;

/* Called when the program asks what the kernel counts for the kernel thread with thread pointer tp: that kernel
 * thread's root becomes lone. Where it is the caller's, and no root yet, a root that it becomes later is lone too. */
void ps_root_counted(const void *tp);
/* Whether the calling kernel thread is expected to become a lone root: this was asked for before it is a root's. */
bool lone_root_expected(void);
/* Waits until something is pinned to vp, which is a root's and dedicated to it; returns that. */
struct ps_work lone_root_await(struct vp *vp);
/* Returns how many roots have kernel threads that carry no other thread. */
unsigned lone_root_count(void);
/* Called when a lone root is about to wait: starts a spare where something is ready that no vp would come for before
 * the watchdog does. */
void lone_root_call_stand_in(void);

#endif
