/* System calls that an interrupt of the runtime's ends are made anew.
 *
 * The kernel restarts most system calls after a handler with SA_RESTART. Others return EINTR whatever the flags say:
 * poll, select, epoll_wait, nanosleep, msgrcv, semop, sockets with a time limit (signal(7)). A program without handlers
 * never sees that, so it must not see it because of the runtime's interrupts.
 *
 * Such a call is made again by the handler's frame: the instruction is repeated with the number and the first argument
 * that the kernel has overwritten with the result. Where these are to be had:
 *   - /proc/self/task/TID/syscall, which the sender reads before it sends (restart_look). The handler takes what the
 *     sender has read only if instruction, stack pointer and the arguments that are still in registers are the same.
 *   - x86-64: the instructions in front of the system call, where they load the number: from a constant, with at most
 *     LOADS_MOST loads of arguments from the stack behind it, or from a register, which the call keeps. The sender may
 *     have looked before the thread came to its call, long before on a busy machine.
 *   - x86-64: os_system_call, by which the program's calls of `syscall` are made: the number stands on the stack.
 *   - restart_block.c's own instruction: beside it on the stack.
 * A call with a relative time limit is made with the rest of it (countdown.c); a sleep that tells the rest goes on with
 * that anywhere. It may take longer than asked for, as it may on a busy machine, never shorter. Where a limit begins
 * to count anew all the same, and the interrupt changes nothing (the thread cannot be left there) and comes again and
 * again, such a limit would never be met. So each next interrupt of a call waits twice as long as all before it took.
 * Interrupts of another kind, which call another function there, do not wait for this one's pause: it may do what this
 * one cannot. By a time t each of n kinds that are in vain comes but once before 3t; so a limit T is met after some
 * 1.5 (n + 1) T.
 * A call that was ended in the middle of a transfer goes on with the rest of its bytes (transfer.c).
 *
 * A call is not made again where a handler of the program's is to run that would end it: the call ends with EINTR, as
 * it would without the runtime. So the program's signals stay blocked in the handler (sa_mask in interrupt.c) until
 * what it calls leaves the stack for a while (os_interrupt_leaves). At its end the handler looks which are pending, and
 * takes the restart back: its own, or the kernel's where the program's handler has no SA_RESTART (restart_take_back).
 * The thread may have been away, and have handled signals meanwhile (directed.h): these count as well.
 * sigsuspend and sigtimedwait are made again like any other call: what they wait for stays pending in between. A call
 * whose own mask keeps the interrupt out was ended by another signal (keeps_out). Nor is an interrupt sent to a kernel
 * thread that has it blocked just now: it would come when the program's handler returns, at the end of a call that this
 * handler has ended.
 * Limit: a signal that comes after that look is handled before the call is made again, some instructions later. Such a
 * call waits on, where the signal was not blocked before the call: as in a program that is at its call a moment later.
 * close is not made again: its descriptor may be free already.
 * A call that one of the program's handlers has ended is not taken for one that the interrupt has ended (ended_call.c).
 *
 * A call that the kernel makes again is known by the sender's look alone: the registers are those of a thread that has
 * not made the call yet. If the kernel thread ran when the sender looked, and the handler finds the instruction of a
 * call next, the thread is not left (RESTART_UNTOLD). It might be away for long, and handle signals meanwhile that
 * would have ended the call. The next interrupt finds it waiting, or past the call.
 *
 * A look is written by one sender at a time (os_interrupt's lock), and read by handlers. Its `tid` is 0 while the rest
 * is written; a handler reads `tid` before and after. */
#include "restart.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "atomic.h"
#include "countdown.h"
#include "ended_call.h"
#include "os.h"
#include "raw.h"
#include "registers.h"
#include "task_file.h"
#include "transfer.h"

#define LINE_BYTES 256
#define LOADS_MOST 2
#define CODE_BYTES 32 /* more than is_told_by_code looks at */
#define FIRST_PAUSE_NS 1000000

#if defined(PC)
static const int argument[ARGUMENTS] = ARGUMENT_REGISTERS;

struct call {
    long number;
    unsigned long argument[ARGUMENTS], sp, pc;
};
/* By kernel thread's number; where two share one, the earlier is not known. */
#define SLOTS 64
static struct look {
    _Atomic int tid;       /* negative: it ran */
    uint32_t ended_before; /* ended_call_count, before the look at the call; sender's, as `call` */
    struct call call;
} looks[SLOTS];
static struct look *look_of(int tid) { return &looks[(unsigned)tid % SLOTS]; }

