/* RISC-V, 32 bits, bare metal (ILP32F; also ILP32 without float registers): what cpu.h asks of a port.
 *
 * The frame of a context that does not run has riscv64's layout with words of 4 bytes; switch.S, frame_port.h and
 * thread_pointer.c of ../riscv64 serve both. A frame has 112 bytes, so the stack stays 16-byte aligned:
 *
 *   sp +   0   s0 ... s11 (12 x 4)     first frame: s0 = 0 (ends frame-pointer chains), s1 = entry, s2 = arg
 *   sp +  48   ra                      first frame: cpu_first
 *   sp +  52   fcsr: the rounding mode and the status flags
 *   sp +  56   fs0 ... fs11 (12 x 4)   unused without float registers
 *   sp + 104   unused
 *
 * Each core has a cycle counter of its own, which needs no privilege. All cores of a platform start their counters
 * together. */
#ifndef PS_CPU_PORT_H
#define PS_CPU_PORT_H

#include "compiler.h"

#define CPU_PORT_NAME "riscv32"
#define CPU_CARRIES_TLS 0
#define CPU_STACK_MIN 1024

struct cpu_context {
    void *sp;
};
#define CPU_SAVED_SP(context) ((uintptr_t)(context)->sp)

/* A core runs one thread, so the pause gives way to no other. It only keeps the spinning core off its memory port for
 * some cycles. */
static inline void cpu_pause(void) { __asm__ volatile("nop\n\tnop\n\tnop\n\tnop" ::: "memory"); }
static inline uint64_t cpu_cycles(void)
{
    uint32_t high, low, again;
    do {
        __asm__ volatile("rdcycleh %0\n\trdcycle %1\n\trdcycleh %2" : "=r"(high), "=r"(low), "=r"(again));
    } while (PS_UNLIKELY(high != again));
    return (uint64_t)high << 32 | low;
}

#endif
