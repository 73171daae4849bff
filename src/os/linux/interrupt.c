/* Interrupting a kernel thread of this process: a function is called there, on the stack that runs. The function may
 * leave that stack for good or for a while.
 *
 * Does: choose a signal, install its handler at the first need, tell what was interrupted. Does not: know stacks or
 * schedulers.
 * Callers: any kernel thread may call os_interrupt (the progress watchdog, senders of signals); one waits for another.
 * The function runs in a signal handler.
 * The signal is SIGURG. Its default is to be ignored, so a stray one cannot end the process. Where the program handles
 * SIGURG itself, the signal is a real-time signal without a handler. os_interrupt checks that before each use, since a
 * program may change its handlers. A thread that waits by sigwait and its like may take it, although it blocks it: the
 * kernel shows such a thread's mask without what it waits for. So the signal has a code of
 * its own, and the answers to sigwait know it by that (os_interrupt_is_told).
 *
 * The function may come back on another kernel thread. Then the handler brings the frame up to date: the alternate
 * stack and the signal mask become those of the kernel thread that runs now.
 *
 * What was interrupted is told from the instruction's address (code.c). The address alone does not suffice in four
 * cases. Unwinding the stack decides the first three:
 *   a wait in a library           Of those that the runtime calls, as the C library: the wait is the program's only if
 *                                 the program called the library.
 *   a signal handler              The program's handler runs in the middle of anything, also of the runtime's own code.
 *                                 Such a handler is frequent: signals that are pending together are delivered one on
 *                                 top of the other. Code in a handler does not count as the program's.
 *   a replaced function           The main program may replace a function of the C library (a malloc of its own). There
 *                                 it may hold a lock that the runtime needs for its next step, but where it waits in a
 *                                 system call. If the runtime called it, the runtime is in the middle of something.
 *                                 The runtime calls the program's functions by pointer and libraries by name. The
 *                                 instruction in front of the innermost return address into the runtime tells which.
 *   a PS_PREEMPTIBLE function     These functions of the runtime count as the program's code. A program that waits for
 *                                 a flag may ask for the time, or for its number, at each look, and would otherwise
 *                                 never be found in its own code.
 *
 * Limits:
 *   - Without an unwinder (musl) the second and third case are not recognized.
 *   - The third case is not recognized either where the program is UNWIND_DEPTH calls deep.
 *   - The runtime may call a program's function as its last action, by a jump. Such a function is taken for a
 *     library's: it is never interrupted.
 * Failures: ENOTSUP on other processors, EBUSY where no signal is free, ESRCH. */
#include "atomic.h"
#include "os.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#include "code.h"
#include "ended_call.h"
#include "raw.h"
#include "registers.h"
#include "restart.h"
#include "task_file.h"

#define UNWIND_DEPTH 32
#define CALLERS_DEPTH 128
#define RED_ZONE 128        /* below the stack pointer, of the code that was interrupted */
#define INTERRUPT (-0x7054) /* the signal's si_code; signals.c has one, too */
#define LOCK_WAIT_NS INT64_C(50000)

static os_interrupt_fn *_Atomic function;
static _Atomic int chosen; /* the signal, written by os_interrupt; 0: none yet */

/* Begin and end of PS_PREEMPTIBLE's functions, by the linker; not in objects that have none. */
extern const char __start_ps_preemptible[] __attribute__((weak, visibility("hidden")));
extern const char __stop_ps_preemptible[] __attribute__((weak, visibility("hidden")));

/* As code_at, for one that asks what may be left. */
static enum code preemptible_at(uintptr_t address)
{
    return address >= (uintptr_t)__start_ps_preemptible && address < (uintptr_t)__stop_ps_preemptible
               ? CODE_PROGRAM
               : code_at(address);
}

/* --- what was interrupted --- */

#ifdef PC
/* Where the code stands that has made the call first, of a call that is made by the runtime's code. */
#define STANDS_AT(uc) restart_block_stands_at(uc, ended_call_stands_at(uc, (uintptr_t)PC(uc)))

