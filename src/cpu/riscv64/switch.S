/* cpu_switch and cpu_first, the first frame of a context, for 64 bits and for 32. Frame layout: cpu_port.h.
 *
 * When the stack pointer moves from one stack to the other, both stacks hold a frame of the same shape. So the unwind
 * information is right at every instruction. fcsr (rounding mode and status flags) is written only if the two contexts
 * differ. The switch ends in ret, so that the return predictor stays in step with the call depth. */

#if __riscv_xlen == 64
#define WORD        8
#define FLOAT       8
#define FRAME_BYTES 224
#define load        ld
#define store       sd
#define fload       fld
#define fstore      fsd
#else /* 32 bits: riscv32/cpu_port.h */
#define WORD        4
#define FLOAT       4
#define FRAME_BYTES 112
#define load        lw
#define store       sw
#define fload       flw
#define fstore      fsw
#endif
#define FRAME_FCSR   13 * WORD
#define FRAME_FLOATS 14 * WORD

    .text

/* void *cpu_switch(struct cpu_context *save a0, struct cpu_context *to a1, void *transfer a2) */
    .globl  cpu_switch
    .hidden cpu_switch
    .type   cpu_switch, @function
    .balign 64
cpu_switch:
    .cfi_startproc
    addi    sp, sp, -FRAME_BYTES
    .cfi_adjust_cfa_offset FRAME_BYTES
    .irp    i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    store   s\i, \i * WORD(sp)
    .cfi_rel_offset s\i, \i * WORD
    .endr
    store   ra, 12 * WORD(sp)
    .cfi_rel_offset ra, 12 * WORD
#ifdef __riscv_flen
    .irp    i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    fstore  fs\i, FRAME_FLOATS + \i * FLOAT(sp)
    .cfi_rel_offset fs\i, FRAME_FLOATS + \i * FLOAT
    .endr
    frcsr   t0
    store   t0, FRAME_FCSR(sp)
#endif

    store   sp, 0(a0)
    load    sp, 0(a1)
    mv      a0, a2

#ifdef __riscv_flen
    load    t1, FRAME_FCSR(sp)
    beq     t0, t1, 1f
    fscsr   t1
1:
    .irp    i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    fload   fs\i, FRAME_FLOATS + \i * FLOAT(sp)
    .cfi_restore fs\i
    .endr
#endif
    .irp    i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    load    s\i, \i * WORD(sp)
    .cfi_restore s\i
    .endr
    load    ra, 12 * WORD(sp)
    .cfi_restore ra
    addi    sp, sp, FRAME_BYTES
    .cfi_adjust_cfa_offset -FRAME_BYTES
    ret
    .cfi_endproc
    .size   cpu_switch, . - cpu_switch

/* Unwinders end here, because the return address of every context's outermost frame is undefined. Unwinders look a
 * return address up one byte lower. The nop lies inside the unwind range, so that they find the address of cpu_first
 * itself too. */
    .globl  cpu_first
    .hidden cpu_first
    .type   cpu_first, @function
    .balign 16
    .cfi_startproc
    .cfi_undefined ra
    nop
cpu_first:
    mv      a1, s2
    jalr    s1
    unimp
    .cfi_endproc
    .size   cpu_first, . - cpu_first

    .section .note.GNU-stack, "", @progbits
