/* A build in which an atomic operation now and then waits first (-DPS_SHAKE=64: one in 64; `make shake` runs the tests
 * on it).
 *
 * A window of two instructions between an atomic and the next is met by a preemption once in some thousand runs, on
 * another machine. In this build one operation in PS_SHAKE gives the processor away, or sleeps for up to a
 * third of a millisecond. So such a window is met in some tens of runs. What it shows: protocols that rely on a
 * neighbour being quick, tests that do. Does not reorder memory: that is for the models and ThreadSanitizer. No state:
 * the time-stamp counter is the dice. Leaves errno and every register of the caller alone, so it may stand in a signal
 * handler and between two stacks. x86_64 only. In other builds it is nothing. */
#ifndef PS_SHAKE_H
#define PS_SHAKE_H

#if PS_SHAKE

#ifndef __x86_64__
#error "PS_SHAKE knows x86_64 only"
#endif
#include <stdint.h>
#include <time.h>

static inline long ps_shake_call(long number, const void *a)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(0L) : "rcx", "r11", "memory");
    return result;
}

static inline void ps_shake(void)
{
    uint64_t dice = __builtin_ia32_rdtsc() * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    if (__builtin_expect(dice % PS_SHAKE != 0, 1))
        return;
    dice /= PS_SHAKE;
    const struct timespec nap = {.tv_nsec = (long)(dice / 16 % 300000)};
    if (dice % 16)
        ps_shake_call(24, 0); /* sched_yield; not by its name, which the drop-ins define */
    else
        ps_shake_call(35, &nap); /* nanosleep */
}

#else
#define ps_shake() ((void)0)
#endif

#endif
