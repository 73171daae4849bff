/* AArch64: the frame of a saved context (cpu_port.h draws it). Included by context.c alone. */
#ifndef PS_CPU_FRAME_PORT_H
#define PS_CPU_FRAME_PORT_H

#include "cpu.h"

struct frame {
    uint64_t x29;
    void *x30;
    void *x19, *x20;
    uint64_t x21_to_x28[8];
    uint64_t d8_to_d15[8];
    uint64_t fpcr, fpsr;
};
_Static_assert(sizeof(struct frame) == 176, "frame");

void cpu_first(void);

static inline void frame_init(struct frame *f, cpu_entry_fn *entry, void *arg)
{
    *f = (struct frame){.x30 = (void *)cpu_first, .x19 = (void *)entry, .x20 = arg};
    __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=&r"(f->fpcr), "=r"(f->fpsr));
}

#endif
