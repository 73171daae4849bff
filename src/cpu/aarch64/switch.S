/* cpu_switch and cpu_first, the first frame of a context. Frame layout: cpu_port.h.
 *
 * When the stack pointer moves from one stack to the other, both stacks hold a frame of the same shape. So the unwind
 * information is right at every instruction. FPCR and FPSR are written only if the two contexts differ, because the
 * write drains the pipeline on many cores. The switch ends in ret, so that the return predictor stays in step with the
 * call depth. */

#define FRAME_BYTES 176

    .macro  store_pair first, second, at
    stp     \first, \second, [sp, #\at]
    .cfi_rel_offset \first, \at
    .cfi_rel_offset \second, \at + 8
    .endm

    .text

/* void *cpu_switch(struct cpu_context *save x0, struct cpu_context *to x1, void *transfer x2) */
    .globl  cpu_switch
    .hidden cpu_switch
    .type   cpu_switch, %function
    .balign 64
cpu_switch:
    .cfi_startproc
    hint    #34                 /* bti c: reached by a call */
    stp     x29, x30, [sp, #-FRAME_BYTES]!
    .cfi_adjust_cfa_offset FRAME_BYTES
    .cfi_rel_offset x29, 0
    .cfi_rel_offset x30, 8
    store_pair x19, x20, 16
    store_pair x21, x22, 32
    store_pair x23, x24, 48
    store_pair x25, x26, 64
    store_pair x27, x28, 80
    store_pair d8, d9, 96
    store_pair d10, d11, 112
    store_pair d12, d13, 128
    store_pair d14, d15, 144
    mrs     x9, fpcr
    mrs     x12, fpsr
    stp     x9, x12, [sp, #160]

    mov     x10, sp
    str     x10, [x0]
    ldr     x11, [x1]
    mov     sp, x11
    mov     x0, x2

    ldp     x10, x13, [sp, #160]
    cmp     x12, x13
    b.ne    .Lload_fpsr
.Lfpsr_done:
    cmp     x9, x10
    b.ne    .Lload_fpcr
.Lfpcr_done:
    ldp     x19, x20, [sp, #16]
    ldp     x21, x22, [sp, #32]
    ldp     x23, x24, [sp, #48]
    ldp     x25, x26, [sp, #64]
    ldp     x27, x28, [sp, #80]
    ldp     d8, d9, [sp, #96]
    ldp     d10, d11, [sp, #112]
    ldp     d12, d13, [sp, #128]
    ldp     d14, d15, [sp, #144]
    .cfi_remember_state
    ldp     x29, x30, [sp], #FRAME_BYTES
    .cfi_def_cfa sp, 0
    .irp    register, x29, x30, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, d8, d9, d10, d11, d12, d13, d14, d15
    .cfi_restore \register
    .endr
    ret

.Lload_fpsr:
    .cfi_restore_state
    msr     fpsr, x13
    b       .Lfpsr_done
.Lload_fpcr:
    msr     fpcr, x10
    b       .Lfpcr_done
    .cfi_endproc
    .size   cpu_switch, . - cpu_switch

/* Unwinders end here, because the return address of every context's outermost frame is undefined. Unwinders look a
 * return address up one byte lower. The nop lies inside the unwind range, so that they find the address of cpu_first
 * itself too. */
    .globl  cpu_first
    .hidden cpu_first
    .type   cpu_first, %function
    .balign 16
    .cfi_startproc
    .cfi_undefined x30
    nop
cpu_first:
    hint    #36                 /* bti j: reached by ret, or by a jump */
    mov     x1, x20
    blr     x19
    udf     #0
    .cfi_endproc
    .size   cpu_first, . - cpu_first

#if defined(__ARM_FEATURE_BTI_DEFAULT)
    .section .note.gnu.property, "a"
    .balign 8
    .long   4, 16, 5
    .asciz  "GNU"
    .long   0xc0000000, 4, 1, 0
#endif
    .section .note.GNU-stack, "", %progbits
