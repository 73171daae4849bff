/* int kmpc_invoke(microtask fn, int32_t *gtid, int32_t *tid, int argc, void **args): AArch64, AAPCS64.
 *
 * fn gets gtid and tid in x0 and x1, args[0..5] in x2 .. x7, and the other arguments on the stack, args[6] lowest.
 * x29 is the frame pointer, so that unwinding works for every argc. Nothing after args[argc - 1] is read, because the
 * page behind it may not be mapped. kmpc_invoke_traced(.., void **frame) stores the x29 that kmpc_invoke will have in
 * *frame, and jumps to kmpc_invoke. That x29 is two words below the stack pointer here. */
#include "jump.h"

    .text
    .globl  kmpc_invoke_traced
    .hidden kmpc_invoke_traced
    .type   kmpc_invoke_traced, %function
kmpc_invoke_traced:
    .cfi_startproc
    LANDING
    sub     x9, sp, #16
    str     x9, [x5]
    b       kmpc_invoke
    .cfi_endproc
    .size   kmpc_invoke_traced, . - kmpc_invoke_traced
    .globl  kmpc_invoke
    .hidden kmpc_invoke
    .type   kmpc_invoke, %function
kmpc_invoke:
    .cfi_startproc
    LANDING
    stp     x29, x30, [sp, #-16]!
    .cfi_def_cfa_offset 16
    .cfi_offset 29, -16
    .cfi_offset 30, -8
    mov     x29, sp
    .cfi_def_cfa_register 29
    mov     x9, x0                  /* fn */
    mov     x0, x1
    mov     x1, x2
    mov     w10, w3                 /* argc */
    mov     x11, x4                 /* args */
    cmp     w10, #6
    b.le    2f
    sub     w12, w10, #5            /* words on the stack: argc - 6, rounded up to an even number */
    and     w12, w12, #-2
    sub     sp, sp, w12, uxtw #3
    sub     x13, sp, #48
1:  sub     w10, w10, #1
    ldr     x12, [x11, w10, uxtw #3]
    str     x12, [x13, w10, uxtw #3]
    cmp     w10, #6
    b.gt    1b
2:  cmp     w10, #1                 /* argc <= 6 from here on */
    b.lt    3f
    ldr     x2, [x11]
    b.eq    3f
    ldr     x3, [x11, #8]
    cmp     w10, #3
    b.lt    3f
    ldr     x4, [x11, #16]
    b.eq    3f
    ldr     x5, [x11, #24]
    cmp     w10, #5
    b.lt    3f
    ldr     x6, [x11, #32]
    b.eq    3f
    ldr     x7, [x11, #40]
3:  blr     x9
    mov     w0, #1
    mov     sp, x29
    .cfi_def_cfa_register sp
    ldp     x29, x30, [sp], #16
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size   kmpc_invoke, . - kmpc_invoke
    say_landing_pads
    .section .note.GNU-stack, "", %progbits