/* By kernel thread's number and kind of interrupt (what is called there): whether the last one was in vain (handlers),
 * and what the senders know. Where two share one, they wait less, or once more. */
#define KINDS 8
static struct tried {
    _Atomic int in_vain; /* of this number; 0: of none */
    struct call call;
    uint64_t first_ns, next_ns;
} tried[SLOTS][KINDS];
static _Atomic(os_interrupt_fn *) kinds[KINDS]; /* written by senders, once each; read by handlers */

/* NULL: there are more kinds. */
static struct tried *tried_by(int tid, os_interrupt_fn *kind, bool add)
{
    for (unsigned i = 0; i < KINDS; i++) {
        os_interrupt_fn *known = ps_load_acquire(&kinds[i]);
        if (!known && add)
            ps_store_release(&kinds[i], known = kind);
        if (known == kind)
            return &tried[(unsigned)tid % SLOTS][i];
    }
    return NULL;
}

void restart_was(int tid, os_interrupt_fn *kind, bool in_vain)
{
    struct tried *t = tried_by(tid, kind, false);
    if (t)
        ps_store_release(&t->in_vain, in_vain ? tid : 0);
}

/* Sender's side: the call that has just been looked at. */
static bool is_in_vain(int tid, os_interrupt_fn *kind)
{
    struct tried *t = tried_by(tid, kind, true);
    uint64_t now = os_now_ns();
    if (!t)
        return false;
    const struct call *call = &look_of(tid)->call;
    if (ps_load_acquire(&t->in_vain) != tid || memcmp(&t->call, call, sizeof *call) != 0) {
        t->call = *call;
        t->first_ns = t->next_ns = now;
        return false;
    }
    if (now < t->next_ns)
        return true;
    t->next_ns = now + 2 * (now - t->first_ns) + FIRST_PAUSE_NS;
    return false;
}

/* The line of /proc: the number, the arguments, stack pointer and instruction; or that it runs. */
static bool parse(const char *line, struct call *call)
{
    char *end;
    call->number = strtol(line, &end, 10);
    if (end == line || call->number < 0)
        return false;
    for (int i = 0; i < ARGUMENTS; i++)
        call->argument[i] = strtoul(end, &end, 16);
    call->sp = strtoul(end, &end, 16);
    call->pc = strtoul(end, &end, 16);
    return call->pc != 0;
}

bool restart_look(int tid, os_interrupt_fn *kind)
{
    char text[LINE_BYTES];
    struct look *look = look_of(tid);
    ps_store_seq(&look->tid, 0);
    look->ended_before = ended_call_count(tid);
    if (!task_file_read(tid, "syscall", text, sizeof text)) /* it has ended, or no descriptor is free */
        return true;
    bool waits = parse(text, &look->call);
    ps_store_seq(&look->tid, waits ? tid : -tid);
    return !waits || !is_in_vain(tid, kind);
}

/* *number and *first are what was looked at, if it is this call, which goes on at pc; else they stay. */
static bool was_seen(const ucontext_t *uc, unsigned long pc, long *number, unsigned long *first)
{
    int tid = os_thread_id();
    const struct look *look = look_of(tid);
    if (ps_load_seq(&look->tid) != tid)
        return false;
    const struct call *call = &look->call;
    long seen = call->number;
    unsigned long first_seen = call->argument[0];
    bool same = call->sp == (unsigned long)SP(uc) && call->pc == pc && look->ended_before == ended_call_count(tid);
    for (int i = FIRST_PRESERVED; i < ARGUMENTS; i++)
        same &= call->argument[i] == (unsigned long)REGISTERS(uc)[argument[i]];
    /* The number of a call that the kernel makes anew tells nothing. */
    if (ps_load_seq(&look->tid) != tid || !same || seen == SYS_restart_syscall)
        return false;
    *number = seen;
    *first = first_seen;
    return true;
}

#if defined(__x86_64__)
/* Where a load of an argument (rdi, rsi, rdx) from the stack begins that ends at `end`: mov disp8(%rsp), reg. */
static const unsigned char *load_from_stack(const unsigned char *end)
{
    unsigned char reg = end[-3] >> 3 & 7;
    if (end[-4] != 0x8b || (end[-3] & 0xc7) != 0x44 || end[-2] != 0x24 || (reg != 7 && reg != 6 && reg != 2))
        return NULL;
    return end - (end[-5] == 0x48 ? 5 : 4);
}

/* mov reg, %eax that ends at `end`: the register's value, where that is futex's number, the only one that the C library
 * keeps in registers. So a prefix that is none, but the end of another instruction, does no harm. */
