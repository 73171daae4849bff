/* The kernel thread that carries the caller just now, whatever the runtime answers to gettid: by the instruction
 * itself. */
#ifndef PS_GUARANTEES_CARRIER_H
#define PS_GUARANTEES_CARRIER_H

#include <sys/syscall.h>
#include <unistd.h>

static long carrier_id(void)
{
#if defined(__x86_64__)
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_gettid) : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long number __asm__("x8") = SYS_gettid, result __asm__("x0");
    __asm__ volatile("svc 0" : "=r"(result) : "r"(number) : "memory");
    return result;
#elif defined(__riscv)
    register long number __asm__("a7") = SYS_gettid, result __asm__("a0");
    __asm__ volatile("ecall" : "=r"(result) : "r"(number) : "memory");
    return result;
#else
#error "how does this processor call the kernel?"
#endif
}

#endif
