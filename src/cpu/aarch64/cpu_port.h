/* AArch64 (AAPCS64): what cpu.h asks of a port.
 *
 * A saved context is its stack pointer; everything else is in the frame that it points to. The frame, lowest address
 * first (switch.S writes and reads it, frame_port.h makes the first one); 176 bytes, the stack stays 16-byte aligned:
 *
 *   sp +   0   x29, x30       frame pointer and return address, as a frame record
 *                             first frame: 0 (ends frame-record chains), cpu_first
 *   sp +  16   x19, x20       first frame: entry, arg
 *   sp +  32   x21, x22
 *   sp +  48   x23, x24
 *   sp +  64   x25, x26
 *   sp +  80   x27, x28
 *   sp +  96   d8,  d9        the low halves of v8-v15 are the callee's to save
 *   sp + 112   d10, d11
 *   sp + 128   d12, d13
 *   sp + 144   d14, d15
 *   sp + 160   FPCR, FPSR
 *
 * Pointer authentication: return addresses are saved as the callers signed them, with their own stack pointers as
 * modifier, and come back with those; nothing is signed here. Landing pads are in place.
 *
 * SVE: a function of the base procedure call standard keeps d8 to d15 for its caller and nothing else of the vector and
 * predicate registers. One of the vector standard, which keeps z8 to z23 and p4 to p15, saves them itself before it
 * calls anything of the base standard, as cpu_switch is. SME: nothing is kept of ZA; a thread that waits has not to
 * leave it dormant (TPIDR2_EL0). Tags of addresses (MTE, top-byte ignore) stay: nothing here masks an address's upper
 * bits. */
#ifndef PS_CPU_PORT_H
#define PS_CPU_PORT_H

#include "compiler.h"

#ifndef __cplusplus
#include "atomic.h"
#endif

#define CPU_PORT_NAME "aarch64"
#define CPU_CARRIES_TLS 0
#define CPU_STACK_MIN 16384

/* The frame above, for debuggers (psthreads/debug/debug_layout.c). */
/* clang-format off */
#define CPU_SAVED_REGISTERS \
    {"reg.x29", 0}, {"reg.pc", 8}, {"reg.x19", 16}, {"reg.x20", 24}, {"reg.x21", 32}, {"reg.x22", 40}, \
    {"reg.x23", 48}, {"reg.x24", 56}, {"reg.x25", 64}, {"reg.x26", 72}, {"reg.x27", 80}, {"reg.x28", 88}, \
    {"reg.cfa", 176},
/* clang-format on */

struct cpu_context {
    void *sp;
};
/* Of a saved context: what lies below is free. */
#define CPU_SAVED_SP(context) ((uintptr_t)(context)->sp)

#define CPU_HAS_FLOAT_STATE 1
struct cpu_float {
    uint32_t fpcr; /* rounding, traps; the register's upper half is reserved */
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
/* The cheapest look at controls; x86-64's is at the x87 unit alone. */
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

static inline void cpu_pause(void) { __asm__ volatile("isb" ::: "memory"); } /* yield is a no-op on most cores */
static inline uint64_t cpu_cycles(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

#endif
