/* x86-64 (System V ABI): what cpu.h asks of a port.
 *
 * A saved context is its stack pointer; everything else is in the frame that it points to. switch.S writes and reads
 * the frame, frame_port.h makes the first one. Lowest address first:
 *
 *   sp +  0   MXCSR (4 bytes), x87 control word (2), x87 status word (2; 0 while flags are not kept)
 *   sp +  8   r15
 *   sp + 16   r14
 *   sp + 24   r13        first frame: arg
 *   sp + 32   r12        first frame: entry
 *   sp + 40   rbx
 *   sp + 48   rbp        first frame: 0, ends frame-pointer chains
 *   sp + 56   return address      first frame: cpu_first
 *   sp + 64   the caller's frame  first frame: 16-byte aligned, zeros
 *
 * Intel's control-flow technology: entries begin with endbr64, so indirect-branch tracking works. Shadow stacks do not
 * work: each context would need a shadow stack of its own, and each change of it a system call. The objects are not
 * marked for shadow stacks, so the dynamic linker leaves them off. */
#ifndef PS_CPU_PORT_H
#define PS_CPU_PORT_H

#include "compiler.h"

#ifndef __cplusplus
#include "atomic.h"
#endif

#define CPU_PORT_NAME "x86_64"
#define CPU_CARRIES_TLS 0
#define CPU_STACK_MIN 16384
#define CPU_HAS_GUARDED_CALL 1

/* The frame above, as a table for debuggers (psthreads/debug/debug_layout.c). */
/* clang-format off */
#define CPU_SAVED_REGISTERS \
    {"reg.rbp", 48}, {"reg.rbx", 40}, {"reg.r12", 32}, {"reg.r13", 24}, {"reg.r14", 16}, {"reg.r15", 8}, \
    {"reg.rip", 56}, {"reg.cfa", 64},
/* clang-format on */

struct cpu_context {
    void *sp;
};
/* The stack pointer of a saved context: the stack below this address is unused. */
#define CPU_SAVED_SP(context) ((uintptr_t)(context)->sp)

#ifndef __cplusplus
/* 1: the kernel allows wrfsbase. Written by the first cpu_tp_settable or cpu_set_tp, and constant afterwards; so
 * relaxed loads suffice. */
extern _Atomic int cpu_x86_user_tp __attribute__((visibility("hidden")));
void cpu_set_tp(void *tp);
#define CPU_HAS_SET_TP_SOON 1
static inline void cpu_set_tp_soon(void *tp)
{
    if (PS_LIKELY(ps_load_relaxed(&cpu_x86_user_tp)))
        __asm__ volatile("wrfsbase %0" : : "r"(tp) : "memory");
    else
        cpu_set_tp(tp);
}
#endif

#define CPU_HAS_FLOAT_STATE 1
struct cpu_float {
    uint32_t mxcsr;
    uint16_t x87cw, x87sw; /* x87sw: flags alone; cpu_float_save does not write it */
};
#ifndef __cplusplus
static inline void cpu_float_save(struct cpu_float *state)
{
    __asm__ volatile("stmxcsr %0\n\tfnstcw 4+%0" : "=m"(*state)); /* one operand, so one address is formed */
}
_Static_assert(offsetof(struct cpu_float, x87cw) == 4, "cpu_float_save");
#define CPU_MXCSR_CONTROL 0xffc0u /* all bits except the status flags */
static inline bool cpu_float_controls_differ(const struct cpu_float *a, const struct cpu_float *b)
{
    return ((a->mxcsr ^ b->mxcsr) & CPU_MXCSR_CONTROL) != 0 || a->x87cw != b->x87cw;
}
static inline bool cpu_float_x87_differs(const struct cpu_float *a, const struct cpu_float *b)
{
    return a->x87cw != b->x87cw;
}
/* Looks at MXCSR alone. cpu_float_changed says why that suffices. */
static inline bool cpu_float_controls_changed(const struct cpu_float *since)
{
    uint32_t now;
    __asm__ volatile("stmxcsr %0" : "=m"(now));
    return ((now ^ since->mxcsr) & CPU_MXCSR_CONTROL) != 0;
}
/* Looks at the x87 control word alone. Reading it takes one nanosecond, reading MXCSR five. */
static inline bool cpu_float_x87_changed(const struct cpu_float *since)
{
    uint16_t now;
    __asm__ volatile("fnstcw %0" : "=m"(now));
    return now != since->x87cw;
}
static inline void cpu_float_set(const struct cpu_float *state)
{
    __asm__ volatile("ldmxcsr %0" : : "m"(state->mxcsr));
    __asm__ volatile("fldcw %0" : : "m"(state->x87cw));
}
/* Looks at MXCSR alone: the C library changes rounding and traps of both units at once. */
static inline bool cpu_float_changed(const struct cpu_float *since)
{
    uint32_t now;
    __asm__ volatile("stmxcsr %0" : "=m"(now));
    return now != since->mxcsr;
}

extern _Atomic bool cpu_x86_keeps_flags __attribute__((visibility("hidden")));
static inline void cpu_float_keep_flags(void) { ps_store_seq(&cpu_x86_keeps_flags, true); }
static inline bool cpu_float_flags_kept(void) { return ps_load_seq(&cpu_x86_keeps_flags); }
#define CPU_X87_FLAGS 0x7fu
static inline void cpu_float_save_kept(struct cpu_float *state)
{
    cpu_float_save(state);
    state->x87sw = 0;
    if (!cpu_float_flags_kept())
        return;
    __asm__ volatile("fnstsw %0" : "=m"(state->x87sw));
    state->x87sw &= CPU_X87_FLAGS;
}
static inline bool cpu_float_kept_differ(const struct cpu_float *a, const struct cpu_float *b)
{
    return cpu_float_flags_kept() ? a->mxcsr != b->mxcsr || a->x87cw != b->x87cw || a->x87sw != b->x87sw
                                  : cpu_float_controls_differ(a, b);
}
void cpu_x86_set_x87(const struct cpu_float *state);
static inline void cpu_float_set_kept(const struct cpu_float *state, const struct cpu_float *now)
{
    if (state->mxcsr != now->mxcsr)
        __asm__ volatile("ldmxcsr %0" : : "m"(state->mxcsr));
    if (PS_UNLIKELY(state->x87cw != now->x87cw || state->x87sw != now->x87sw))
        cpu_x86_set_x87(state);
}
static inline void cpu_float_take_flags(struct cpu_float *state, const struct cpu_float *from)
{
    state->mxcsr = (state->mxcsr & CPU_MXCSR_CONTROL) | (from->mxcsr & ~CPU_MXCSR_CONTROL);
    state->x87sw = from->x87sw;
}
#endif

static inline void cpu_pause(void) { __builtin_ia32_pause(); }
static inline uint64_t cpu_cycles(void) { return __builtin_ia32_rdtsc(); }

#endif
