/* cpu_switch and the first frame of a context. Frame layout: cpu_port.h.
 *
 * Both stacks have the same frame shape where the stack pointer changes, so the unwind information is right at every
 * instruction. The rounding mode is written only where the two contexts differ. It ends in ret, so that the return
 * predictor stays in step with the call depth. */

#define FRAME_BYTES 224
#define FRAME_FRM   104

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
    sd      s0, 0(sp)
    .cfi_rel_offset s0, 0
    sd      s1, 8(sp)
    .cfi_rel_offset s1, 8
    sd      s2, 16(sp)
    .cfi_rel_offset s2, 16
    sd      s3, 24(sp)
    .cfi_rel_offset s3, 24
    sd      s4, 32(sp)
    .cfi_rel_offset s4, 32
    sd      s5, 40(sp)
    .cfi_rel_offset s5, 40
    sd      s6, 48(sp)
    .cfi_rel_offset s6, 48
    sd      s7, 56(sp)
    .cfi_rel_offset s7, 56
    sd      s8, 64(sp)
    .cfi_rel_offset s8, 64
    sd      s9, 72(sp)
    .cfi_rel_offset s9, 72
    sd      s10, 80(sp)
    .cfi_rel_offset s10, 80
    sd      s11, 88(sp)
    .cfi_rel_offset s11, 88
    sd      ra, 96(sp)
    .cfi_rel_offset ra, 96
#ifdef __riscv_flen
    fsd     fs0, 112(sp)
    .cfi_rel_offset fs0, 112
    fsd     fs1, 120(sp)
    .cfi_rel_offset fs1, 120
    fsd     fs2, 128(sp)
    .cfi_rel_offset fs2, 128
    fsd     fs3, 136(sp)
    .cfi_rel_offset fs3, 136
    fsd     fs4, 144(sp)
    .cfi_rel_offset fs4, 144
    fsd     fs5, 152(sp)
    .cfi_rel_offset fs5, 152
    fsd     fs6, 160(sp)
    .cfi_rel_offset fs6, 160
    fsd     fs7, 168(sp)
    .cfi_rel_offset fs7, 168
    fsd     fs8, 176(sp)
    .cfi_rel_offset fs8, 176
    fsd     fs9, 184(sp)
    .cfi_rel_offset fs9, 184
    fsd     fs10, 192(sp)
    .cfi_rel_offset fs10, 192
    fsd     fs11, 200(sp)
    .cfi_rel_offset fs11, 200
    frrm    t0
    sd      t0, FRAME_FRM(sp)
#endif

    sd      sp, 0(a0)
    ld      sp, 0(a1)
    mv      a0, a2

#ifdef __riscv_flen
    ld      t1, FRAME_FRM(sp)
    beq     t0, t1, 1f
    fsrm    t1
1:
    fld     fs0, 112(sp)
    fld     fs1, 120(sp)
    fld     fs2, 128(sp)
    fld     fs3, 136(sp)
    fld     fs4, 144(sp)
    fld     fs5, 152(sp)
    fld     fs6, 160(sp)
    fld     fs7, 168(sp)
    fld     fs8, 176(sp)
    fld     fs9, 184(sp)
    fld     fs10, 192(sp)
    fld     fs11, 200(sp)
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
    ld      s0, 0(sp)
    .cfi_restore s0
    ld      s1, 8(sp)
    .cfi_restore s1
    ld      s2, 16(sp)
    .cfi_restore s2
    ld      s3, 24(sp)
    .cfi_restore s3
    ld      s4, 32(sp)
    .cfi_restore s4
    ld      s5, 40(sp)
    .cfi_restore s5
    ld      s6, 48(sp)
    .cfi_restore s6
    ld      s7, 56(sp)
    .cfi_restore s7
    ld      s8, 64(sp)
    .cfi_restore s8
    ld      s9, 72(sp)
    .cfi_restore s9
    ld      s10, 80(sp)
    .cfi_restore s10
    ld      s11, 88(sp)
    .cfi_restore s11
    ld      ra, 96(sp)
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
