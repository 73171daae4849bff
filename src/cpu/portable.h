/* Pause, counter and thread pointer for the ports without assembly (ucontext, posix). */
#ifndef PS_CPU_PORTABLE_H
#define PS_CPU_PORTABLE_H

#include "compiler.h"

#include <time.h>

/* Said at the start of a context's first function: its return address is undefined for unwinders, which end here. What
 * the C library has below it carries no unwind information that could say so. */
#if defined(__x86_64__)
#define CPU_UNWINDING_ENDS() __asm__ volatile(".cfi_undefined rip")
#elif defined(__aarch64__)
#define CPU_UNWINDING_ENDS() __asm__ volatile(".cfi_undefined x30")
#elif defined(__riscv)
#define CPU_UNWINDING_ENDS() __asm__ volatile(".cfi_undefined ra")
#else
#define CPU_UNWINDING_ENDS() ((void)0)
#endif

static inline void cpu_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    __asm__ volatile("" ::: "memory");
#endif
}

static inline uint64_t cpu_cycles(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

#endif
