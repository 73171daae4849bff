/* A system call that is made with other arguments than the program's, after an interrupt: with the rest of its time
 * limit (countdown.c), or of its bytes (transfer.c). The kernel's restart_block holds the same for the calls that it
 * restarts by itself.
 *
 * What was changed must be known at the call's next interrupt, and to that call only: the program may make the same
 * call at the same place again. The program's registers, which a system call keeps, must be as they were. And something
 * may be left to do behind the call, which may be interrupted as well. So the call is made by an instruction of this
 * file (ps_restart_call) with a structure on the stack beside it:
 *   - The handler's frame holds the structure. When the handler returns, the stack pointer is set to its address. So
 *     signal frames come below it. All signals are blocked from when it is filled in until the frame is left.
 *   - The instruction follows with changed arguments. Behind it the program's registers are as they were, flags and r11
 *     too, and the program goes on.
 *   - Where a part of some buffers is transferred, and was wholly, a second call follows with the buffers behind it.
 *   - What was transferred before is added to the result. If this call failed that alone is the result, as it would be
 *     if the program had made this call itself.
 *   - An interrupt there finds the structure by the stack pointer. Nothing is to be freed where the thread never comes
 *     back (longjmp, cancellation).
 * Unwinders find the program's frame by the structure.
 *
 * Whether a thread may be left at a call depends on the code that made the call first. So all that asks where a thread
 * stands asks restart_block_stands_at: behind that code's own instruction. The runtime has waits and transfers as well.
 * If these counted as this file's, a thread would be left in the middle of the runtime's work.
 *
 * Not on other processors than x86-64. Nor under Valgrind, which takes what a handler leaves on the stack for dead; nor
 * where AddressSanitizer may put a function's variables elsewhere. */
#include "restart_block.h"

#include <stddef.h>
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#include "compiler.h"
#include "registers.h"

#if defined(__x86_64__) && !PS_ASAN

/* Behind the call no instruction changes the flags. */
__asm__(".pushsection .text\n"
        "\t.type ps_restart_call, @function\n"
        "\t.cfi_startproc\n"
        "\t.cfi_signal_frame\n"
        "\t.cfi_escape 0x0f, 3, 0x77, 8, 0x06\n" /* CFA: what is at rsp + 8 */
        "\t.cfi_escape 0x10, 16, 2, 0x77, 0\n"   /* rip: at rsp + 0 */
        "\tnop\n"
        "ps_restart_call:\n"
        "\tsyscall\n"
        "ps_restart_call_end:\n"
        "\tmov 72(%rsp), %rcx\n"
        "\tjrcxz 3f\n"
        "\tmov 112(%rsp), %rcx\n" /* the whole part? */
        "\tnot %rcx\n"
        "\tlea 1(%rcx, %rax), %rcx\n"
        "\tjrcxz 4f\n"
        "3:\tmov 56(%rsp), %rcx\n"
        "\tjrcxz 2f\n"
        "\tcqo\n"
        "\tmov %rdx, %rcx\n"
        "\tjrcxz 1f\n"
        "\tmov $0, %eax\n" /* it failed */
        "1:\tmov 56(%rsp), %rcx\n"
        "\tlea (%rax, %rcx), %rax\n"
        "2:\tmov 16(%rsp), %rdi\n"
        "\tmov 24(%rsp), %rsi\n"
        "\tmov 32(%rsp), %rdx\n"
        "\tmov 40(%rsp), %r10\n"
        "\tmov 48(%rsp), %r8\n"
        "\tmov (%rsp), %rcx\n" /* as a system call leaves it */
        "\t.cfi_remember_state\n"
        "\tmov 8(%rsp), %rsp\n"
        "\t.cfi_def_cfa rsp, 0\n"
        "\t.cfi_register rip, rcx\n"
        "\tjmp *%rcx\n"
        "\t.cfi_restore_state\n"
        "4:\tmov 56(%rsp), %rcx\n"
        "\tlea (%rax, %rcx), %rcx\n"
        "\tmov %rcx, 56(%rsp)\n"
        "\tmov 72(%rsp), %rcx\n"
        "\tmov %rcx, 144(%rsp)\n"
        "\tmov 80(%rsp), %rcx\n"
        "\tmov %rcx, 136(%rsp)\n"
        "\tmov 88(%rsp), %rsi\n"
        "\tmov 96(%rsp), %rdx\n"
        "\tmov $0, %ecx\n"
        "\tmov %rcx, 72(%rsp)\n"
        "\tmov 64(%rsp), %rax\n"
        "\tjmp ps_restart_call\n"
        "\t.cfi_endproc\n"
        "\t.size ps_restart_call, . - ps_restart_call\n"
        "\t.popsection");
