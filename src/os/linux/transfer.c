/* The rest of a transfer that an interrupt has cut short.
 *
 * A call that has written a part of its bytes, and waits for room for the rest, returns the number of these bytes when
 * a signal's handler runs, with SA_RESTART too. A program without handlers never sees that: a blocking write to a pipe,
 * a stream socket or a terminal writes all bytes, or fails. So the rest is transferred when the interrupt's handler
 * returns, and the program gets the sum.
 *
 * The sum must be made behind the second call, and that call may be interrupted as well. The program's registers, which
 * a system call keeps, must be as they were. So the rest is transferred by an instruction of this file (ps_transfer)
 * with a structure on the stack beside it:
 *   - The handler's frame holds the structure. When the handler returns, the stack pointer is set to its address. So
 *     signal frames come below it. All signals are blocked from when it is filled in until the frame is left.
 *   - Behind the instruction what was transferred is added. If the second call failed the first result counts, as it
 *     would if the program made the second call itself.
 *   - An interrupt there finds the structure by the stack pointer. Nothing is to be freed where the thread never comes
 *     back (longjmp, cancellation). Unwinders find the program's frame by the structure.
 *   - Whether a thread may be left there is asked for the program's call (transfer_stands_at).
 *
 * Not where a handler of the program's has run, or is to run: it would have cut the transfer short as well
 * (interrupt.c). A short result that no signal has caused may be taken for one that the interrupt has cut short. The
 * second call then does what the program's next call would do; it must not do more. So what may be transferred is
 * limited (flows_on): the rest of a write to a regular file that has met its limit would be answered by SIGXFSZ.
 *
 * Not made whole: transfers of several buffers (writev, sendmsg, recvmsg). Other processors than x86-64:
 * the result stays short. Under Valgrind too, which takes what a handler leaves on the stack for dead; and where
 * AddressSanitizer may put a function's variables elsewhere. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "transfer.h"

#include <signal.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#include "compiler.h"
#include "raw.h"

#if defined(__x86_64__) && !PS_ASAN

__asm__(".pushsection .text\n"
        "\t.type ps_transfer, @function\n"
        "\t.cfi_startproc\n"
        "\t.cfi_signal_frame\n"
        "\t.cfi_escape 0x0f, 3, 0x77, 8, 0x06\n" /* CFA: what is at rsp + 8 */
        "\t.cfi_escape 0x10, 16, 2, 0x77, 0\n"   /* rip: at rsp + 0 */
        "\tnop\n"
        "ps_transfer:\n"
        "\tsyscall\n"
        "ps_transfer_end:\n"
        "\ttest %rax, %rax\n"
        "\tjs 1f\n"
        "\tadd %rax, 40(%rsp)\n"
        "1:\n"
        "\tmov 16(%rsp), %rdi\n"
        "\tmov 24(%rsp), %rsi\n"
        "\tmov 32(%rsp), %rdx\n"
        "\tmov 40(%rsp), %rax\n"
        "\tmov (%rsp), %rcx\n" /* as a system call leaves it */
        "\tmov 8(%rsp), %rsp\n"
        "\t.cfi_def_cfa rsp, 0\n"
        "\t.cfi_register rip, rcx\n"
        "\tjmp *%rcx\n"
        "\t.cfi_endproc\n"
        "\t.size ps_transfer, . - ps_transfer\n"
        "\t.popsection");
_Static_assert(offsetof(struct transfer, pc) == 0 && offsetof(struct transfer, sp) == 8 &&
                   offsetof(struct transfer, rdi) == 16 && offsetof(struct transfer, rsi) == 24 &&
                   offsetof(struct transfer, rdx) == 32 && offsetof(struct transfer, done) == 40,
               "the code above");
extern const char ps_transfer[] __attribute__((visibility("hidden")));
extern const char ps_transfer_end[] __attribute__((visibility("hidden")));

#define REGISTERS(uc) ((uc)->uc_mcontext.gregs)
#define PC(uc) ((uintptr_t)REGISTERS(uc)[REG_RIP])
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

static struct transfer *transfer_beside(const ucontext_t *uc) { return (struct transfer *)REGISTERS(uc)[REG_RSP]; }
static bool is_over(const ucontext_t *uc) { return PC(uc) == (uintptr_t)ps_transfer_end; }

bool transfer_call(const void *frame, long *number)
{
    const ucontext_t *uc = frame;
    if (!is_over(uc))
        return false;
    *number = transfer_beside(uc)->number;
    return true;
}

uintptr_t transfer_stands_at(const void *frame, uintptr_t pc)
{
    const ucontext_t *uc = frame;
    return is_over(uc) || PC(uc) == (uintptr_t)ps_transfer ? transfer_beside(uc)->pc : pc;
}

struct transfer *transfer_begin(const void *frame, long number, struct transfer *room)
{
    const ucontext_t *uc = frame;
    int where, count;
    if (RUNNING_ON_VALGRIND || (long)RESULT(uc) <= 0 || !is_transfer(uc, number, &where, &count) ||
        (uint64_t)RESULT(uc) >= (uint64_t)REGISTERS(uc)[count])
        return NULL;
    room->number = number;
    return is_over(uc) ? transfer_beside(uc) : room;
}

/* Of the program's registers all but these are as they were: its own, and those that the call needs. */
static void go_to_transfer(ucontext_t *uc, struct transfer *t)
{
    t->pc = PC(uc);
    t->sp = (uintptr_t)REGISTERS(uc)[REG_RSP];
    t->rdi = (uintptr_t)REGISTERS(uc)[REG_RDI];
    t->rsi = (uintptr_t)REGISTERS(uc)[REG_RSI];
    t->rdx = (uintptr_t)REGISTERS(uc)[REG_RDX];
    t->done = 0;
    REGISTERS(uc)[REG_RSP] = (greg_t)(uintptr_t)t;
}

void transfer_go_on(void *frame, struct transfer *t)
{
    ucontext_t *uc = frame;
    int where, count;
    if (!is_transfer(uc, t->number, &where, &count))
        return;
    greg_t bytes = RESULT(uc);
    if (!is_over(uc))
        go_to_transfer(uc, t);
    t->done += (uint64_t)bytes;
    REGISTERS(uc)[where] += bytes;
    REGISTERS(uc)[count] -= bytes;
    REGISTERS(uc)[REG_RIP] = (greg_t)(uintptr_t)ps_transfer;
    RESULT(uc) = t->number;
}

#else

bool transfer_call(const void *frame, long *number)
{
    (void)frame, (void)number;
    return false;
}

uintptr_t transfer_stands_at(const void *frame, uintptr_t pc)
{
    (void)frame;
    return pc;
}

struct transfer *transfer_begin(const void *frame, long number, struct transfer *room)
{
    (void)frame, (void)number, (void)room;
    return NULL;
}

void transfer_go_on(void *frame, struct transfer *t) { (void)frame, (void)t; }

#endif
