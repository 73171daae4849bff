/* Atomic operations for which RV32A has no instruction: the functions that compilers call for 1, 2 and 8 bytes (the ABI
 * of libatomic, which the toolchain does not have).
 *
 * 8 bytes: an operation takes one of several locks, chosen by the address. They lie in the memory of the cluster that
 * has the data. Loads and stores take the lock, too, so that no core reads a half-written value. 1 and 2 bytes: by
 * compare-and-swap of the word that contains them (loads and stores have instructions). Callers: any core. A call waits
 * only while another core executes the few instructions under the same lock. The order that a caller asks for is
 * ignored: an operation on 8 bytes begins with an acquire and ends with a release; the others are sequentially
 * consistent. */
#include "board.h"

#include "atomic.h"

#define LOCKS 16
static BOARD_LOCAL _Atomic uint32_t locks[LOCKS];

static _Atomic uint32_t *bare_atomic_lock(const volatile void *p)
{
    unsigned cluster = board_cluster_of((const void *)(uintptr_t)p);
    _Atomic uint32_t *lock = board_global(&locks[((uintptr_t)p >> 3) % LOCKS], cluster);
    while (ps_xchg_acquire(lock, 1) != 0)
        while (ps_load_relaxed(lock) != 0)
            __asm__ volatile("nop\n\tnop\n\tnop\n\tnop");
    return lock;
}
static void unlock_bare_atomic(_Atomic uint32_t *lock) { ps_store_release(lock, 0); }

#define OUT(type, name, ...)                                    \
    type atomic_##name(__VA_ARGS__) __asm__("__atomic_" #name); \
    type atomic_##name(__VA_ARGS__)

/* --- 8 bytes --- */

OUT(uint64_t, load_8, const volatile void *p, PS_UNUSED int order)
{
    _Atomic uint32_t *lock = bare_atomic_lock(p);
    uint64_t value = *(const volatile uint64_t *)p;
    unlock_bare_atomic(lock);
    return value;
}
OUT(void, store_8, volatile void *p, uint64_t value, PS_UNUSED int order)
{
    _Atomic uint32_t *lock = bare_atomic_lock(p);
    *(volatile uint64_t *)p = value;
    unlock_bare_atomic(lock);
}
OUT(bool, compare_exchange_8, volatile void *p, void *expected, uint64_t desired, PS_UNUSED bool weak,
    PS_UNUSED int success, PS_UNUSED int failure)
{
    _Atomic uint32_t *lock = bare_atomic_lock(p);
    uint64_t seen = *(volatile uint64_t *)p;
    bool same = seen == *(uint64_t *)expected;
    if (same)
        *(volatile uint64_t *)p = desired;
    unlock_bare_atomic(lock);
    if (!same)
        *(uint64_t *)expected = seen;
    return same;
}
#define CHANGE_8(name, after)                                                  \
    OUT(uint64_t, name##_8, volatile void *p, uint64_t v, PS_UNUSED int order) \
    {                                                                          \
        _Atomic uint32_t *lock = bare_atomic_lock(p);                          \
        uint64_t before = *(volatile uint64_t *)p;                             \
        *(volatile uint64_t *)p = (after);                                     \
        unlock_bare_atomic(lock);                                              \
        return before;                                                         \
    }
CHANGE_8(exchange, v)
CHANGE_8(fetch_add, before + v)
CHANGE_8(fetch_sub, before - v)
CHANGE_8(fetch_and, before &v)
CHANGE_8(fetch_or, before | v)
CHANGE_8(fetch_xor, before ^ v)

/* --- 1 and 2 bytes --- */

static inline _Atomic uint32_t *bare_atomic_word(volatile void *p, unsigned *shift)
{
    *shift = ((uintptr_t)p & 3) * 8;
    return (_Atomic uint32_t *)((uintptr_t)p & ~(uintptr_t)3); // NOLINT(performance-no-int-to-ptr)
}

#define CHANGE(type, bytes, name, after)                                                     \
    OUT(type, name##_##bytes, volatile void *p, type v, PS_UNUSED int order)                 \
    {                                                                                        \
        unsigned shift;                                                                      \
        _Atomic uint32_t *word = bare_atomic_word(p, &shift);                                \
        uint32_t mask = (uint32_t)(type)~0u << shift, seen = ps_load_relaxed(word);          \
        type before;                                                                         \
        do                                                                                   \
            before = (type)(seen >> shift);                                                  \
        while (!ps_cas_seq(word, &seen, (seen & ~mask) | (uint32_t)(type)(after) << shift)); \
        return before;                                                                       \
    }
#define NARROW(type, bytes)                                                                                  \
    CHANGE(type, bytes, exchange, v)                                                                         \
    CHANGE(type, bytes, fetch_add, before + v)                                                               \
    CHANGE(type, bytes, fetch_sub, before - v)                                                               \
    CHANGE(type, bytes, fetch_and, before &v)                                                                \
    CHANGE(type, bytes, fetch_or, before | v)                                                                \
    CHANGE(type, bytes, fetch_xor, before ^ v)                                                               \
    OUT(bool, compare_exchange_##bytes, volatile void *p, void *expected, type desired, PS_UNUSED bool weak, \
        PS_UNUSED int success, PS_UNUSED int failure)                                                        \
    {                                                                                                        \
        unsigned shift;                                                                                      \
        _Atomic uint32_t *word = bare_atomic_word(p, &shift);                                                \
        uint32_t mask = (uint32_t)(type)~0u << shift, seen = ps_load_relaxed(word);                          \
        do                                                                                                   \
            if ((type)(seen >> shift) != *(type *)expected) {                                                \
                *(type *)expected = (type)(seen >> shift);                                                   \
                return false;                                                                                \
            }                                                                                                \
        while (!ps_cas_seq(word, &seen, (seen & ~mask) | (uint32_t)desired << shift));                       \
        return true;                                                                                         \
    }
NARROW(uint8_t, 1)
NARROW(uint16_t, 2)