_Static_assert(offsetof(struct restart_block, pc) == 0 && offsetof(struct restart_block, sp) == 8 &&
                   offsetof(struct restart_block, rdi) == 16 && offsetof(struct restart_block, rsi) == 24 &&
                   offsetof(struct restart_block, rdx) == 32 && offsetof(struct restart_block, r10) == 40 &&
                   offsetof(struct restart_block, r8) == 48 && offsetof(struct restart_block, done) == 56 &&
                   offsetof(struct restart_block, number) == 64 && offsetof(struct restart_block, next_n) == 72 &&
                   offsetof(struct restart_block, next) == 80 && offsetof(struct restart_block, next_rsi) == 88 &&
                   offsetof(struct restart_block, next_rdx) == 96 &&
                   offsetof(struct restart_block, part.iov_len) == 112 &&
                   offsetof(struct restart_block, message.msg_iov) == 136 &&
                   offsetof(struct restart_block, message.msg_iovlen) == 144,
               "the code above");
extern const char ps_restart_call[] __attribute__((visibility("hidden")));
extern const char ps_restart_call_end[] __attribute__((visibility("hidden")));

static struct restart_block *block_at(const ucontext_t *uc, uintptr_t pc, const char *instruction)
{
    return pc == (uintptr_t)instruction ? (struct restart_block *)REGISTERS(uc)[REG_RSP] : NULL;
}
static uintptr_t pc_of(const ucontext_t *uc) { return (uintptr_t)REGISTERS(uc)[REG_RIP]; }

bool restart_block_works(void) { return !RUNNING_ON_VALGRIND; }
struct restart_block *restart_block_next(const void *frame) { return block_at(frame, pc_of(frame), ps_restart_call); }
struct restart_block *restart_block_over(const void *frame)
{
    return block_at(frame, pc_of(frame), ps_restart_call_end);
}

uintptr_t restart_block_stands_at(const void *frame, uintptr_t pc)
{
    const struct restart_block *next = block_at(frame, pc, ps_restart_call);
    const struct restart_block *over = block_at(frame, pc, ps_restart_call_end);
    return next ? next->pc : over ? over->pc : pc;
}

/* Of the program's registers all but these are as they were: its own, and those that the call needs. */
void restart_block_enter(void *frame, struct restart_block *block, uintptr_t behind)
{
    ucontext_t *uc = frame;
    if (!restart_block_next(frame) && !restart_block_over(frame)) {
        block->pc = behind;
        block->sp = (uintptr_t)REGISTERS(uc)[REG_RSP];
        block->rdi = (uintptr_t)REGISTERS(uc)[REG_RDI];
        block->rsi = (uintptr_t)REGISTERS(uc)[REG_RSI];
        block->rdx = (uintptr_t)REGISTERS(uc)[REG_RDX];
        block->r10 = (uintptr_t)REGISTERS(uc)[REG_R10];
        block->r8 = (uintptr_t)REGISTERS(uc)[REG_R8];
        REGISTERS(uc)[REG_RSP] = (greg_t)(uintptr_t)block;
    }
    REGISTERS(uc)[REG_RIP] = (greg_t)(uintptr_t)ps_restart_call;
    REGISTERS(uc)[REG_RAX] = block->number;
}

#else

bool restart_block_works(void) { return false; }
uintptr_t restart_block_stands_at(const void *frame, uintptr_t pc) { return (void)frame, pc; }

struct restart_block *restart_block_next(const void *frame)
{
    (void)frame;
    return NULL;
}

struct restart_block *restart_block_over(const void *frame)
{
    (void)frame;
    return NULL;
}

void restart_block_enter(void *frame, struct restart_block *block, uintptr_t behind)
{
    (void)frame, (void)block, (void)behind;
}

#endif
