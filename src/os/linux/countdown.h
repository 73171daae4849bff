/* The rest of a relative time limit, for a system call that is made anew. See countdown.c. */
#ifndef PS_OS_LINUX_COUNTDOWN_H
#define PS_OS_LINUX_COUNTDOWN_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Beside the call that is made anew: its stack pointer is this structure's address. Read by countdown.c's code. */
struct countdown {
    unsigned long pc, sp;            /* where the program goes on */
    unsigned long rdi, rdx, r10, r8; /* of the arguments, as the program had them: those that a limit may be in */
    long number;
    uint64_t end_ns; /* when the limit is reached */
    struct timespec rest;
};

/* A frame is the third argument of a signal's handler. Calls are made with the rest of their limit here. */
bool countdown_works(void);
/* The frame goes on behind a call that has been made anew by this file's code: *number is the call's. */
bool countdown_call(const void *frame, long *number);
/* pc, the instruction at which the frame goes on; where this file's code makes a call anew, the one behind that call in
 * the code that made it first. */
uintptr_t countdown_stands_at(const void *frame, uintptr_t pc);
/* The frame has just been interrupted; anew: at a call that is to be made anew (restart.h). What its limit is counted
 * by from then on: room, in the handler's frame on this stack, or what was room before, where the call has been made
 * anew already. NULL: there is nothing to count. */
struct countdown *countdown_begin(const void *frame, bool anew, struct countdown *room);
/* At the end of the handler, all signals blocked: the call is made with the rest. */
void countdown_go_on(void *frame, struct countdown *by);

#endif
