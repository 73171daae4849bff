# Every hart of QEMU's `virt` machine starts here, in machine mode: the reset vector jumps to this address, with
# a0 = number of the hart, a1 = address of the device tree. Each hart gets a stack, and its thread-local storage above
# that. The 4 KB below the stack are a guard: a locked entry of the hart's physical memory protection forbids access.
# Hart 0 goes on to the program (boot.c). The others sleep until hart 0 signals them; harts after the 16th, forever.
    .section .text.start, "ax", @progbits
    .globl _start
    .type _start, @function
_start:
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    la t0, virt_trap
    csrw mtvec, t0
    csrr s0, mhartid
    mv s1, a1
    li t0, 16                       # BOARD_CORES_MAX
    bgeu s0, t0, park
    li t0, 0x2000                   # mstatus.FS: enables the float registers
    csrs mstatus, t0
    fscsr zero

    la t0, __stack_slot             # guard, stack, thread-local storage
    mul t1, s0, t0
    la t2, __stacks
    add t2, t2, t1                  # the guard
    srli t3, t2, 2
    ori t3, t3, 0x1ff               # 4 KB, naturally aligned
    csrw pmpaddr0, t3
    li t3, 0x98                     # no rights; locked: so it applies in machine mode, too
    csrw pmpcfg0, t3
    add t2, t2, t0
    la t3, __tls_size
    sub tp, t2, t3
    andi tp, tp, -16
    mv sp, tp

    bnez s0, 1f
    la a0, __bss_start
    la a2, __bss_end
    sub a2, a2, a0
    li a1, 0
    call memset
1:  mv a0, tp                       # fills thread-local storage: the image, then zeros
    la a1, __tls_start
    la a2, __tdata_size
    call memcpy
    la a2, __tls_size
    la t0, __tdata_size
    sub a2, a2, t0
    add a0, tp, t0
    li a1, 0
    call memset
    mv a0, s1
    bnez s0, 2f
    call virt_boot
2:  call virt_others
park:
    csrw mie, zero
3:  wfi
    j 3b
    .size _start, . - _start

# Every exception ends the program with one line, written by the first hart that arrives here (boot.c). The hart's stack
# may have caused the exception, so this code uses a stack of its own.
    .section .text.trap, "ax", @progbits
    .balign 4
    .type virt_trap, @function
virt_trap:
    la t0, virt_trap_busy           # the registers need not be kept: the program ends
    li t1, 1
    amoswap.w.aq t1, t1, (t0)
    bnez t1, park
    la sp, virt_trap_stack + 4096
    csrr a0, mcause
    csrr a1, mepc
    csrr a2, mtval
    call virt_fault
    j park
    .size virt_trap, . - virt_trap
