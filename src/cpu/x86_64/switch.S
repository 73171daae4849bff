/* cpu_switch and cpu_first, the first frame of a context. Frame layout: cpu_port.h.
 *
 * Whenever the stack pointer moves from one stack to the other, both stacks hold a frame of the same shape. So the
 * unwind information is right at every instruction. MXCSR (control bits and status flags) and the x87 control word are
 * loaded only if the two contexts differ, because ldmxcsr and fldcw cost more than all other instructions of the
 * switch. The x87 unit's status flags are treated the same way, but only after cpu_float_keep_flags, since reading them
 * costs a tenth of a switch. A context that was left before cpu_float_keep_flags has no x87 flags saved.
 *
 * The switch ends in a plain ret. The ret is the partner of the call that the leaving context made, so the processor's
 * return predictor stays in step with the call depth. Where threads wait at the same place of the same code (a
 * barrier), every return above is predicted too. A jump through a register wins a little when two loops ping-pong from
 * different call sites. But the jump shifts all further predictions by one: with three returns above the switch, ret
 * took 8 ns and the jump 24. */

#define FRAME_MXCSR 0
#define FRAME_X87CW 4
#define FRAME_X87SW 6
#define FRAME_CONTROL_BYTES 8
#define X87_FLAGS 0x7f
#define ENVIRONMENT -32 /* x87 environment, 28 bytes in the red zone: control word, 2 unused bytes, status word, ... */

/* Push and pop the registers that a function keeps for its caller. */
    .macro  push_kept
    .irp    register, rbp, rbx, r12, r13, r14, r15
    pushq   %\register
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset \register, 0
    .endr
    .endm
    .macro  pop_kept
    .irp    register, r15, r14, r13, r12, rbx, rbp
    popq    %\register
    .cfi_adjust_cfa_offset -8
    .cfi_restore \register
    .endr
    .endm

    .text

/* void *cpu_switch(struct cpu_context *save rdi, struct cpu_context *to rsi, void *transfer rdx) */
    .globl  cpu_switch
    .hidden cpu_switch
    .type   cpu_switch, @function
    .balign 64
cpu_switch:
    .cfi_startproc
    endbr64
    push_kept
    pushq   $0
    .cfi_adjust_cfa_offset FRAME_CONTROL_BYTES
    stmxcsr FRAME_MXCSR(%rsp)
    fnstcw  FRAME_X87CW(%rsp)
    cmpb    $0, cpu_x86_keeps_flags(%rip)
    jne     .Lwith_flags
    movl    FRAME_MXCSR(%rsp), %ecx
    movzwl  FRAME_X87CW(%rsp), %r8d
    movq    %rdx, %rax

    movq    %rsp, (%rdi)
    movq    (%rsi), %rsp

.Lload_controls:
    cmpl    FRAME_MXCSR(%rsp), %ecx
    jne     .Lload_mxcsr
.Lmxcsr_done:
    cmpw    FRAME_X87CW(%rsp), %r8w
    jne     .Lload_x87cw
.Lx87cw_done:
    .cfi_remember_state
    addq    $FRAME_CONTROL_BYTES, %rsp
    .cfi_adjust_cfa_offset -FRAME_CONTROL_BYTES
    pop_kept
    ret

.Lload_mxcsr:
    .cfi_restore_state
    ldmxcsr FRAME_MXCSR(%rsp)
    jmp     .Lmxcsr_done
.Lload_x87cw:
    fldcw   FRAME_X87CW(%rsp)
    jmp     .Lx87cw_done

    /* The same switch, with x87 status flags. The flags are loaded before the control word: fldcw would trap on flags
     * of the context that is left. */
.Lwith_flags:
    fnstsw  FRAME_X87SW(%rsp)
    movl    FRAME_MXCSR(%rsp), %ecx
    movzwl  FRAME_X87CW(%rsp), %r8d
    movzwl  FRAME_X87SW(%rsp), %r9d
    movq    %rdx, %rax

    movq    %rsp, (%rdi)
    movq    (%rsi), %rsp

    movzwl  FRAME_X87SW(%rsp), %edx
    xorl    %edx, %r9d
    testl   $X87_FLAGS, %r9d
    je      .Lload_controls
    testl   $X87_FLAGS, %edx
    jne     .Lload_x87sw
    fnclex
    jmp     .Lload_controls
.Lload_x87sw:
    fnstenv ENVIRONMENT(%rsp)
    movzwl  FRAME_X87CW(%rsp), %r8d
    movw    %r8w, ENVIRONMENT(%rsp)
    movb    %dl, (ENVIRONMENT + 4)(%rsp)
    fldenv  ENVIRONMENT(%rsp)
    jmp     .Lload_controls
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
    .cfi_undefined rip
    nop
cpu_first:
    endbr64
    movq    %rax, %rdi
    movq    %r13, %rsi
    call    *%r12
    ud2
    .cfi_endproc
    .size   cpu_first, . - cpu_first

/* void *cpu_guarded_call(void *(*fn)(void *) rdi, void *arg rsi, void **guard rdx). While fn runs, *guard is the stack
 * pointer below the pushed registers; cpu_guarded_leave sets the stack pointer back to it. During the call the return
 * address is marked as undefined, so that unwinders end here. The nop is there because unwinders look a return address
 * up one byte lower. */
    .globl  cpu_guarded_call
    .hidden cpu_guarded_call
    .type   cpu_guarded_call, @function
    .balign 16
cpu_guarded_call:
    .cfi_startproc
    endbr64
    push_kept
    subq    $8, %rsp
    .cfi_adjust_cfa_offset 8
    movq    %rsp, (%rdx)
    movq    %rdi, %rax
    movq    %rsi, %rdi
    .cfi_remember_state
    .cfi_undefined rip
    nop
    call    *%rax
.Lguarded_back:
    nop
    .cfi_restore_state
    addq    $8, %rsp
    .cfi_adjust_cfa_offset -8
    pop_kept
    ret
    .cfi_endproc
    .size   cpu_guarded_call, . - cpu_guarded_call

/* void cpu_guarded_leave(void *guard rdi, void *result rsi) */
    .globl  cpu_guarded_leave
    .hidden cpu_guarded_leave
    .type   cpu_guarded_leave, @function
    .balign 16
cpu_guarded_leave:
    .cfi_startproc
    .cfi_undefined rip
    endbr64
    movq    %rdi, %rsp
    movq    %rsi, %rax
    jmp     .Lguarded_back
    .cfi_endproc
    .size   cpu_guarded_leave, . - cpu_guarded_leave

#if defined(__CET__) && (__CET__ & 1)
    /* The objects are marked for indirect-branch tracking only; see cpu_port.h. */
    .section .note.gnu.property, "a"
    .balign 8
    .long   4, 16, 5
    .asciz  "GNU"
    .long   0xc0000002, 4, 1, 0
#endif
    .section .note.GNU-stack, "", @progbits
