/* Keeps forks apart from kernel threads that begin or end under a sanitizer.
 *
 * The C library's malloc handles forks: its locks are free in the child. The allocator of AddressSanitizer and
 * LeakSanitizer does so since LLVM 18. With an older one, a fork while another kernel thread is in the allocator leaves
 * a lock held in the child for ever: the child's next kernel thread, or its next malloc, waits for it. A program is
 * responsible for its own threads' calls of malloc, but not for the runtime's kernel threads, which begin and end when
 * the runtime wants it. Under such a sanitizer these are in the allocator at four times only:
 * - their maker calls pthread_create (the thread's storage, the sanitizer's record of the thread);
 * - the thread begins (the sanitizer asks the C library for its stack, which allocates);
 * - the thread ends (the sanitizer gives back its cache; the C library frees the storage);
 * - another thread joins it (the same).
 * A fork waits until no kernel thread does one of these four things. During the fork no kernel thread begins one.
 * Without such a sanitizer none of this is done: os_thread_start tests one address.
 *
 * `gate` counts parties (a maker, a thread that begins, a joiner), and has CLOSED during a fork. `ending` is a robust
 * mutex that a thread takes as it ends. A party, and a thread that ends, blocks all signals, because a handler may
 * fork. No wait lasts longer than PATIENCE_S. A fork that has waited so long goes on, and its child may find a lock
 * held. Protocol, proof, rejected designs: tests/models/fork_gate.md; model: fork_gate.pml. */
#include "fork_gate.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "atomic.h"
#include "compiler.h"
#include "os.h"

#define PATIENCE_S 5
#define PATIENCE_NS (UINT64_C(1000000000) * PATIENCE_S)

/* The first function is in every AddressSanitizer and LeakSanitizer. The second is in those of LLVM 19, GCC 15 and
 * later, which have fork handlers of their own. LLVM 18 has such handlers too, but cannot be recognised: there a fork
 * that meets a thread's begin waits until its patience ends. */
extern void __lsan_enable(void) __attribute__((weak));
extern void __sanitizer_syscall_pre_impl_fchmodat2(void) __attribute__((weak));

enum { CLOSED = 1, PARTY = 2 };
static _Atomic uint32_t gate;
static pthread_mutex_t ending;   /* robust; in use once `watches` is set */
static _Atomic uint32_t watches; /* 1: the fork handlers are registered */
static bool has_ending;          /* the forking thread holds `ending`; guarded by CLOSED */

struct making {
    void *(*start)(void *);
    void *arg;
    uint64_t mask;
};

static void gate_leave(uint32_t parties)
{
    if (ps_sub_acq_rel(&gate, parties * PARTY) - parties * PARTY == CLOSED)
        os_wake(&gate, -1);
}

/* Blocks all signals and enters the gate as `parties` parties, once no fork is under way or the caller has waited for
 * PATIENCE_S. Returns the signal mask before. */
static uint64_t gate_enter(uint32_t parties)
{
    uint64_t until = os_now_ns() + PATIENCE_NS, now;
    uint32_t seen = ps_load_relaxed(&gate);
    for (;;) {
        if (!(seen & CLOSED) || (now = os_now_ns()) >= until) {
            uint64_t mask = os_swap_signal_mask(OS_ALL_SIGNALS);
            if (ps_cas_acq_rel(&gate, &seen, seen + parties * PARTY))
                return mask;
            os_set_signal_mask(mask);
        } else {
            os_park(&gate, seen, (int64_t)(until - now));
            seen = ps_load_relaxed(&gate);
        }
    }
}

static bool take_ending(void)
{
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += PATIENCE_S;
    int error = pthread_mutex_timedlock(&ending, &limit);
    if (error == EOWNERDEAD)
        error = pthread_mutex_consistent(&ending);
    return error == 0;
}

/* --- kernel threads --- */

void *fork_gate_making(void *(*start)(void *), void *arg, uint64_t *mask)
{
    if (PS_LIKELY(!__lsan_enable) || !ps_load_acquire(&watches))
        return NULL;
    *mask = gate_enter(2);
    struct making *m = malloc(sizeof *m);
    if (m == NULL) {
        gate_leave(2);
        os_set_signal_mask(*mask);
    } else {
        *m = (struct making){start, arg, *mask};
    }
    return m;
}

void fork_gate_made(void *making, bool failed, uint64_t mask)
{
    if (failed)
        free(making);
    gate_leave(failed ? 2 : 1);
    os_set_signal_mask(mask);
}

void *fork_gate_begin(void *making)
{
    struct making m = *(struct making *)making;
    free(making);
    gate_leave(1);
    os_set_signal_mask(m.mask);
    void *result = m.start(m.arg);
    os_set_signal_mask(OS_ALL_SIGNALS);
    take_ending(); /* the mutex is held until the kernel thread has ended */
    return result;
}

bool fork_gate_joining(uint64_t *mask)
{
    if (PS_LIKELY(!__lsan_enable) || !ps_load_acquire(&watches))
        return false;
    *mask = gate_enter(1);
    return true;
}

void fork_gate_joined(uint64_t mask)
{
    gate_leave(1);
    os_set_signal_mask(mask);
}

/* --- fork --- */

static void gate_close(void)
{
    uint64_t until = os_now_ns() + PATIENCE_NS, now;
    uint32_t seen = ps_or_acq_rel(&gate, CLOSED) | CLOSED;
    while (seen != CLOSED && !os_thread_is_starting() && (now = os_now_ns()) < until) {
        os_park(&gate, seen, (int64_t)(until - now));
        seen = ps_load_acquire(&gate);
    }
    has_ending = take_ending();
}

static void gate_open(void)
{
    if (has_ending)
        pthread_mutex_unlock(&ending);
    ps_and_acq_rel(&gate, ~(uint32_t)CLOSED);
    os_wake(&gate, -1);
}

static void make_ending(void)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    /* a destructor of a thread that ends may fork: the second lock must fail, not wait */
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&ending, &attr);
    pthread_mutexattr_destroy(&attr);
}

static void gate_open_in_child(void)
{
    make_ending();
    ps_store_relaxed(&gate, os_thread_is_starting() ? 2 * PARTY : 0);
}

void fork_gate_watch(void)
{
    if (PS_LIKELY(!__lsan_enable) || __sanitizer_syscall_pre_impl_fchmodat2)
        return;
    make_ending();
    /* With PS_PORTABLE os_wake is posix/park.c's, and its first call registers fork handlers of its own. It is called
     * here, before our handlers are registered. So ours run before those at a fork, and after them in parent and child:
     * they may call os_wake. */
    os_wake(&gate, -1);
    pthread_atfork(gate_close, gate_open, gate_open_in_child);
    ps_store_release(&watches, 1);
}
