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
 *   sp + 160   FPCR, unused
 *
 * Pointer authentication: return addresses are saved as the callers signed them, with their own stack pointers as
 * modifier, and come back with those; nothing is signed here. Landing pads are in place. */
#ifndef PS_CPU_PORT_H
#define PS_CPU_PORT_H

#include "compiler.h"

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

static inline void cpu_pause(void) { __asm__ volatile("isb" ::: "memory"); } /* yield is a no-op on most cores */
static inline uint64_t cpu_cycles(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

#endif
