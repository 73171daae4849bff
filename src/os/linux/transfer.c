/* The rest of a transfer that an interrupt has cut short.
 *
 * A call that has written a part of its bytes, and waits for room for the rest, returns the number of these bytes when
 * a signal's handler runs, with SA_RESTART too. A program without handlers never sees that: a blocking write to a pipe,
 * a stream socket or a terminal writes all bytes, or fails. So the rest is transferred when the interrupt's handler
 * returns, and the program gets the sum (restart_block.c).
 *
 * Not where a handler of the program's has run, or is to run: it would have cut the transfer short as well
 * (restart_end). A short result that no signal has caused may be taken for one that the interrupt has cut short. The
 * second call then does what the program's next call would do; it must not do more. So what may be transferred is
 * limited (flows_on): the rest of a write to a regular file that has met its limit would be answered by SIGXFSZ.
 *
 * Not made whole: transfers of several buffers (writev, sendmsg, recvmsg). Where restart_block.c does not work the
 * result stays short. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "transfer.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "compiler.h"
#include "raw.h"

#if defined(__x86_64__) && !PS_ASAN

#define REGISTERS(uc) ((uc)->uc_mcontext.gregs)
#define RESULT(uc) REGISTERS(uc)[REG_RAX]

/* A pipe, a stream socket, a terminal (or another device). */
static bool flows_on(int file)
{
    struct stat is;
    int type = 0;
    socklen_t bytes = sizeof type;
    if (raw_call(SYS_fstat, file, (long)&is, 0, 0) != 0)
        return false;
    if (S_ISSOCK(is.st_mode))
        return raw_call6(SYS_getsockopt, file, SOL_SOCKET, SO_TYPE, (long)&type, (long)&bytes, 0) == 0 &&
               type == SOCK_STREAM;
    return S_ISFIFO(is.st_mode) || S_ISCHR(is.st_mode);
}

/* In which registers the call has where its bytes are and how many. */
static bool is_transfer(const ucontext_t *uc, long number, int *where, int *count)
{
    *where = REG_RSI;
    *count = REG_RDX;
    switch (number) {
    case SYS_write:
    case SYS_sendto:
        break;
    case SYS_recvfrom:
        if (!(REGISTERS(uc)[REG_R10] & MSG_WAITALL) || REGISTERS(uc)[REG_R10] & MSG_PEEK)
            return false;
        break;
    case SYS_getrandom:
        *where = REG_RDI;
        *count = REG_RSI;
        return true;
    default:
        return false;
    }
    return flows_on((int)REGISTERS(uc)[REG_RDI]);
}

struct restart_block *transfer_begin(const void *frame, long number, struct restart_block *room)
{
    const ucontext_t *uc = frame;
    int where, count;
    if (!restart_block_works() || (long)RESULT(uc) <= 0 || !is_transfer(uc, number, &where, &count) ||
        (uint64_t)RESULT(uc) >= (uint64_t)REGISTERS(uc)[count])
        return NULL;
    struct restart_block *before = restart_block_over(frame);
    if (before)
        return before;
    *room = (struct restart_block){.number = number};
    return room;
}

void transfer_go_on(void *frame, struct restart_block *block)
{
    ucontext_t *uc = frame;
    int where, count;
    if (!is_transfer(uc, block->number, &where, &count))
        return;
    greg_t bytes = RESULT(uc);
    restart_block_enter(frame, block, (uintptr_t)REGISTERS(uc)[REG_RIP]);
    block->done += (uint64_t)bytes;
    REGISTERS(uc)[where] += bytes;
    REGISTERS(uc)[count] -= bytes;
}

#else

struct restart_block *transfer_begin(const void *frame, long number, struct restart_block *room)
{
    (void)frame, (void)number, (void)room;
    return NULL;
}

void transfer_go_on(void *frame, struct restart_block *block) { (void)frame, (void)block; }

#endif
