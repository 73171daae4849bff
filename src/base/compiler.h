/* Compiler spellings used by every room.
 *
 * Deliberately tiny: no type of the project is defined here. */
#ifndef PS_COMPILER_H
#define PS_COMPILER_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef PS_CACHE_LINE    /* a target without data caches defines it when it is built */
#define PS_CACHE_LINE 64 /* bytes; the unit of false sharing */
#endif
#ifndef PS_LINE_ALIGN /* a target without data caches may pack fields more closely */
#define PS_LINE_ALIGN PS_CACHE_LINE
#endif

#define PS_LIKELY(x) __builtin_expect(!!(x), 1)
#define PS_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define PS_NOINLINE __attribute__((noinline))
/* As PS_NOINLINE. Moreover GCC does not remove or reorder the function's parameters. So a function with the same
 * parameters can jump to it without moving any of them. */
#ifdef __clang__
#define PS_NOIPA __attribute__((noinline))
#else
#define PS_NOIPA __attribute__((noipa))
#endif
#define PS_ALWAYS_INLINE inline __attribute__((always_inline))
#define PS_NORETURN __attribute__((noreturn))
#define PS_COLD __attribute__((cold))
/* The function begins on a cache line, whatever is linked before it. For functions so short that their alignment
 * changes their time (a barrier's member: 1.3 ns of 16). */
#define PS_CODE_ALIGNED __attribute__((aligned(64)))
#define PS_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define PS_EXPORT __attribute__((visibility("default")))
#define PS_LINE_ALIGNED alignas(PS_LINE_ALIGN)
#define PS_UNUSED __attribute__((unused))

/* From here on an unwinder takes the function for the outermost one of its stack. An exception that is not caught
 * within it ends the program, as in a thread's first function. Does nothing on processors that are not listed here. */
#if defined(__x86_64__)
#define PS_BE_OUTERMOST() __asm__ volatile(".cfi_undefined rip" ::: "memory")
#elif defined(__aarch64__)
#define PS_BE_OUTERMOST() __asm__ volatile(".cfi_undefined x30" ::: "memory")
#elif defined(__riscv)
#define PS_BE_OUTERMOST() __asm__ volatile(".cfi_undefined ra" ::: "memory")
#else
#define PS_BE_OUTERMOST() ((void)0)
#endif

/* PS_READ_TLS(value, name): value = name, a thread-local pointer of the model initial-exec, without a call. The
 * assembly is volatile, so that each use reads anew, and the compiler keeps no address of the variable: the caller may
 * have changed its kernel thread since the last use. Not defined on processors for which a function has to do this. */
#if defined(__x86_64__)
#define PS_READ_TLS(value, name) \
    __asm__ volatile("movq " #name "@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(value))
#elif defined(__aarch64__)
#define PS_READ_TLS(value, name)                                                                  \
    __asm__ volatile("adrp %0, :gottprel:" #name "\n\tldr %0, [%0, :gottprel_lo12:" #name "]\n\t" \
                     "mrs x16, tpidr_el0\n\tldr %0, [x16, %0]"                                    \
                     : "=r"(value)                                                                \
                     :                                                                            \
                     : "x16")
#elif defined(__riscv) && __riscv_xlen == 64 && defined(__linux__)
#define PS_READ_TLS(value, name) \
    __asm__ volatile("la.tls.ie %0, " #name "\n\tadd %0, %0, tp\n\tld %0, 0(%0)" : "=r"(value))
#endif

/* The structure whose member `member` is at `ptr`. */
#define PS_CONTAINER_OF(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* PS_ASAN and PS_TSAN: 1 in a build with that sanitizer, otherwise 0. */
#if defined(__SANITIZE_ADDRESS__)
#define PS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PS_ASAN 1
#endif
#endif
#ifndef PS_ASAN
#define PS_ASAN 0
#endif
#if defined(__SANITIZE_THREAD__)
#define PS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PS_TSAN 1
#endif
#endif
#ifndef PS_TSAN
#define PS_TSAN 0
#endif

#endif
