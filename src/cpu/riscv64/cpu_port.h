/* RISC-V, 64 bits, double-precision float (LP64D; also LP64 without float registers): what cpu.h asks of a port.
 *
 * A saved context is its stack pointer; everything else is in the frame that it points to. The frame, lowest address
 * first (switch.S writes and reads it, frame_port.h makes the first one); 224 bytes, the stack stays 16-byte aligned:
 *
 *   sp +   0   s0 ... s11 (12 x 8)     first frame: s0 = 0 (ends frame-pointer chains), s1 = entry, s2 = arg
 *   sp +  96   ra                      first frame: cpu_first
 *   sp + 104   frm, the rounding mode
 *   sp + 112   fs0 ... fs11 (12 x 8)   unused without float registers
 *   sp + 208   unused
 *
 * gp and tp belong to the process and to the kernel thread; they are not touched. */
#ifndef PS_CPU_PORT_H
#define PS_CPU_PORT_H

#include "compiler.h"

#define CPU_PORT_NAME "riscv64"
#define CPU_CARRIES_TLS 0
#define CPU_STACK_MIN 16384

/* The frame above, for debuggers (psthreads/debug/debug_layout.c). */
/* clang-format off */
#define CPU_SAVED_REGISTERS \
    {"reg.fp", 0}, {"reg.s1", 8}, {"reg.s2", 16}, {"reg.s3", 24}, {"reg.s4", 32}, {"reg.s5", 40}, {"reg.s6", 48}, \
    {"reg.s7", 56}, {"reg.s8", 64}, {"reg.s9", 72}, {"reg.s10", 80}, {"reg.s11", 88}, {"reg.pc", 96}, \
    {"reg.cfa", 224},
/* clang-format on */

struct cpu_context {
    void *sp;
};
/* Of a saved context: what lies below is free. */
#define CPU_SAVED_SP(context) ((uintptr_t)(context)->sp)

/* The Zihintpause hint, spelled as the fence that it is encoded as, so that every assembler takes it. */
static inline void cpu_pause(void) { __asm__ volatile(".insn i 0x0f, 0, x0, x0, 0x010" ::: "memory"); }
static inline uint64_t cpu_cycles(void)
{
    uint64_t ticks;
    __asm__ volatile("rdtime %0" : "=r"(ticks)); /* rdcycle is the kernel's to allow */
    return ticks;
}

#endif
