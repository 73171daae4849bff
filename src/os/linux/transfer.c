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
 * Of several buffers the rest of the first one is transferred by a call, and then all that are behind it by another
 * one, out of the program's own list. Files that a message brings (SCM_RIGHTS) come with its first byte, so the rest
 * brings none. The sender's credentials come with each byte, so the rest brings those that the program has given.
 *
 * Messages that are received stay short where they have room for control data. The kernel has written over the size of
 * that room, and the second part might have control data as well. The flags of a message that was received are those of
 * its first part.
 *
 * Where restart_block.c does not work the result stays short. */
#include "transfer.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "compiler.h"
#include "raw.h"
#include "registers.h"

#if defined(__x86_64__) && !PS_ASAN

/* A pipe, a stream socket, a terminal (or another device). */
static bool flows_on(int file)
{
    struct stat is = {0};
    int type = 0;
    socklen_t bytes = sizeof type;
    if (raw_call(SYS_fstat, file, (long)&is, 0, 0) != 0)
        return false;
    if (S_ISSOCK(is.st_mode))
        return raw_call6(SYS_getsockopt, file, SOL_SOCKET, SO_TYPE, (long)&type, (long)&bytes, 0) == 0 &&
               type == SOCK_STREAM;
    return S_ISFIFO(is.st_mode) || S_ISCHR(is.st_mode);
}

/* What a call transfers: one buffer, told by two registers, or a list of buffers. */
struct buffers {
    int where, count;         /* where: negative, if it is a file's next bytes */
    const struct iovec *list; /* NULL: one buffer */
    size_t n;
};

static bool waits_for_all(greg_t flags)
{
    return (flags & (MSG_WAITALL | MSG_PEEK | MSG_OOB | MSG_ERRQUEUE)) == MSG_WAITALL;
}

/* What a message brings along may go with its first bytes alone: files and credentials. Other control data says how
 * all its bytes are sent (the record of TLS in the kernel, a mark). With MSG_ZEROCOPY the program counts calls. */
static bool may_be_cut(const struct msghdr *message)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR((struct msghdr *)(uintptr_t)message, c))
        if (c->cmsg_level != SOL_SOCKET || (c->cmsg_type != SCM_RIGHTS && c->cmsg_type != SCM_CREDENTIALS))
            return false;
    return true;
}

static bool counts_calls(greg_t flags) { return flags & MSG_ZEROCOPY; }

static bool is_transfer(const ucontext_t *uc, long number, struct buffers *b)
{
    const struct msghdr *message = (const struct msghdr *)REGISTERS(uc)[REG_RSI];
    *b = (struct buffers){.where = REG_RSI, .count = REG_RDX};
    switch (number) {
    case SYS_write:
        break;
    case SYS_sendto:
        if (counts_calls(REGISTERS(uc)[REG_R10]))
            return false;
        break;
    case SYS_recvfrom:
        if (!waits_for_all(REGISTERS(uc)[REG_R10]))
            return false;
        break;
    case SYS_sendfile:
        *b = (struct buffers){.where = -1, .count = REG_R10};
        break;
    case SYS_writev:
        b->list = (const struct iovec *)REGISTERS(uc)[REG_RSI];
        b->n = (size_t)REGISTERS(uc)[REG_RDX];
        break;
    case SYS_sendmsg:
    case SYS_recvmsg:
        if (number == SYS_recvmsg && (message->msg_control || !waits_for_all(REGISTERS(uc)[REG_RDX])))
            return false;
        if (number == SYS_sendmsg && (counts_calls(REGISTERS(uc)[REG_RDX]) || !may_be_cut(message)))
            return false;
        b->list = message->msg_iov;
        b->n = message->msg_iovlen;
        break;
    case SYS_getrandom:
        b->where = REG_RDI;
        b->count = REG_RSI;
        return true;
    default:
        return false;
    }
    return flows_on((int)REGISTERS(uc)[REG_RDI]);
}

