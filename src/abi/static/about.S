/* A note that distinguishes libgomp.a and libomp.a from one another, and from other runtimes. psrun doctor reads it; it
 * stays when a program is stripped. PS_ABI is libgomp or libomp. */
    .section .note.psthreads, "a", %note
    .balign 4
    .long   2f - 1f, 4f - 3f, 1
1:  .asciz  "psthreads"
2:  .balign 4
3:  .asciz  "psthreads " PS_VERSION ", static, " PS_ABI "'s ABI"
4:  .balign 4

#ifdef PS_LIBOMP
    .section .rodata
    .globl  kmpc_linked_in
    .hidden kmpc_linked_in
    .type   kmpc_linked_in, %object
kmpc_linked_in:
    .byte   1
    .size   kmpc_linked_in, 1
#endif

    .section .note.GNU-stack, "", %progbits
