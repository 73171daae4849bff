/* Pause, counter and thread pointer for the ports without assembly (ucontext, sjlj, posix). */
#ifndef PS_CPU_PORTABLE_H
#define PS_CPU_PORTABLE_H

#include "compiler.h"

#include <time.h>

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
