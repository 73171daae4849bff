# The start of every core. The platform starts all of them here with a0 = argc, a1 = argv.
# Each gets a stack at the top of its cluster's TCDM, whose limit the platform checks, and above it its
# thread-local storage, 8 bytes lower in each core than in the one before (16 where a variable wants that), and the
# stack 16: cores that run the same code meet at other banks.
# Then core 0 of cluster 0 goes on to main (board.c), the others to mc_main_others().
    .section .text.start, "ax", @progbits
    .globl _start
    .type _start, @function
_start:
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    csrr t0, 0xfc0                  # cluster
    csrr t1, 0xfc1                  # core in it
    li t2, 0x30000000
    lw t3, 12(t2)                   # bytes of a TCDM
    slli t4, t0, 22
    li t5, 0x10000000
    add t4, t4, t5
    add t4, t4, t3                  # end of the own TCDM
    la t5, __stack_size
    addi t6, t1, 1
    mul t6, t6, t5
    sub t4, t4, t6                  # the stack's limit
    add t5, t4, t5                  # its upper end
    la t3, __tls_size
    sub sp, t5, t3
    andi sp, sp, -16
    slli t1, t1, 3
    sub tp, sp, t1
    sub sp, tp, t1
    andi tp, tp, %lo(__tls_mask)
    csrw 0x7c0, t4
    mv s0, a0
    mv s1, a1
    mv a0, tp                       # thread-local storage: the image, then zeros
    la a1, __tls_start
    la a2, __tdata_size
    call memcpy
    la a2, __tls_size
    la t0, __tdata_size
    sub a2, a2, t0
    add a0, tp, t0
    li a1, 0
    call memset
    mv a0, s0
    mv a1, s1
    call mc_boot
1:  wfi
    j 1b
    .size _start, . - _start