/* The runtime, to which `back` returns, called by name: a call of an address in its own code (a stub, mostly), or
 * (x86-64) of one in its table of them. A call of any address in a register is one by pointer: so the runtime is not
 * built with -fno-plt for other processors. */
static bool called_by_name(uintptr_t back)
{
    const unsigned char *end = (const unsigned char *)back;
    int32_t last;
    memcpy(&last, end - sizeof last, sizeof last);
#if defined(__x86_64__)
    return (end[-5] == 0xe8 && code_at(back + (uintptr_t)(intptr_t)last) == CODE_RUNTIME) ||
           (end[-6] == 0xff && end[-5] == 0x15);
#elif defined(__aarch64__)
    bool bl = ((uint32_t)last & 0xfc000000) == 0x94000000;
    intptr_t distance = (int32_t)((uint32_t)last << 6) / 16; /* 26 bits, of words */
    return bl && code_at(back - 4 + (uintptr_t)distance) == CODE_RUNTIME;
#else
    uint32_t jump = (uint32_t)last, before;
    memcpy(&before, end - 8, sizeof before);
    if ((jump & 0xfff) == 0x0ef) { /* jal ra: bits 20, 10:1, 11, 19:12 */
        uint32_t distance =
            (jump >> 20 & 0x7fe) | (jump >> 9 & 0x800) | (jump & 0xff000) | (jump >> 31 ? 0xfff00000 : 0);
        return code_at(back - 4 + (uintptr_t)(intptr_t)(int32_t)distance) == CODE_RUNTIME;
    }
    bool far = (before & 0xfff) == 0x097 && (jump & 0xfffff) == 0x080e7; /* auipc ra; jalr ra, (ra) */
    intptr_t distance = (intptr_t)(int32_t)(before & 0xfffff000) + (last >> 20);
    return far && code_at(back - 8 + (uintptr_t)distance) == CODE_RUNTIME;
#endif
}

/* The instruction itself, or what follows it, where the kernel does not restart the call. */
static bool in_call(uintptr_t pc) { return registers_call_next(pc) || registers_call_over(pc); }

/* The system call that was interrupted, and will be made anew, is a wait on a futex. One that is over is none. */
static bool in_futex(const ucontext_t *uc)
{
    return registers_call_next((uintptr_t)PC(uc)) && CALL_NUMBER(uc) == SYS_futex;
}

/* What was interrupted is the program's own doing: it is not in a signal handler, it is a wait if it is in a library,
 * and the runtime has not called it by name. In a wait of its own the runtime may hold a lock, or a vp that it goes on
 * with afterwards. */
static bool for_the_program(const ucontext_t *uc, bool in_library)
{
    void *at[UNWIND_DEPTH];
    int n = os_backtrace(at, UNWIND_DEPTH), i = 0;
    if (n == 0)
        return !in_library;
    while (i < n && (uintptr_t)at[i] != (uintptr_t)PC(uc)) /* this function's callers, then the signal's frame */
        i++;
    for (int k = i + 1; i > 0 && k < n; k++)
        if (at[k] == at[i - 1]) /* another such frame */
            return false;
    while (i < n && (uintptr_t)at[i] != STANDS_AT(uc)) /* frames of ended_call.c and restart_block.c */
        i++;
    enum code of;
    for (; i < n && ((of = preemptible_at((uintptr_t)at[i])) == CODE_LIBRARY || of == CODE_LOADER); i++)
        if (of == CODE_LOADER && !in_futex(uc)) /* it may hold what is needed to start a kernel thread */
            return false;
    if (in_library && !(i < n && preemptible_at((uintptr_t)at[i]) == CODE_PROGRAM))
        return false;
    for (; i < n && preemptible_at((uintptr_t)at[i]) != CODE_RUNTIME; i++)
        if (code_replaced((uintptr_t)at[i]) && !in_call(STANDS_AT(uc)))
            return false;
    return i == n || !called_by_name((uintptr_t)at[i]);
}

