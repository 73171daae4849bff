/* RISC-V, 64 bits or 32: the frame of a saved context (cpu_port.h draws it). Included by context.c alone. */
#ifndef PS_CPU_FRAME_PORT_H
#define PS_CPU_FRAME_PORT_H

#include "cpu.h"

struct frame {
    uintptr_t s0;
    void *s1, *s2;
    uintptr_t s3_to_s11[9];
    void *ra;
    uintptr_t fcsr;
    uintptr_t fs0_to_fs11[12];
    uintptr_t unused[2];
};
_Static_assert(sizeof(struct frame) == 28 * sizeof(uintptr_t) &&
                   offsetof(struct frame, fs0_to_fs11) == 14 * sizeof(uintptr_t),
               "frame");

void cpu_first(void);

static inline void frame_init(struct frame *f, cpu_entry_fn *entry, void *arg)
{
    *f = (struct frame){.s1 = (void *)entry, .s2 = arg, .ra = (void *)cpu_first};
#ifdef __riscv_flen
    __asm__ volatile("frcsr %0" : "=r"(f->fcsr));
#endif
}

#endif
