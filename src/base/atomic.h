/* C11 atomics with the memory order in the name.
 *
 * STYLE: an order is spelled at every atomic. These macros keep that short. In builds that shake (shake.h) an operation
 * may wait first. */
#ifndef PS_ATOMIC_H
#define PS_ATOMIC_H

#include <stdatomic.h>

#include "shake.h"

#define ps_load_relaxed(p) (ps_shake(), atomic_load_explicit((p), memory_order_relaxed))
#define ps_load_acquire(p) (ps_shake(), atomic_load_explicit((p), memory_order_acquire))
#define ps_load_seq(p) (ps_shake(), atomic_load_explicit((p), memory_order_seq_cst))
#define ps_store_relaxed(p, v) (ps_shake(), atomic_store_explicit((p), (v), memory_order_relaxed))
/* Stores a value only if it differs, so that the cache line stays in the readers' caches. Only one thread may write the
 * place. */
#define ps_update(place, v) ((place) == (v) ? (void)0 : (void)((place) = (v)))
#define ps_update_relaxed(p, v) (ps_load_relaxed(p) == (v) ? (void)0 : ps_store_relaxed(p, v))
#define ps_store_release(p, v) (ps_shake(), atomic_store_explicit((p), (v), memory_order_release))
#if defined(__aarch64__)
/* For the processor an stlr would be enough. But qemu-user on x86 lets a later ldar overtake it, which breaks every
 * pair of "store, then load" that relies on seq_cst (as in Dekker's algorithm). An exchange costs little more, and
 * makes tests under qemu valid. */
#define ps_store_seq(p, v) (ps_shake(), (void)atomic_exchange_explicit((p), (v), memory_order_seq_cst))
#else
#define ps_store_seq(p, v) (ps_shake(), atomic_store_explicit((p), (v), memory_order_seq_cst))
#endif
#define ps_xchg_acquire(p, v) (ps_shake(), atomic_exchange_explicit((p), (v), memory_order_acquire))
#define ps_xchg_release(p, v) (ps_shake(), atomic_exchange_explicit((p), (v), memory_order_release))
#define ps_xchg_acq_rel(p, v) (ps_shake(), atomic_exchange_explicit((p), (v), memory_order_acq_rel))
#define ps_xchg_seq(p, v) (ps_shake(), atomic_exchange_explicit((p), (v), memory_order_seq_cst))
#define ps_add_relaxed(p, v) (ps_shake(), atomic_fetch_add_explicit((p), (v), memory_order_relaxed))
#define ps_add_acquire(p, v) (ps_shake(), atomic_fetch_add_explicit((p), (v), memory_order_acquire))
#define ps_add_release(p, v) (ps_shake(), atomic_fetch_add_explicit((p), (v), memory_order_release))
#define ps_add_acq_rel(p, v) (ps_shake(), atomic_fetch_add_explicit((p), (v), memory_order_acq_rel))
#define ps_add_seq(p, v) (ps_shake(), atomic_fetch_add_explicit((p), (v), memory_order_seq_cst))
#define ps_sub_relaxed(p, v) (ps_shake(), atomic_fetch_sub_explicit((p), (v), memory_order_relaxed))
#define ps_sub_release(p, v) (ps_shake(), atomic_fetch_sub_explicit((p), (v), memory_order_release))
#define ps_sub_acq_rel(p, v) (ps_shake(), atomic_fetch_sub_explicit((p), (v), memory_order_acq_rel))
#define ps_sub_seq(p, v) (ps_shake(), atomic_fetch_sub_explicit((p), (v), memory_order_seq_cst))
#define ps_or_seq(p, v) (ps_shake(), atomic_fetch_or_explicit((p), (v), memory_order_seq_cst))
#define ps_or_acq_rel(p, v) (ps_shake(), atomic_fetch_or_explicit((p), (v), memory_order_acq_rel))
#define ps_and_seq(p, v) (ps_shake(), atomic_fetch_and_explicit((p), (v), memory_order_seq_cst))
#define ps_and_acq_rel(p, v) (ps_shake(), atomic_fetch_and_explicit((p), (v), memory_order_acq_rel))
/* Strong compare-and-swap. On failure *expected is the value that was read. */
#define ps_cas_relaxed(p, expected, v) \
    (ps_shake(),                       \
     atomic_compare_exchange_strong_explicit((p), (expected), (v), memory_order_relaxed, memory_order_relaxed))
#define ps_cas_acquire(p, expected, v) \
    (ps_shake(),                       \
     atomic_compare_exchange_strong_explicit((p), (expected), (v), memory_order_acquire, memory_order_acquire))
#define ps_cas_release(p, expected, v) \
    (ps_shake(),                       \
     atomic_compare_exchange_strong_explicit((p), (expected), (v), memory_order_release, memory_order_relaxed))
#define ps_cas_acq_rel(p, expected, v) \
    (ps_shake(),                       \
     atomic_compare_exchange_strong_explicit((p), (expected), (v), memory_order_acq_rel, memory_order_acquire))
#define ps_cas_seq(p, expected, v) \
    (ps_shake(),                   \
     atomic_compare_exchange_strong_explicit((p), (expected), (v), memory_order_seq_cst, memory_order_seq_cst))
#define ps_fence_seq() atomic_thread_fence(memory_order_seq_cst)
/* Orders accesses for the compiler alone. That is enough where the other thread calls os_fence_all, which makes a fence
 * in every running kernel thread. */
#define ps_fence_compiler() atomic_signal_fence(memory_order_seq_cst)

#endif
