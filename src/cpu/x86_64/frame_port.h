/* x86-64: the frame of a saved context (cpu_port.h draws it). Included by context.c alone. */
#ifndef PS_CPU_FRAME_PORT_H
#define PS_CPU_FRAME_PORT_H

#include "cpu.h"

struct frame {
    uint32_t mxcsr;
    uint16_t x87cw;
    uint16_t x87sw;
    uint64_t r15, r14;
    void *r13, *r12;
    uint64_t rbx, rbp;
    void *return_address;
    uint64_t above[4]; /* zeros, for a reader that goes past the outermost frame; also keeps the alignment */
};
/* `above` begins where the frame of cpu_first's caller would begin, at a multiple of 16. So cpu_first calls the entry
 * with an aligned stack. */
_Static_assert(offsetof(struct frame, above) == 64, "frame");

void cpu_first(void);

static inline void frame_init(struct frame *f, cpu_entry_fn *entry, void *arg)
{
    *f = (struct frame){.r13 = arg, .r12 = (void *)entry, .return_address = (void *)cpu_first};
    f->mxcsr = __builtin_ia32_stmxcsr();
    __asm__ volatile("fnstcw %0" : "=m"(f->x87cw));
}

#endif