static bool is_move_to_number(const ucontext_t *uc, const unsigned char *end, long *number)
{
    static const int low[] = {-1, -1, REG_RDX, REG_RBX, -1, REG_RBP, REG_RSI, REG_RDI};
    static const int high[] = {REG_R8, REG_R9, REG_R10, -1, REG_R12, REG_R13, REG_R14, REG_R15};
    int reg = (end[-3] == 0x44 ? high : low)[end[-1] >> 3 & 7];
    *number = SYS_futex;
    return end[-2] == 0x89 && (end[-1] & 0xc7) == 0xc0 && reg >= 0 && (uint32_t)REGISTERS(uc)[reg] == SYS_futex;
}

/* As the C library's syscall, with the number in the last argument's place meanwhile. A leaf: a call that comes back on
 * another stack finds nothing on it. */
__asm__(".pushsection ps_preemptible,\"ax\",@progbits\n"
        "\t.globl os_system_call\n"
        "\t.hidden os_system_call\n"
        "\t.type os_system_call, @function\n"
        "os_system_call:\n"
        "\t.cfi_startproc\n"
        "\tmov %rdi, %rax\n"
        "\tmov %rsi, %rdi\n"
        "\tmov %rdx, %rsi\n"
        "\tmov %rcx, %rdx\n"
        "\tmov %r8, %r10\n"
        "\tmov %r9, %r8\n"
        "\tmov 8(%rsp), %r9\n"
        "\tmov %rax, 8(%rsp)\n"
        "\tsyscall\n"
        "\t.globl os_system_call_end\n"
        "\t.hidden os_system_call_end\n"
        "os_system_call_end:\n"
        "\tret\n"
        "\t.cfi_endproc\n"
        "\t.size os_system_call, . - os_system_call\n"
        "\t.popsection");
extern const char os_system_call_end[] __attribute__((visibility("hidden")));
#else
long os_system_call(long number, long a, long b, long c, long d, long e, long f)
{
    return raw_call6(number, a, b, c, d, e, f);
}
#endif

/* The same by the instructions in front: a load of the number. */
static bool is_told_by_code(const ucontext_t *uc, long *number)
{
#if defined(__x86_64__)
    const unsigned char *end = (const unsigned char *)PC(uc) - INSTRUCTION_BYTES;
    if (!registers_readable_before((uintptr_t)PC(uc), CODE_BYTES))
        return false;
    if (PC(uc) == (greg_t)(intptr_t)os_system_call_end) {
        *number = *(const long *)(intptr_t)(SP(uc) + (greg_t)sizeof(long));
        return true;
    }
    if (is_move_to_number(uc, end, number))
        return true;
    for (int loads = 0; end && loads <= LOADS_MOST; loads++, end = load_from_stack(end)) {
        uint32_t value;
        *number = 0;
        if (end[-2] == 0x31 && end[-1] == 0xc0 && (end[-3] & 0xf0) != 0x40) /* xor %eax, %eax */
            return true;
        memcpy(&value, end - sizeof value, sizeof value);
        *number = (long)value;
        if (end[-5] == 0xb8 && (end[-6] & 0xf0) != 0x40) /* not of another register */
            return true;
    }
#else
    (void)uc, (void)number;
#endif
    return false;
}

/* The instruction is the next again, with what has been looked at. */
static enum restart restarted_by_kernel(const ucontext_t *uc)
{
    long number;
    unsigned long first;
    int tid = os_thread_id();
    if (!registers_call_next((uintptr_t)PC(uc)))
        return RESTART_NONE;
    if (was_seen(uc, (unsigned long)PC(uc) + INSTRUCTION_BYTES, &number, &first))
        return RESTART_BY_KERNEL;
    return ps_load_seq(&look_of(tid)->tid) == -tid ? RESTART_UNTOLD : RESTART_NONE;
}

/* The call lets signals in by a mask of its own, and not this one. So it was ended by another one, whose handler has
 * returned, and with it the mask of before the call, by which this one came in. */
static bool keeps_out(const ucontext_t *uc, long number, unsigned long first, int by)
{
    int at = number == SYS_ppoll                                       ? 3
             : number == SYS_epoll_pwait || number == SYS_epoll_pwait2 ? 4
             : number == SYS_pselect6 || number == SYS_io_pgetevents   ? 5
                                                                       : 0;
    const uint64_t *mask = (const uint64_t *)(at ? (unsigned long)REGISTERS(uc)[argument[at]] : first);
    if (at == 0 && number != SYS_rt_sigsuspend)
        return false;
    if (at == 5 && mask) /* its address, and its size */
        mask = *(const uint64_t *const *)mask;
    return mask && *mask >> (by - 1) & 1;
}

