/* The processor contract: contexts and their switch, the pause, the cycle counter, the thread pointer.
 *
 * A port is a folder beside this file with a header "cpu_port.h" (included below) and one or more sources. The port
 * must give:
 *   struct cpu_context    what is saved of a context that does not run
 *   cpu_pause()           static inline: hint in a spin loop
 *   cpu_cycles()          static inline: a counter that grows (time-stamp counter or like)
 *   CPU_STACK_MIN         the least bytes of stack that a context needs; the caller rounds up to pages
 *   CPU_CARRIES_TLS       1 if a context brings its own C-library thread (port posix), else 0
 * and the functions below.
 *
 * Guarantees of cpu_switch, said in C: it returns in `to`, at the point where `to` last called cpu_switch (or at its
 * entry). All callee-saved registers, the stack pointer and the floating-point *control* state are as they were there.
 * That state is the rounding mode and the exception masks (x86-64: MXCSR's control bits and the x87 control word;
 * AArch64: FPCR; RISC-V: fcsr's frm). Status flags of MXCSR on x86-64, of FPSR on AArch64 and of fcsr on RISC-V are
 * restored as well, and so are the x87 unit's after cpu_float_keep_flags; other flags keep the values of the context
 * that was left. Caller-saved registers are not kept. The switch does not touch the signal mask and the thread pointer
 * (port posix: they change, because the kernel thread does).
 * The value of `transfer` comes out as cpu_switch's result in `to` (or as the entry's first argument).
 *
 * Publication: the write to *save happens before anything that runs in `to`. Once `to` runs, it may publish *save by a
 * release store. A kernel thread that reads this store by an acquire load may then switch to *save.
 *
 * Cost: assembly ports save and restore the callee-saved registers and the floating-point state; no system call.
 * Paper: psthreads-2009 section 2.1 (UTHLIB on jmpbuf, ucontext or POSIX threads). */
#ifndef PS_CPU_H
#define PS_CPU_H

#include "compiler.h"
#include "cpu_port.h"

/* The first function of a context. `transfer` comes from the first cpu_switch to the context, `arg` from
 * cpu_context_init. The function must never return. */
typedef void cpu_entry_fn(void *transfer, void *arg);

/* Makes *ctx a context that starts entry(transfer, arg) on [stack, stack + bytes) at the first switch to it. *ctx was
 * zeroed before its first use, or is a context of this same stack that does not run; then it starts afresh. The stack
 * grows down from the top; unwinding (gdb, C++ exceptions, perf) ends cleanly below the entry. Returns 0, or a positive
 * errno value; assembly ports cannot fail. */
int cpu_context_init(struct cpu_context *ctx, void *stack, size_t bytes, cpu_entry_fn *entry, void *arg);

/* Makes *ctx stand for the calling kernel thread's own stack, which runs now. Returns 0 or a positive errno value. */
int cpu_context_adopt(struct cpu_context *ctx);

/* Gives back what the port holds for a context that will not be switched to any more and that does not run now.
 * Assembly ports hold nothing. */
void cpu_context_fini(struct cpu_context *ctx);

/* Saves the running context in *save and continues the context *to. The head of this file has the guarantees. */
void *cpu_switch(struct cpu_context *save, struct cpu_context *to, void *transfer);

/* A call that can be ended at once by any function that it has called, directly or through others. This costs less than
 * setjmp and longjmp. The functions exist only where the port defines CPU_HAS_GUARDED_CALL. They must not be used where
 * a sanitizer watches the stacks. cpu_guarded_call calls fn(arg). Its result is what fn returns, or the `result` that
 * cpu_guarded_leave was given. cpu_guarded_call writes *guard for cpu_guarded_leave; the value is valid while fn runs.
 * Unwinding ends in the frame of cpu_guarded_call: an exception that leaves fn finds no handler. cpu_guarded_leave runs
 * no destructor and no cleanup of the frames that it leaves. */
#if defined(CPU_HAS_GUARDED_CALL) && !defined(__cplusplus)
void *cpu_guarded_call(void *(*fn)(void *arg), void *arg, void **guard) __attribute__((visibility("hidden")));
void cpu_guarded_leave(void *guard, void *result) __attribute__((noreturn, visibility("hidden")));
#endif

/* The floating-point state of the running code: controls (rounding mode and traps) and status flags. The callers save
 * it and set it again around a call of another thread's function on this stack. For ports without such state the
 * functions below do nothing. cpu_float_keep_flags may be called by any thread (seq_cst). From then on, for good,
 * status flags are kept too: cpu_switch keeps the x87 unit's, and the functions with `kept` in their names keep all.
 * Before that call a caller can rely on the controls alone. */
#if !defined(CPU_HAS_FLOAT_STATE)
struct cpu_float {
    char nothing;
};
#ifndef __cplusplus
static inline void cpu_float_save(struct cpu_float *state) { (void)state; }
static inline void cpu_float_set(const struct cpu_float *state) { (void)state; }
static inline bool cpu_float_changed(const struct cpu_float *since)
{
    (void)since;
    return false;
}
static inline bool cpu_float_controls_differ(const struct cpu_float *a, const struct cpu_float *b)
{
    (void)a, (void)b;
    return false;
}
static inline bool cpu_float_x87_differs(const struct cpu_float *a, const struct cpu_float *b)
{
    (void)a, (void)b;
    return false;
}
static inline bool cpu_float_x87_changed(const struct cpu_float *since)
{
    (void)since;
    return false;
}
static inline bool cpu_float_controls_changed(const struct cpu_float *since)
{
    (void)since;
    return false;
}
static inline void cpu_float_keep_flags(void) {}
static inline bool cpu_float_flags_kept(void) { return false; }
static inline void cpu_float_save_kept(struct cpu_float *state) { (void)state; }
static inline bool cpu_float_kept_differ(const struct cpu_float *a, const struct cpu_float *b)
{
    (void)a, (void)b;
    return false;
}
static inline void cpu_float_set_kept(const struct cpu_float *state, const struct cpu_float *now)
{
    (void)state, (void)now;
}
static inline void cpu_float_take_flags(struct cpu_float *state, const struct cpu_float *from)
{
    (void)state, (void)from;
}
#endif
#endif

/* The thread pointer, by which native ELF thread-local storage is addressed. cpu_tp_settable() returns whether
 * cpu_set_tp works on this machine. x86-64 finds out once, by bit 1 of the auxiliary vector's HWCAP2, whether it may
 * use fsgsbase; otherwise cpu_set_tp calls arch_prctl. Ports whose contexts use or bring a kernel thread's own storage
 * (ucontext, posix) return false. */
bool cpu_tp_settable(void);
void *cpu_get_tp(void);
void cpu_set_tp(void *tp);
/* cpu_set_tp for the path of a switch. cpu_tp_settable must have been called before. A port that sets the thread
 * pointer by one instruction defines this function inline. */
#if !defined(CPU_HAS_SET_TP_SOON) && !defined(__cplusplus)
static inline void cpu_set_tp_soon(void *tp) { cpu_set_tp(tp); }
#endif

#endif
