/* The shaking build: a kernel thread sometimes waits before an atomic operation (-DPS_SHAKE=64: before one in 64).
 * `make shake` runs the tests on it.
 *
 * A preemption between two atomic operations, two instructions apart, happens once in some thousand runs. In this build
 * a kernel thread yields its processor before one operation in PS_SHAKE, or sleeps for up to a third of a millisecond.
 * So a preemption at such a place happens once in some tens of runs. The build finds protocols and tests that rely on
 * another thread being quick. It does not reorder memory: that is for the models and ThreadSanitizer. It has no state:
 * the time-stamp counter is the random number. It keeps errno and all registers of the caller, so it may be called in a
 * signal handler and between two stacks. x86_64 only. In other builds it does nothing. */
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
        ps_shake_call(24, 0); /* sched_yield, by its number: the drop-in runtime has a function of that name */
    else
        ps_shake_call(35, &nap); /* nanosleep */
}

#else
#define ps_shake() ((void)0)
#endif

#endif