static bool is_told_by_block(const ucontext_t *uc, long *number)
{
    const struct restart_block *block = restart_block_over(uc);
    if (block)
        *number = block->number;
    return block != NULL;
}

/* The call that is over: its number, and its first argument where that was seen. */
static bool ended_call(const ucontext_t *uc, long *number, unsigned long *first)
{
    return registers_call_over((uintptr_t)PC(uc)) &&
           (is_told_by_block(uc, number) || was_seen(uc, (unsigned long)PC(uc), number, first) ||
            is_told_by_code(uc, number));
}

enum restart restart_in(void *frame, int by)
{
    ucontext_t *uc = frame;
    long number;
    unsigned long first = (unsigned long)REGISTERS(uc)[argument[0]];
    enum restart by_kernel = restarted_by_kernel(uc);
    if (by_kernel != RESTART_NONE)
        return by_kernel;
    if ((long)RESULT(uc) != -EINTR || !ended_call(uc, &number, &first))
        return RESTART_NONE;
    if (number == SYS_close || keeps_out(uc, number, first, by))
        return RESTART_NONE;
    PC(uc) -= INSTRUCTION_BYTES;
    REGISTERS(uc)[argument[0]] = (__typeof__(REGISTERS(uc)[0]))first;
#if defined(__x86_64__)
    RESULT(uc) = number;
#endif
    bool relative = number == SYS_clock_nanosleep && REGISTERS(uc)[argument[1]] == 0;
    if (relative && !restart_block_works() && REGISTERS(uc)[argument[3]] != 0) /* the kernel has told the rest there */
        REGISTERS(uc)[argument[2]] = REGISTERS(uc)[argument[3]];
    return RESTART_ANEW;
}

/* The program's handler of this signal, which has run or is next, ends a call that it interrupts. */
static bool ends_calls(int number, enum restart made)
{
    struct sigaction now;
    if (sigaction(number, NULL, &now) != 0 || (!(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_IGN))
        return false;
    if (!(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL) /* it was for once, or there was none */
        return number != SIGCHLD && number != SIGURG && number != SIGWINCH && number != SIGCONT;
    return made != RESTART_BY_KERNEL || !(now.sa_flags & SA_RESTART);
}

/* Handlers of the program's end a call that would be made again as `made` says: those of these signals. */
static bool is_ended_by(uint64_t signals, const void *frame, enum restart made)
{
    for (signals &= ~os_frame_mask(frame); signals; signals &= signals - 1)
        if (ends_calls(__builtin_ctzll(signals) + 1, made))
            return true;
    return false;
}

/* These have run meanwhile (bits from 0); those of pending signals run next. */
static bool is_ended(const void *frame, int by, enum restart made, uint64_t signals)
{
    return is_ended_by(signals | (os_signals_pending() & ~(UINT64_C(1) << (by - 1))), frame, made);
}

void restart_take_back(void *frame, int by, enum restart made, uint64_t signals)
{
    ucontext_t *uc = frame;
    if ((made == RESTART_ANEW || made == RESTART_BY_KERNEL) && is_ended(frame, by, made, signals)) {
        PC(uc) += INSTRUCTION_BYTES;
        RESULT(uc) = (__typeof__(RESULT(uc)))-EINTR;
    }
}

void restart_begin(void *frame, int by, struct restart_call *call)
{
    long number;
    unsigned long first;
    call->made = restart_in(frame, by);
    call->block = countdown_begin(frame, call->made == RESTART_ANEW, &call->room);
    if (!call->block && call->made == RESTART_NONE && ended_call(frame, &number, &first))
        call->block = transfer_begin(frame, number, &call->room);
}

void restart_end(void *frame, int by, struct restart_call *call, uint64_t signals)
{
    bool counts = call->block && call->block->end_ns;
    if (counts)
        countdown_go_on(frame, call->block);
    restart_take_back(frame, by, call->made, signals);
    if (call->block && !counts && !is_ended(frame, by, RESTART_ANEW, signals))
        transfer_go_on(frame, call->block);
    if (is_ended_by(signals, frame, call->made)) /* one that runs next says so itself, or passes its signal on */
        ended_call_stays(frame);
    __asm__ volatile("" : : "r"(call) : "memory"); /* the call reads what is in it, in a frame that has been left */
}
#endif
