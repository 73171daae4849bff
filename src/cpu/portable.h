/* Pause, counter and the end of unwinding for the ports without assembly (ucontext, posix). */
#ifndef PS_CPU_PORTABLE_H
#define PS_CPU_PORTABLE_H

#include "compiler.h"

#include <time.h>

/* The first function of a context begins with this. It marks the function's return address as undefined, so unwinders
 * stop here. The C library's frame below has no unwind information that would stop them. */
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