/* The call has transferred some bytes, but not all. Of a list *b is the rest then, but for its first *into bytes. */
static bool has_rest(const ucontext_t *uc, long number, struct buffers *b, size_t *into)
{
    greg_t bytes = RESULT(uc);
    if (bytes <= 0 || !is_transfer(uc, number, b))
        return false;
    *into = (size_t)bytes;
    if (!b->list)
        return *into < (size_t)REGISTERS(uc)[b->count];
    for (; b->n > 0 && *into >= b->list->iov_len; b->list++, b->n--)
        *into -= b->list->iov_len;
    while (b->n > 0 && b->list[b->n - 1].iov_len == 0) /* to wait for nothing may be to wait for more */
        b->n--;
    return b->n > 0;
}

struct restart_block *transfer_begin(const void *frame, long number, struct restart_block *room)
{
    struct buffers b;
    size_t into;
    if (!restart_block_works() || !has_rest(frame, number, &b, &into))
        return NULL;
    struct restart_block *before = restart_block_over(frame);
    if (before)
        return before;
    *room = (struct restart_block){.number = number};
    return room;
}

/* The credentials, if there are any, of a message that is sent. */
static void keep_credentials(struct restart_block *block, const struct msghdr *message)
{
    struct msghdr *rest = &block->message;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR((struct msghdr *)(uintptr_t)message, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS &&
            c->cmsg_len == CMSG_LEN(RESTART_CREDENTIALS_BYTES)) {
            memcpy(block->control, c, c->cmsg_len);
            rest->msg_control = block->control;
            rest->msg_controllen = sizeof block->control;
        }
}

/* The first call transfers the rest of a buffer. That may be what the last one was to do. */
static void go_on_with_list(ucontext_t *uc, struct restart_block *block, const struct buffers *b, size_t into)
{
    struct msghdr *own = &block->message;
    const struct msghdr *message = (const struct msghdr *)REGISTERS(uc)[REG_RSI];
    if (b->list != &block->part) {
        block->part = *b->list;
        block->next = b->list + 1;
        block->next_n = b->n - 1;
    }
    block->part.iov_base = (char *)block->part.iov_base + into;
    block->part.iov_len -= into;
    if (block->number == SYS_writev) {
        block->next_rsi = (uintptr_t)block->next;
        block->next_rdx = block->next_n;
        REGISTERS(uc)[REG_RSI] = (greg_t)(uintptr_t)&block->part;
        REGISTERS(uc)[REG_RDX] = 1;
        return;
    }
    if (message != own) {
        *own = (struct msghdr){0};
        if (block->number == SYS_sendmsg)
            keep_credentials(block, message);
    }
    own->msg_iov = &block->part;
    own->msg_iovlen = 1;
    block->next_rsi = (uintptr_t)own;
    block->next_rdx = (uintptr_t)REGISTERS(uc)[REG_RDX];
    REGISTERS(uc)[REG_RSI] = (greg_t)(uintptr_t)own;
}

void transfer_go_on(void *frame, struct restart_block *block)
{
    ucontext_t *uc = frame;
    struct buffers b;
    size_t into;
    if (!has_rest(uc, block->number, &b, &into)) /* another thread has changed it meanwhile */
        return;
    greg_t bytes = RESULT(uc);
    restart_block_enter(frame, block, (uintptr_t)REGISTERS(uc)[REG_RIP]);
    block->done += (uint64_t)bytes;
    if (b.list) {
        go_on_with_list(uc, block, &b, into);
    } else {
        if (b.where >= 0)
            REGISTERS(uc)[b.where] += bytes;
        REGISTERS(uc)[b.count] -= bytes;
    }
}

#else

struct restart_block *transfer_begin(const void *frame, long number, struct restart_block *room)
{
    (void)frame, (void)number, (void)room;
    return NULL;
}

void transfer_go_on(void *frame, struct restart_block *block) { (void)frame, (void)block; }

#endif
