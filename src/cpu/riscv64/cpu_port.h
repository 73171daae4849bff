/* RISC-V, 64 bits, double-precision float (LP64D; also LP64 without float registers): what cpu.h asks of a port.
 *
 * A saved context is its stack pointer; everything else is in the frame that it points to. switch.S writes and reads
 * the frame, frame_port.h makes the first one. A frame has 224 bytes, so the stack stays 16-byte aligned. Lowest
 * address first:
 *
 *   sp +   0   s0 ... s11 (12 x 8)     first frame: s0 = 0 (ends frame-pointer chains), s1 = entry, s2 = arg
 *   sp +  96   ra                      first frame: cpu_first
 *   sp + 104   fcsr: the rounding mode and the status flags
 *   sp + 112   fs0 ... fs11 (12 x 8)   unused without float registers
 *   sp + 208   unused
 *
 * The switch does not touch gp and tp.
 *
 * V: a function of the standard calling convention, as cpu_switch is, keeps no vector register for its caller, nor vl,
 * vtype, vxrm and vxsat. A function of the vector convention keeps v1 to v7 and v24 to v31. It saves them itself before
 * it calls a function of the standard convention. */
#ifndef PS_CPU_PORT_H
#define PS_CPU_PORT_H

#include "compiler.h"

#ifndef __cplusplus
#include "atomic.h"
#endif

#define CPU_PORT_NAME "riscv64"
#define CPU_CARRIES_TLS 0
#define CPU_STACK_MIN 16384

/* The frame above, as a table for debuggers (psthreads/debug/debug_layout.c). */
/* clang-format off */
#define CPU_SAVED_REGISTERS \
    {"reg.fp", 0}, {"reg.s1", 8}, {"reg.s2", 16}, {"reg.s3", 24}, {"reg.s4", 32}, {"reg.s5", 40}, {"reg.s6", 48}, \
    {"reg.s7", 56}, {"reg.s8", 64}, {"reg.s9", 72}, {"reg.s10", 80}, {"reg.s11", 88}, {"reg.pc", 96}, \
    {"reg.cfa", 224},
/* clang-format on */

struct cpu_context {
    void *sp;
};
/* The stack pointer of a saved context: the stack below this address is unused. */
#define CPU_SAVED_SP(context) ((uintptr_t)(context)->sp)

#ifdef __riscv_flen
#define CPU_HAS_FLOAT_STATE 1
struct cpu_float {
    uint32_t fcsr;
};
/* fcsr's lowest bits are the status flags. Above them is the rounding mode, the only control: RISC-V has no traps. */
#define CPU_RISCV_FLAGS 0x1fu
#ifndef __cplusplus
static inline uint32_t cpu_riscv_rounding(void)
{
    uintptr_t now;
    __asm__ volatile("frrm %0" : "=r"(now));
    return (uint32_t)now;
}
static inline void cpu_float_save(struct cpu_float *state)
{
    uintptr_t now;
    __asm__ volatile("frcsr %0" : "=r"(now));
    state->fcsr = (uint32_t)now;
}
static inline bool cpu_float_controls_differ(const struct cpu_float *a, const struct cpu_float *b)
{
    return (a->fcsr ^ b->fcsr) > CPU_RISCV_FLAGS;
}
static inline bool cpu_float_controls_changed(const struct cpu_float *since)
{
    return cpu_riscv_rounding() != since->fcsr >> 5;
}
/* The cheapest comparison of controls that the port has. On x86-64 it looks at the x87 unit alone, hence the name. */
static inline bool cpu_float_x87_differs(const struct cpu_float *a, const struct cpu_float *b)
{
    return cpu_float_controls_differ(a, b);
}
static inline bool cpu_float_x87_changed(const struct cpu_float *since) { return cpu_float_controls_changed(since); }
static inline void cpu_float_set(const struct cpu_float *state)
{
    __asm__ volatile("fscsr %0" : : "r"((uintptr_t)state->fcsr));
}
static inline bool cpu_float_changed(const struct cpu_float *since)
{
    struct cpu_float now;
    cpu_float_save(&now);
    return now.fcsr != since->fcsr;
}

extern _Atomic bool cpu_riscv_keeps_flags __attribute__((visibility("hidden")));
static inline void cpu_float_keep_flags(void) { ps_store_seq(&cpu_riscv_keeps_flags, true); }
static inline bool cpu_float_flags_kept(void) { return ps_load_seq(&cpu_riscv_keeps_flags); }
static inline void cpu_float_save_kept(struct cpu_float *state) { cpu_float_save(state); }
static inline bool cpu_float_kept_differ(const struct cpu_float *a, const struct cpu_float *b)
{
    return cpu_float_controls_differ(a, b) || (cpu_float_flags_kept() && a->fcsr != b->fcsr);
}
static inline void cpu_float_set_kept(const struct cpu_float *state, const struct cpu_float *now)
{
    (void)now;
    cpu_float_set(state);
}
static inline void cpu_float_take_flags(struct cpu_float *state, const struct cpu_float *from)
{
    state->fcsr = (state->fcsr & ~CPU_RISCV_FLAGS) | (from->fcsr & CPU_RISCV_FLAGS);
}
#endif
#endif

/* The hint `pause` of Zihintpause. It is written as the fence that encodes it, so that every assembler takes it. */
static inline void cpu_pause(void) { __asm__ volatile(".insn i 0x0f, 0, x0, x0, 0x010" ::: "memory"); }
static inline uint64_t cpu_cycles(void)
{
    uint64_t ticks;
    __asm__ volatile("rdtime %0" : "=r"(ticks)); /* a program may read rdcycle only if the kernel allows it */
    return ticks;
}

#endif