bool os_interrupted_program(const void *frame, const void *stack, size_t stack_bytes)
{
    const ucontext_t *uc = frame;
    uintptr_t pc = STANDS_AT(uc), sp = (uintptr_t)SP(uc), start = (uintptr_t)stack;
    if (sp < start || sp >= start + stack_bytes || uc->uc_link == uc) /* on_signal: it may be in a call, or not */
        return false;
    enum code of = preemptible_at(pc);
    if (of == CODE_LIBRARY || of == CODE_LOADER)
        return in_call(pc) && for_the_program(uc, true);
    return of == CODE_PROGRAM && for_the_program(uc, false);
}

/* Where a handler of a signal returns to. */
static bool ends_handler(uintptr_t address)
{
#if defined(__x86_64__)
    static const unsigned char code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}; /* mov $15, %rax; syscall */
#elif defined(__aarch64__)
    static const unsigned char code[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4}; /* mov x8, #139; svc #0 */
#else
    static const unsigned char code[] = {0x93, 0x08, 0xb0, 0x08, 0x73, 0, 0, 0}; /* li a7, 139; ecall */
#endif
    return memcmp((const void *)address, code, sizeof code) == 0;
}

bool os_called_by_program(void)
{
    void *at[CALLERS_DEPTH];
    int n = os_backtrace(at, CALLERS_DEPTH), i = 0;
    while (i < n && code_at((uintptr_t)at[i]) == CODE_RUNTIME)
        i++;
    for (int k = i; k < n; k++)
        if (ends_handler((uintptr_t)at[k]))
            return false;
    while (i < n && code_at((uintptr_t)at[i]) != CODE_RUNTIME)
        i++;
    return i == n || !called_by_name((uintptr_t)at[i]);
}

static OS_OWN_HANDLER void on_signal(int number, siginfo_t *info, void *frame);
extern const char __start_ps_on_signal[] __attribute__((visibility("hidden")));
extern const char __stop_ps_on_signal[] __attribute__((visibility("hidden")));
bool os_interrupt_is_by(uintptr_t address)
{
    return address >= (uintptr_t)__start_ps_on_signal && address < (uintptr_t)__stop_ps_on_signal;
}

bool os_interrupted_handler(void)
{
    void *at[CALLERS_DEPTH];
    int n = os_backtrace(at, CALLERS_DEPTH), handlers = 0;
    for (int i = 2; i < n; i++) /* on_signal is called by what stands before handlers, by a jump or not */
        handlers += ends_handler((uintptr_t)at[i]) && !os_interrupt_is_by((uintptr_t)at[i - 1]) &&
                    !os_interrupt_is_by((uintptr_t)at[i - 2]);
    return handlers > 1;
}

bool os_interrupted_own_code(const void *frame)
{
    const ucontext_t *uc = frame; /* on_signal: a call that is next may have begun */
    return uc->uc_link != uc && code_at(STANDS_AT(uc)) == CODE_PROGRAM;
}

/* Told in the frame, in a field that the kernel does not look at. */
void os_interrupt_handled(void *frame, _Atomic uint64_t *signals)
{
    ucontext_t *uc = frame;
    uc->uc_link = (void *)signals;
}

/* By kernel thread's number: it is in the handler, with all signals blocked; 0: none is. Where two share one, senders
 * take a kernel thread in the handler for one that blocks the signal. */
static _Atomic int handles[64];
static _Atomic int *handles_by(int tid) { return &handles[(unsigned)tid % (sizeof handles / sizeof *handles)]; }

bool os_interrupt_handles(int tid) { return ps_load_acquire(handles_by(tid)) == tid; }

/* In a call that has a mask of its own while it waits (ppoll) it is this mask still. */
void os_interrupt_leaves(void *frame)
{
    ps_store_release(handles_by(os_thread_id()), 0);
    ended_call_lets_in(frame);
    os_set_signal_mask(os_frame_mask(frame));
}

