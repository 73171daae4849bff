/* System calls that handlers of the program's have ended stay so, whatever interrupts follow.
 *
 * A handler returns behind the call that it has ended, with EINTR or a part of a transfer as the result. An interrupt
 * that has become pending meanwhile comes before the next instruction, and finds what it would find if it had ended
 * the call itself: restart.c would make the call anew. So a call that waits for that handler would wait for ever.
 *   x86-64  The handler does not return behind the call, but to an instruction of this file's, which goes there. A
 *           system call leaves the address behind it in rcx, so nothing else is needed. A processor with FRED leaves
 *           rcx as it was. No code uses rcx there, so it is written where the call has ended with EINTR.
 *           Limit with FRED: a transfer that has ended with a part may be continued.
 *   others  No register is free. The sender of an interrupt counts the calls that were ended before it looks where the
 *           kernel thread waits (restart_look). If that count has changed when the interrupt comes, the call stays
 *           ended.
 *           Limit: a call that the program has made anew at this place since the look ends with EINTR as well.
 *
 * Nor is a call made anew that the interrupt itself has ended, where a handler of the program's runs inside the
 * interrupt's. What is called there lets signals in before it leaves the stack, or waits (os_interrupt_leaves). Such a
 * handler's frame is found some calls below the interrupt's.
 * Handlers that were installed by the system call itself are not seen. */
#include "ended_call.h"

#include "atomic.h"
#include "compiler.h"
#include "os.h"
#include "registers.h"

#define SLOTS 64

#if defined(__x86_64__)

__asm__(".pushsection .text\n"
        "\t.type ps_call_stays_ended, @function\n"
        "\t.cfi_startproc\n"
        "\t.cfi_signal_frame\n"
        "\t.cfi_def_cfa rsp, 0\n"
        "\t.cfi_register rip, rcx\n"
        "\tnop\n"
        "ps_call_stays_ended:\n"
        "\tjmp *%rcx\n"
        "\t.cfi_endproc\n"
        "\t.size ps_call_stays_ended, . - ps_call_stays_ended\n"
        "\t.popsection");
extern const char ps_call_stays_ended[] __attribute__((visibility("hidden")));

void ended_call_stays(void *frame)
{
    ucontext_t *uc = frame;
    greg_t *rcx = &REGISTERS(uc)[REG_RCX];
    if (*rcx != PC(uc) && RESULT(uc) == -EINTR && registers_call_over((uintptr_t)PC(uc)))
        *rcx = PC(uc);
    if (*rcx == PC(uc)) /* then it goes on there in any case */
        PC(uc) = (greg_t)(uintptr_t)ps_call_stays_ended;
}

uintptr_t ended_call_stands_at(const void *frame, uintptr_t pc)
{
    const ucontext_t *uc = frame;
    return pc == (uintptr_t)ps_call_stays_ended ? (uintptr_t)REGISTERS(uc)[REG_RCX] : pc;
}

uint32_t ended_call_count(int tid) { return (void)tid, 0; }

#else

uintptr_t ended_call_stands_at(const void *frame, uintptr_t pc) { return (void)frame, pc; }

#ifdef PC
static _Atomic uint32_t ended[SLOTS]; /* by kernel thread's number */

void ended_call_stays(void *frame)
{
    const ucontext_t *uc = frame;
    if (registers_call_over((uintptr_t)PC(uc)))
        ps_add_seq(&ended[(unsigned)os_thread_id() % SLOTS], 1);
}

uint32_t ended_call_count(int tid) { return ps_load_seq(&ended[(unsigned)tid % SLOTS]); }
#else
void ended_call_stays(void *frame) { (void)frame; }
uint32_t ended_call_count(int tid) { return (void)tid, 0; }
#endif

#endif

#ifdef PC
#define DEPTH_BYTES 4096 /* a guard's: nothing of another stack is that near */

/* By kernel thread's number; where two share one, the earlier's handlers are not seen. Written on that kernel thread:
 * by the interrupt that lets signals in, and by the handlers that run then. Taken by the same interrupt when it has
 * blocked all signals again, perhaps on another kernel thread: the thread has moved. `frame` is set last, and looked at
 * last, seq_cst both: `handled`, which is read before, is that interrupt's. A handler looks at `frame` on the kernel
 * thread that has set it, so relaxed does there. */
static struct {
    _Atomic(const void *) frame;
    _Atomic uint64_t handled;
} inside[SLOTS];

void ended_call_lets_in(const void *frame)
{
    unsigned slot = (unsigned)os_thread_id() % SLOTS;
    ps_store_seq(&inside[slot].frame, NULL);
    ps_store_seq(&inside[slot].handled, 0);
    ps_store_seq(&inside[slot].frame, frame);
}

uint64_t ended_call_handled(int tid, const void *frame)
{
    unsigned slot = (unsigned)tid % SLOTS;
    uint64_t handled = ps_load_seq(&inside[slot].handled);
    return ps_cas_seq(&inside[slot].frame, &frame, NULL) ? handled : 0;
}

void os_handler_returns(int number, void *frame)
{
    const ucontext_t *uc = frame;
    unsigned slot = (unsigned)os_thread_id() % SLOTS;
    if (PS_UNLIKELY((uintptr_t)ps_load_relaxed(&inside[slot].frame) - (uintptr_t)SP(uc) < DEPTH_BYTES))
        ps_or_seq(&inside[slot].handled, UINT64_C(1) << (number - 1));
    if (!(OS_FAULT_SIGNALS >> (number - 1) & 1)) /* the instruction may be what cannot be read */
        ended_call_stays(frame);
}
#else
void os_handler_returns(int number, void *frame) { (void)number, (void)frame; }
#endif
