/* cpu_switch and the first frame of a context, of 64 bits and of 32. Frame layout: cpu_port.h.
 *
 * Both stacks have the same frame shape where the stack pointer changes, so the unwind information is right at every
 * instruction. The rounding mode is written only where the two contexts differ. The switch ends in ret, so that the
 * return predictor stays in step with the call depth. */

#if __riscv_xlen == 64
#define WORD        8
#define FLOAT       8
#define FRAME_BYTES 224
#define load        ld
#define store       sd
#define fload       fld
#define fstore      fsd
#else /* riscv32/cpu_port.h */
#define WORD        4
#define FLOAT       4
#define FRAME_BYTES 112
#define load        lw
#define store       sw
#define fload       flw
#define fstore      fsw
#endif
#define FRAME_FRM    13 * WORD
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
    store   s0, 0 * WORD(sp)
    .cfi_rel_offset s0, 0 * WORD
    store   s1, 1 * WORD(sp)
    .cfi_rel_offset s1, 1 * WORD
    store   s2, 2 * WORD(sp)
    .cfi_rel_offset s2, 2 * WORD
    store   s3, 3 * WORD(sp)
    .cfi_rel_offset s3, 3 * WORD
    store   s4, 4 * WORD(sp)
    .cfi_rel_offset s4, 4 * WORD
    store   s5, 5 * WORD(sp)
    .cfi_rel_offset s5, 5 * WORD
    store   s6, 6 * WORD(sp)
    .cfi_rel_offset s6, 6 * WORD
    store   s7, 7 * WORD(sp)
    .cfi_rel_offset s7, 7 * WORD
    store   s8, 8 * WORD(sp)
    .cfi_rel_offset s8, 8 * WORD
    store   s9, 9 * WORD(sp)
    .cfi_rel_offset s9, 9 * WORD
    store   s10, 10 * WORD(sp)
    .cfi_rel_offset s10, 10 * WORD
    store   s11, 11 * WORD(sp)
    .cfi_rel_offset s11, 11 * WORD
    store   ra, 12 * WORD(sp)
    .cfi_rel_offset ra, 12 * WORD
#ifdef __riscv_flen
    fstore  fs0, FRAME_FLOATS + 0 * FLOAT(sp)
    .cfi_rel_offset fs0, FRAME_FLOATS + 0 * FLOAT
    fstore  fs1, FRAME_FLOATS + 1 * FLOAT(sp)
    .cfi_rel_offset fs1, FRAME_FLOATS + 1 * FLOAT
    fstore  fs2, FRAME_FLOATS + 2 * FLOAT(sp)
    .cfi_rel_offset fs2, FRAME_FLOATS + 2 * FLOAT
    fstore  fs3, FRAME_FLOATS + 3 * FLOAT(sp)
    .cfi_rel_offset fs3, FRAME_FLOATS + 3 * FLOAT
    fstore  fs4, FRAME_FLOATS + 4 * FLOAT(sp)
    .cfi_rel_offset fs4, FRAME_FLOATS + 4 * FLOAT
    fstore  fs5, FRAME_FLOATS + 5 * FLOAT(sp)
    .cfi_rel_offset fs5, FRAME_FLOATS + 5 * FLOAT
    fstore  fs6, FRAME_FLOATS + 6 * FLOAT(sp)
    .cfi_rel_offset fs6, FRAME_FLOATS + 6 * FLOAT
    fstore  fs7, FRAME_FLOATS + 7 * FLOAT(sp)
    .cfi_rel_offset fs7, FRAME_FLOATS + 7 * FLOAT
    fstore  fs8, FRAME_FLOATS + 8 * FLOAT(sp)
    .cfi_rel_offset fs8, FRAME_FLOATS + 8 * FLOAT
    fstore  fs9, FRAME_FLOATS + 9 * FLOAT(sp)
    .cfi_rel_offset fs9, FRAME_FLOATS + 9 * FLOAT
    fstore  fs10, FRAME_FLOATS + 10 * FLOAT(sp)
    .cfi_rel_offset fs10, FRAME_FLOATS + 10 * FLOAT
    fstore  fs11, FRAME_FLOATS + 11 * FLOAT(sp)
    .cfi_rel_offset fs11, FRAME_FLOATS + 11 * FLOAT
    frrm    t0
    store   t0, FRAME_FRM(sp)
#endif

    store   sp, 0(a0)
    load    sp, 0(a1)
    mv      a0, a2

#ifdef __riscv_flen
    load    t1, FRAME_FRM(sp)
    beq     t0, t1, 1f
    fsrm    t1
1:
    fload   fs0, FRAME_FLOATS + 0 * FLOAT(sp)
    fload   fs1, FRAME_FLOATS + 1 * FLOAT(sp)
    fload   fs2, FRAME_FLOATS + 2 * FLOAT(sp)
    fload   fs3, FRAME_FLOATS + 3 * FLOAT(sp)
    fload   fs4, FRAME_FLOATS + 4 * FLOAT(sp)
    fload   fs5, FRAME_FLOATS + 5 * FLOAT(sp)
    fload   fs6, FRAME_FLOATS + 6 * FLOAT(sp)
    fload   fs7, FRAME_FLOATS + 7 * FLOAT(sp)
    fload   fs8, FRAME_FLOATS + 8 * FLOAT(sp)
    fload   fs9, FRAME_FLOATS + 9 * FLOAT(sp)
    fload   fs10, FRAME_FLOATS + 10 * FLOAT(sp)
    fload   fs11, FRAME_FLOATS + 11 * FLOAT(sp)
    .cfi_restore fs0
    .cfi_restore fs1
    .cfi_restore fs2
    .cfi_restore fs3
    .cfi_restore fs4
    .cfi_restore fs5
    .cfi_restore fs6
    .cfi_restore fs7
    .cfi_restore fs8
    .cfi_restore fs9
    .cfi_restore fs10
    .cfi_restore fs11
#endif
    load    s0, 0 * WORD(sp)
    .cfi_restore s0
    load    s1, 1 * WORD(sp)
    .cfi_restore s1
    load    s2, 2 * WORD(sp)
    .cfi_restore s2
    load    s3, 3 * WORD(sp)
    .cfi_restore s3
    load    s4, 4 * WORD(sp)
    .cfi_restore s4
    load    s5, 5 * WORD(sp)
    .cfi_restore s5
    load    s6, 6 * WORD(sp)
    .cfi_restore s6
    load    s7, 7 * WORD(sp)
    .cfi_restore s7
    load    s8, 8 * WORD(sp)
    .cfi_restore s8
    load    s9, 9 * WORD(sp)
    .cfi_restore s9
    load    s10, 10 * WORD(sp)
    .cfi_restore s10
    load    s11, 11 * WORD(sp)
    .cfi_restore s11
    load    ra, 12 * WORD(sp)
    .cfi_restore ra
    addi    sp, sp, FRAME_BYTES
    .cfi_adjust_cfa_offset -FRAME_BYTES
    ret
    .cfi_endproc
    .size   cpu_switch, . - cpu_switch

/* The return address of every context's outermost frame is undefined: unwinders end here. The nop stands inside the
 * unwind range so that a return address of cpu_first itself, looked up one byte lower, is found here too. */
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
