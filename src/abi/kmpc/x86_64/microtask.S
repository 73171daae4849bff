/* int kmpc_invoke(microtask fn, int32_t *gtid, int32_t *tid, int argc, void **args): x86-64, System V ABI.
 *
 * fn gets gtid and tid in rdi and rsi, args[0..3] in rdx, rcx, r8, r9, and the other arguments on the stack, args[4]
 * lowest. rbp is the frame pointer, so that unwinding works for every argc. kmpc_invoke_traced(.., void **frame) stores
 * that rbp in *frame, and goes on as kmpc_invoke. It keeps the stack pointer below rbp, because LLVM's plug-in for gdb
 * takes only frames that begin below the task's frame for frames of the task. */
    .text
    .globl  kmpc_invoke_traced
    .hidden kmpc_invoke_traced
    .type   kmpc_invoke_traced, @function
kmpc_invoke_traced:
    .cfi_startproc
    endbr64
    pushq   %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq    %rsp, %rbp
    .cfi_def_cfa_register %rbp
    movq    %rbp, (%r9)
    subq    $16, %rsp
    jmp     .Lwith_frame
    .cfi_endproc
    .size   kmpc_invoke_traced, . - kmpc_invoke_traced
    .globl  kmpc_invoke
    .hidden kmpc_invoke
    .type   kmpc_invoke, @function
kmpc_invoke:
    .cfi_startproc
    endbr64
    pushq   %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq    %rsp, %rbp
    .cfi_def_cfa_register %rbp
.Lwith_frame:
    movq    %rdi, %rax              /* fn */
    movq    %rsi, %rdi              /* gtid */
    movq    %rdx, %rsi              /* tid */
    movl    %ecx, %r10d             /* argc */
    movq    %r8, %r11               /* args */
    cmpl    $4, %r10d
    jle     2f
    leal    -4(%r10), %ecx          /* words on the stack: argc - 4, rounded up to an even number */
    incl    %ecx
    andl    $-2, %ecx
    shlq    $3, %rcx
    subq    %rcx, %rsp
1:  decl    %r10d
    movq    (%r11,%r10,8), %rcx
    movq    %rcx, -32(%rsp,%r10,8)
    cmpl    $4, %r10d
    jg      1b
2:  cmpl    $1, %r10d               /* argc <= 4 from here on */
    jl      5f
    movq    0(%r11), %rdx
    je      5f
    movq    8(%r11), %rcx
    cmpl    $3, %r10d
    jl      5f
    movq    16(%r11), %r8
    je      5f
    movq    24(%r11), %r9
5:  movq    %rax, %r10
    xorl    %eax, %eax              /* the number of vector registers with arguments: 0 */
    call    *%r10
    movl    $1, %eax
    leave
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size   kmpc_invoke, . - kmpc_invoke
    .section .note.GNU-stack, "", @progbits
