/* A detour changes nothing for the context that takes it: registers, flags, red zone, x87 and vector registers; and
 * what runs there finds empty x87 registers. Ports without detours: skipped. */
#define _GNU_SOURCE
#include "cpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(CPU_HAS_DETOUR) && defined(__x86_64__)

static uintptr_t from;
static int detours;
static bool x87_empty;

static uintptr_t on_detour(void)
{
    uint16_t environment[14];
    __asm__ volatile("fnstenv %0\n\tfldz" : "=m"(environment));
    x87_empty = environment[4] == 0xffff; /* tags */
    __asm__ volatile("pcmpeqd %%xmm0, %%xmm0\n\tpxor %%xmm15, %%xmm15\n\tstd\n\tcld\n\tclc" : : : "xmm0", "xmm15");
    detours++;
    return from;
}

static void on_signal(int number, siginfo_t *info, void *frame)
{
    (void)number, (void)info;
    from = cpu_detour(frame, on_detour);
}

/* tgkill(pid, tid, number) with values of its own everywhere; the number of the first one that is another afterwards,
 * or 0. */
int detour_try(long pid, long tid, long number);
__asm__(".text\n"
        "detour_try:\n"
        "    pushq %rbx; pushq %rbp; pushq %r12; pushq %r13; pushq %r14; pushq %r15\n"
        "    movq $0x1001, %rbx; movq $0x1002, %rbp; movq $0x1003, %r8; movq $0x1004, %r9; movq $0x1005, %r10\n"
        "    movq $0x1006, %r12; movq $0x1007, %r13; movq $0x1008, %r14; movq $0x1009, %r15\n"
        "    movq $0x100a, -8(%rsp); movq $0x100b, -128(%rsp); movq %rsp, -64(%rsp)\n"
        "    movq %rbx, %xmm0; movq %rbp, %xmm15; fldpi\n"
        "    movl $234, %eax\n" /* tgkill */
        "    stc\n"
        "    syscall\n"
        "    movq %rax, %r11; movl $1, %eax; jnc 1f\n"
        "    incl %eax; testq %r11, %r11; jnz 1f\n"
        "    incl %eax; cmpq $0x1001, %rbx; jne 1f\n"
        "    incl %eax; cmpq $0x1002, %rbp; jne 1f\n"
        "    incl %eax; cmpq $0x1003, %r8; jne 1f\n"
        "    incl %eax; cmpq $0x1004, %r9; jne 1f\n"
        "    incl %eax; cmpq $0x1005, %r10; jne 1f\n"
        "    incl %eax; cmpq $0x1006, %r12; jne 1f\n"
        "    incl %eax; cmpq $0x1007, %r13; jne 1f\n"
        "    incl %eax; cmpq $0x1008, %r14; jne 1f\n"
        "    incl %eax; cmpq $0x1009, %r15; jne 1f\n"
        "    incl %eax; cmpq $0x100a, -8(%rsp); jne 1f\n"
        "    incl %eax; cmpq $0x100b, -128(%rsp); jne 1f\n"
        "    incl %eax; cmpq %rsp, -64(%rsp); jne 1f\n"
        "    incl %eax; movq %xmm0, %rcx; cmpq %rbx, %rcx; jne 1f\n"
        "    incl %eax; movq %xmm15, %rcx; cmpq %rbp, %rcx; jne 1f\n"
        "    incl %eax; fldpi; fcomip %st(1), %st; jne 1f; jp 1f\n"
        "    xorl %eax, %eax\n"
        "1:  fninit\n"
        "    popq %r15; popq %r14; popq %r13; popq %r12; popq %rbp; popq %rbx\n"
        "    ret\n");

static void nothing_changes(void **state)
{
    (void)state;
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(detour_try(getpid(), syscall(SYS_gettid), SIGUSR1), 0);
        if (!from)
            skip(); /* a processor without xsave */
        assert_int_equal(detours, i);
        assert_true(x87_empty);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_changes)};
    return PS_TSAN ? 77 : cmocka_run_group_tests(tests, NULL, NULL); /* it delivers signals when it likes */
}
#else
int main(void) { return 77; }
#endif
