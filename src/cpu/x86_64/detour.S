/* cpu_detour_entry: where a context that was interrupted goes on instead (detour.c). Nothing may be changed for it but
 * memory below its red zone: all registers are kept, flags and extended state too, and the x87 registers are empty for
 * what runs meanwhile. The stack, from the interrupted stack pointer down: the red zone (128 bytes), the frame of the
 * iretq that goes on, room, flags and registers, extended state. The stack pointer moves over the room first: Valgrind
 * takes what lies more than a red zone below it for dead. And it takes a red zone for dead behind a ret: hence iretq,
 * which changes no register either. */

#define RED_ZONE 128
#define LEFT 640
#define REGISTERS 12 /* pushed, with the flags */
#define FRAME (REGISTERS * 8 + LEFT - RED_ZONE - 40) /* from the last register: address, CS, flags, stack pointer, SS */
#define FLAGS ((REGISTERS - 1) * 8)
#define USER_CS 0x33 /* Linux's for 64-bit code */
#define USER_SS 0x2b
#define XSAVE_HEADER 512

    .text
    .globl  cpu_detour_entry
    .hidden cpu_detour_entry
    .type   cpu_detour_entry, @function
    .balign 16
cpu_detour_entry:
    .cfi_startproc
    .cfi_undefined rip
    leaq    -LEFT(%rsp), %rsp
    pushfq
    cld
    .irp    register, rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11
    pushq   %\register
    .endr
    movq    %rsp, %rbx

    subq    cpu_detour_bytes(%rip), %rsp
    andq    $-64, %rsp
    xorl    %eax, %eax
    leaq    XSAVE_HEADER(%rsp), %rdi
    movl    $8, %ecx
    rep stosq
    movl    cpu_detour_components(%rip), %eax
    xorl    %edx, %edx
    xsave64 (%rsp)
    fninit
    fldcw   (%rsp)

    call    *cpu_detour_fn(%rip)
    movq    %rax, FRAME(%rbx)
    movq    $USER_CS, (FRAME + 8)(%rbx)
    movq    FLAGS(%rbx), %rax
    movq    %rax, (FRAME + 16)(%rbx)
    leaq    (REGISTERS * 8 + LEFT)(%rbx), %rax
    movq    %rax, (FRAME + 24)(%rbx)
    movq    $USER_SS, (FRAME + 32)(%rbx)

    movl    cpu_detour_components(%rip), %eax
    xorl    %edx, %edx
    xrstor64 (%rsp)
    movq    %rbx, %rsp
    .irp    register, r11, r10, r9, r8, rbp, rdi, rsi, rdx, rcx, rbx, rax
    popq    %\register
    .endr
    leaq    (8 + LEFT - RED_ZONE - 40)(%rsp), %rsp
    iretq
    .cfi_endproc
    .size   cpu_detour_entry, . - cpu_detour_entry

#if defined(__CET__) && (__CET__ & 1)
    /* Indirect-branch tracking only; see cpu_port.h. */
    .section .note.gnu.property, "a"
    .balign 8
    .long   4, 16, 5
    .asciz  "GNU"
    .long   0xc0000002, 4, 1, 0
#endif
    .section .note.GNU-stack, "", @progbits
