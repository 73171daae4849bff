/* Park and wake: sleeping on a word, by futex.
 *
 * Does: lets the calling kernel thread sleep while a word has a value. Does not: count sleepers, spin, or know what the
 * word means. The protocol is the caller's, and described there.
 * Callers: any thread, on any stack. errno is kept.
 * Ordering: the kernel compares the word under its own lock, so a wake that follows the change of the word is never
 * lost. There is no other ordering: a thread that was woken reads the word again, with acquire.
 * Failures: os_park's results are hints; the caller looks again. Cost: one system call each. os_wake without a sleeper
 * also costs one (about 100 ns), so callers know by their own words whether a thread sleeps. */
#include "os.h"

#include <errno.h>
#include <limits.h>
#include <time.h>

#include "raw.h"

/* The kernel's numbers, defined here because musl comes without the kernel's headers. */
#ifndef FUTEX_WAIT_PRIVATE
#define FUTEX_WAIT_PRIVATE 128
#define FUTEX_WAKE_PRIVATE 129
#endif

/* 32-bit systems that had a 64-bit time_t from the beginning (RV32) have the second call only. */
#ifdef SYS_futex
#define FUTEX_NUMBER SYS_futex
#else
#define FUTEX_NUMBER SYS_futex_time64
#endif

int os_park(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns)
{
    struct timespec limit, *limit_or_none = NULL;
    if (timeout_ns >= 0) {
        limit.tv_sec = (time_t)(timeout_ns / 1000000000);
        limit.tv_nsec = (long)(timeout_ns % 1000000000);
        limit_or_none = &limit;
    }
    return (int)-raw_call(FUTEX_NUMBER, (long)word, FUTEX_WAIT_PRIVATE, expected, (long)limit_or_none);
}

int os_wake(_Atomic uint32_t *word, int n)
{
    long woken = raw_call(FUTEX_NUMBER, (long)word, FUTEX_WAKE_PRIVATE, n < 0 ? INT_MAX : n, 0);
    return woken < 0 ? 0 : (int)woken;
}

/* futex_waitv(2), since Linux 5.16. */
#define WAITV_NUMBER 449
#define WAITV_WORD 2 /* a word of 32 bits */

struct waitv {
    uint64_t value, word;
    uint32_t flags, reserved;
};

void os_park_both(_Atomic uint32_t *word, uint32_t expected, _Atomic uint32_t *shared, uint32_t of_shared,
                  int64_t timeout_ns)
{
    if (!shared) {
        os_park(word, expected, timeout_ns);
        return;
    }
    struct waitv both[] = {{expected, (uintptr_t)word, WAITV_WORD | FUTEX_WAIT_PRIVATE, 0},
                           {of_shared, (uintptr_t)shared, WAITV_WORD, 0}};
    uint64_t end = os_now_ns() + (uint64_t)timeout_ns;
    struct {
        int64_t s, ns;
    } limit = {(int64_t)(end / 1000000000), (int64_t)(end % 1000000000)};
    long end_of_wait = raw_call6(WAITV_NUMBER, (long)both, 2, 0, timeout_ns < 0 ? 0 : (long)&limit, CLOCK_MONOTONIC, 0);
    if (end_of_wait >= 0 || end_of_wait == -EAGAIN || end_of_wait == -EINTR || end_of_wait == -ETIMEDOUT)
        return;
    /* The kernel is older, or a filter refuses the call. So this thread sleeps on `word` alone, and at most
     * OS_SHARED_LOOK_NS: then its caller reads *shared. */
    bool soon = timeout_ns >= 0 && timeout_ns < OS_SHARED_LOOK_NS;
    os_park(word, expected, soon ? timeout_ns : OS_SHARED_LOOK_NS);
}

void os_wake_shared(_Atomic uint32_t *word) { raw_call(FUTEX_NUMBER, (long)word, 1, INT_MAX, 0); }

void os_yield(void) { raw_call(SYS_sched_yield, 0, 0, 0, 0); }
