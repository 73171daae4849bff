/* AArch64 (AAPCS64): what cpu.h asks of a port.
 *
 * A saved context is its stack pointer; everything else is in the frame that it points to. switch.S writes and reads
 * the frame, frame_port.h makes the first one. A frame has 176 bytes, so the stack stays 16-byte aligned. Lowest
 * address first:
 *
 *   sp +   0   x29, x30       frame pointer and return address, as a frame record
 *                             first frame: 0 (ends frame-record chains), cpu_first
 *   sp +  16   x19, x20       first frame: entry, arg
 *   sp +  32   x21, x22       and so on, to sp + 80: x27, x28
 *   sp +  96   d8,  d9        and so on, to sp + 144: d14, d15; a callee saves the low halves of v8-v15
 *   sp + 160   FPCR, FPSR
 *
 * Pointer authentication: each caller has signed its return address with its own stack pointer as modifier. The switch
 * saves and restores the signed address, and signs nothing itself. Landing pads (BTI) are in place. SVE: a function of
 * the base procedure call standard keeps d8 to d15 for its caller, and no other vector or predicate register;
 * cpu_switch is such a function. A function of the vector standard, which keeps z8 to z23 and p4 to p15, saves them
 * itself before it calls cpu_switch. SME: the switch keeps nothing of ZA; a thread that waits must not leave ZA dormant
 * (TPIDR2_EL0). Tags of addresses (MTE, top-byte ignore) stay, because nothing here masks the upper bits of an
 * address. */
#ifndef PS_CPU_PORT_H
#define PS_CPU_PORT_H

#include "compiler.h"

#ifndef __cplusplus
#include "atomic.h"
#endif

#define CPU_PORT_NAME "aarch64"
#define CPU_CARRIES_TLS 0
#define CPU_STACK_MIN 16384

/* The frame above, as a table for debuggers (psthreads/debug/debug_layout.c). */
/* clang-format off */
#define CPU_SAVED_REGISTERS \
    {"reg.x29", 0}, {"reg.pc", 8}, {"reg.x19", 16}, {"reg.x20", 24}, {"reg.x21", 32}, {"reg.x22", 40}, \
    {"reg.x23", 48}, {"reg.x24", 56}, {"reg.x25", 64}, {"reg.x26", 72}, {"reg.x27", 80}, {"reg.x28", 88}, \
    {"reg.cfa", 176},
/* clang-format on */

struct cpu_context {
    void *sp;
};
/* The stack pointer of a saved context: the stack below this address is unused. */
#define CPU_SAVED_SP(context) ((uintptr_t)(context)->sp)

#define CPU_HAS_FLOAT_STATE 1
struct cpu_float {
    uint32_t fpcr; /* controls: rounding and traps; the upper half of the 64-bit register is reserved */
    uint32_t fpsr; /* status flags */
};
#ifndef __cplusplus
static inline uint32_t cpu_aarch64_fpcr(void)
{
    uint64_t now;
    __asm__ volatile("mrs %0, fpcr" : "=r"(now));
    return (uint32_t)now;
}
static inline void cpu_float_save(struct cpu_float *state)
{
    uint64_t flags;
    state->fpcr = cpu_aarch64_fpcr();
    __asm__ volatile("mrs %0, fpsr" : "=r"(flags));
    state->fpsr = (uint32_t)flags;
}
static inline bool cpu_float_controls_differ(const struct cpu_float *a, const struct cpu_float *b)
{
    return a->fpcr != b->fpcr;
}
static inline bool cpu_float_controls_changed(const struct cpu_float *since)
{
    return cpu_aarch64_fpcr() != since->fpcr;
}
/* The cheapest comparison of controls that the port has. On x86-64 it looks at the x87 unit alone, hence the name. */
static inline bool cpu_float_x87_differs(const struct cpu_float *a, const struct cpu_float *b)
{
    return cpu_float_controls_differ(a, b);
}
static inline bool cpu_float_x87_changed(const struct cpu_float *since) { return cpu_float_controls_changed(since); }
static inline void cpu_float_set(const struct cpu_float *state)
{
    __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1" : : "r"((uint64_t)state->fpcr), "r"((uint64_t)state->fpsr));
}
static inline bool cpu_float_changed(const struct cpu_float *since)
{
    struct cpu_float now;
    cpu_float_save(&now);
    return now.fpcr != since->fpcr || now.fpsr != since->fpsr;
}

extern _Atomic bool cpu_aarch64_keeps_flags __attribute__((visibility("hidden")));
static inline void cpu_float_keep_flags(void) { ps_store_seq(&cpu_aarch64_keeps_flags, true); }
static inline bool cpu_float_flags_kept(void) { return ps_load_seq(&cpu_aarch64_keeps_flags); }
static inline void cpu_float_save_kept(struct cpu_float *state) { cpu_float_save(state); }
static inline bool cpu_float_kept_differ(const struct cpu_float *a, const struct cpu_float *b)
{
    return a->fpcr != b->fpcr || (cpu_float_flags_kept() && a->fpsr != b->fpsr);
}
static inline void cpu_float_set_kept(const struct cpu_float *state, const struct cpu_float *now)
{
    (void)now;
    cpu_float_set(state);
}
static inline void cpu_float_take_flags(struct cpu_float *state, const struct cpu_float *from)
{
    state->fpsr = from->fpsr;
}
#endif

/* isb delays the loop. The instruction `yield` does nothing on most cores. */
static inline void cpu_pause(void) { __asm__ volatile("isb" ::: "memory"); }
static inline uint64_t cpu_cycles(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

#endif