static void on_signal(int number, siginfo_t *info, void *frame)
{
    (void)info;
    ucontext_t *uc = frame;
    os_interrupt_fn *fn = ps_load_acquire(&function);
    int tid = os_thread_id();
    if (!fn)
        return;
    ps_store_release(handles_by(tid), tid);
    ended_call_handled(tid, frame); /* what stood there may have been left by a jump */
    struct restart_call call;
    restart_begin(frame, number, &call);
    uintptr_t goes_on = (uintptr_t)PC(uc);
    uc->uc_link = call.made == RESTART_UNTOLD ? uc : NULL;
    restart_was(tid, fn, false);
    if (!fn(frame)) {
        restart_was(tid, fn, call.made != RESTART_UNTOLD);
        os_set_signal_mask(OS_ALL_SIGNALS);
        if ((uintptr_t)PC(uc) == goes_on) /* no detour */
            restart_end(frame, number, &call, ended_call_handled(tid, frame));
        ps_store_release(handles_by(tid), 0);
        return;
    }
    os_frame_set_mask(frame, os_swap_signal_mask(OS_ALL_SIGNALS));
    _Atomic uint64_t *handled = (void *)uc->uc_link;
    uint64_t signals = (handled ? ps_xchg_seq(handled, 0) : 0) | ended_call_handled(tid, frame);
    uc->uc_link = NULL;
    raw_call(SYS_sigaltstack, 0, (long)&uc->uc_stack, 0, 0);
    uc->uc_stack.ss_flags &= ~SS_ONSTACK;
    restart_end(frame, number, &call, signals);
}

/* How the call goes on is told on the stack that was interrupted: the alternate one is the kernel thread's, and the
 * call may have to wait. Nothing runs on that stack then before the kernel takes the frame. */
void os_signal_passed(void *frame, int number)
{
    const ucontext_t *uc = frame;
    struct restart_call here, *call = &here;
    bool inside = (uintptr_t)SP(uc) - (uintptr_t)uc->uc_stack.ss_sp < uc->uc_stack.ss_size; /* a handler in a handler */
    if (os_frame_is_apart(frame) && !inside)
        call = (struct restart_call *)(((uintptr_t)SP(uc) - RED_ZONE - sizeof here) & -(uintptr_t)PS_CACHE_LINE);
    os_set_signal_mask(OS_ALL_SIGNALS);
    restart_begin(frame, number, call);
    restart_end(frame, number, call, 0);
#if defined(__x86_64__)
    if (call->block)
        __asm__ volatile("mov %0, %%rsp\n\tmov %1, %%eax\n\tsyscall"
                         :
                         : "r"(frame), "i"(SYS_rt_sigreturn)
                         : "rax", "rcx", "r11", "memory");
#endif
}

/* --- sending --- */

static bool is_a_handler(uintptr_t of) { return of != (uintptr_t)SIG_DFL && of != (uintptr_t)SIG_IGN; }

/* Ours is a handler that is not shown where functions of the C library are answered (psthreads/calls/handlers.c). */
static bool is_ours_or_free(int number, bool *ours)
{
    struct {
        uintptr_t handler, flags, restorer_or_mask[2];
    } kernels = {.handler = 0};
    struct sigaction now;
    if (sigaction(number, NULL, &now) != 0)
        return false;
    raw_call(SYS_rt_sigaction, number, 0, (long)&kernels, sizeof(uint64_t));
    bool shown = is_a_handler((uintptr_t)now.sa_handler);
    *ours = shown ? now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_signal : is_a_handler(kernels.handler);
    return *ours || !shown;
}

static bool install(int number)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER};
    bool ours;
    sigfillset(&action.sa_mask); /* but for a while: os_interrupt_leaves */
    if (!is_ours_or_free(number, &ours) || (!ours && sigaction(number, &action, NULL) != 0))
        return false;
    ps_store_relaxed(&chosen, number);
    return true;
}

/* Kernel thread tid has the signal blocked, as its line in /proc says; not by its handler. Under Valgrind the line says
 * nothing: Valgrind blocks all signals while it runs the program's code, and delivers them by itself. */
