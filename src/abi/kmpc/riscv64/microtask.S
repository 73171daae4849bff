/* int kmpc_invoke(microtask fn, int32_t *gtid, int32_t *tid, int argc, void **args): RISC-V, LP64D.
 *
 * fn gets gtid and tid in a0 and a1, args[0..5] in a2 .. a7, and the other arguments on the stack, args[6] lowest. s0
 * is the frame pointer, so that unwinding works for every argc. Nothing after args[argc - 1] is read, because the page
 * behind it may not be mapped. kmpc_invoke_traced(.., void **frame) stores the s0 that kmpc_invoke will have in *frame,
 * and jumps to kmpc_invoke. That s0 is the stack pointer here. */
    .text
    .globl  kmpc_invoke_traced
    .hidden kmpc_invoke_traced
    .type   kmpc_invoke_traced, @function
kmpc_invoke_traced:
    .cfi_startproc
    sd      sp, 0(a5)
    j       kmpc_invoke
    .cfi_endproc
    .size   kmpc_invoke_traced, . - kmpc_invoke_traced
    .globl  kmpc_invoke
    .hidden kmpc_invoke
    .type   kmpc_invoke, @function
kmpc_invoke:
    .cfi_startproc
    addi    sp, sp, -16
    .cfi_def_cfa_offset 16
    sd      ra, 8(sp)
    sd      s0, 0(sp)
    .cfi_offset ra, -8
    .cfi_offset s0, -16
    addi    s0, sp, 16
    .cfi_def_cfa s0, 0
    mv      t0, a0                  /* fn */
    mv      a0, a1
    mv      a1, a2
    mv      t1, a3                  /* argc */
    mv      t2, a4                  /* args */
    li      t3, 6
    ble     t1, t3, 2f
    addi    t4, t1, -5              /* words on the stack: argc - 6, rounded up to an even number */
    andi    t4, t4, -2
    slli    t4, t4, 3
    sub     sp, sp, t4
    addi    t5, sp, -48
1:  addi    t1, t1, -1
    slli    t4, t1, 3
    add     t6, t2, t4
    ld      t6, 0(t6)
    add     t4, t5, t4
    sd      t6, 0(t4)
    bgt     t1, t3, 1b
2:  li      t3, 1                   /* argc <= 6 from here on */
    blt     t1, t3, 3f
    ld      a2, 0(t2)
    beq     t1, t3, 3f
    ld      a3, 8(t2)
    li      t3, 3
    blt     t1, t3, 3f
    ld      a4, 16(t2)
    beq     t1, t3, 3f
    ld      a5, 24(t2)
    li      t3, 5
    blt     t1, t3, 3f
    ld      a6, 32(t2)
    beq     t1, t3, 3f
    ld      a7, 40(t2)
3:  jalr    t0
    li      a0, 1
    addi    sp, s0, -16
    .cfi_def_cfa sp, 16
    ld      ra, 8(sp)
    ld      s0, 0(sp)
    .cfi_restore ra
    .cfi_restore s0
    addi    sp, sp, 16
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size   kmpc_invoke, . - kmpc_invoke
    .section .note.GNU-stack, "", @progbits
