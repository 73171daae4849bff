/* A system call that is made with other arguments than the program's. See restart_block.c. */
#ifndef PS_OS_LINUX_RESTART_BLOCK_H
#define PS_OS_LINUX_RESTART_BLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#define RESTART_CREDENTIALS_BYTES 12 /* a struct ucred */

/* Stands on the stack beside the call: its stack pointer is this structure's address. */
struct restart_block {
    uintptr_t pc, sp;                 /* where the program goes on */
    uintptr_t rdi, rsi, rdx, r10, r8; /* of the arguments, as the program had them: those that may be changed */
    uint64_t done;                    /* what is added to the call's result: bytes that were transferred before */
    long number;                      /* of the call */
    /* transfer.c's: the buffers behind `part`, 0: none, and the arguments of the call that transfers them */
    size_t next_n;
    const struct iovec *next;
    uintptr_t next_rsi, next_rdx;
    /* transfer.c's: the rest of a buffer; a message that has that, or what is behind it */
    struct iovec part;
    struct msghdr message;
    _Alignas(struct cmsghdr) unsigned char control[CMSG_SPACE(RESTART_CREDENTIALS_BYTES)];
    /* countdown.c's: when the limit is reached, 0: there is none; what is left of it */
    uint64_t end_ns;
    struct timespec rest;
};

/* A frame is the third argument of a signal's handler. Calls are made by this file's instruction here. */
bool restart_block_works(void);
/* The block beside which the frame is about to make a call, or has made one. NULL: it is elsewhere. */
struct restart_block *restart_block_next(const void *frame);
struct restart_block *restart_block_over(const void *frame);
/* pc, the instruction at which the frame goes on; where it stands at this file's, the one behind the call in the code
 * that made it first. */
uintptr_t restart_block_stands_at(const void *frame, uintptr_t pc);
/* At the end of the handler, all signals blocked, before arguments are changed in the frame: call block->number is made
 * beside the block when the handler returns. `behind` is the address behind the call in the code that made it first,
 * where the frame is still there. */
void restart_block_enter(void *frame, struct restart_block *block, uintptr_t behind);

#endif