static bool is_blocked_there(int tid, int number)
{
    return !RUNNING_ON_VALGRIND && task_file_blocked(tid, 0) >> (number - 1) & 1 && !os_interrupt_handles(tid);
}

static int interrupt(int tid, os_interrupt_fn *fn)
{
    ps_store_release(&function, fn);
    code_look();
    int before = ps_load_relaxed(&chosen);
    bool ready = (before && install(before)) || install(SIGURG);
    for (int number = SIGRTMAX; !ready && number > SIGRTMIN; number--)
        ready = install(number);
    if (!ready)
        return EBUSY;
    if (!restart_look(tid, fn) || (tid != os_thread_id() && is_blocked_there(tid, ps_load_relaxed(&chosen))))
        return EAGAIN;
    siginfo_t info = {.si_signo = ps_load_relaxed(&chosen), .si_code = INTERRUPT};
    info.si_pid = getpid();
    info.si_uid = getuid();
    long error = raw_call(SYS_rt_tgsigqueueinfo, info.si_pid, tid, info.si_signo, (long)&info);
    if (error < 0 && error != -ESRCH) /* a quota, a filter */
        error = raw_call(SYS_tgkill, info.si_pid, tid, info.si_signo, 0);
    return (int)-error;
}

bool os_interrupt_is_blocked(uint64_t mask)
{
    int number = ps_load_relaxed(&chosen);
    return mask >> ((number ? number : SIGURG) - 1) & 1;
}

/* The lock names its process and kernel thread. A lock that was held in a parent process at a fork is taken over: its
 * owner is not here. All signals are blocked meanwhile: a handler of the program's might wait for other threads, which
 * need the lock. A handler of a fault may still interrupt this function and send a signal itself. Such a handler goes
 * on without the lock, since its thread has it. */
int os_interrupt(int tid, os_interrupt_fn *fn)
{
    static _Atomic uint64_t taken;
    const uint64_t self = (uint64_t)getpid() << 32 | (uint32_t)os_thread_id();
    _Atomic uint32_t nobody_wakes = 0;
    uint64_t by = 0, mask = os_signal_mask();
    os_set_signal_mask(OS_ALL_SIGNALS);
    while (!ps_cas_acq_rel(&taken, &by, self) && by != self)
        if (by >> 32 == self >> 32) { /* a few system calls long */
            os_park(&nobody_wakes, 0, LOCK_WAIT_NS);
            by = 0;
        }
    int error = interrupt(tid, fn);
    if (by != self)
        ps_store_release(&taken, 0);
    os_set_signal_mask(mask);
    return error;
}

#else
bool os_interrupt_handles(int tid)
{
    (void)tid;
    return false;
}

bool os_interrupted_program(const void *frame, const void *stack, size_t stack_bytes)
{
    (void)frame, (void)stack, (void)stack_bytes;
    return false;
}

bool os_interrupted_own_code(const void *frame)
{
    (void)frame;
    return false;
}

bool os_called_by_program(void) { return true; }

bool os_interrupt_is_by(uintptr_t address)
{
    (void)address;
    return false;
}

bool os_interrupted_handler(void) { return false; }
void os_signal_passed(void *frame, int number) { (void)frame, (void)number; }
void os_interrupt_handled(void *frame, _Atomic uint64_t *signals) { (void)frame, (void)signals; }
void os_interrupt_leaves(void *frame) { (void)frame; }

int os_interrupt(int tid, os_interrupt_fn *fn)
{
    (void)tid, (void)fn;
    return ENOTSUP;
}

bool os_interrupt_is_blocked(uint64_t mask)
{
    (void)mask;
    return false;
}

#endif

/* Where too many signals are queued the kernel sends it without what it brings. */
bool os_interrupt_is_told(const void *info)
{
    const siginfo_t *of = info;
    return of->si_code == INTERRUPT ||
           (of->si_code == SI_USER && of->si_pid == 0 && of->si_signo == ps_load_relaxed(&chosen));
}
