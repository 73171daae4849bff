/* The registers of a system call in a signal's frame, which is the third argument of the signal's handler.
 *
 * REGISTERS(uc)          all of them
 * PC(uc), SP(uc)         the next instruction, the stack pointer
 * CALL_NUMBER(uc)        which call is about to be made; x86-64: once it is over its result stands there
 * RESULT(uc)             of a call that is over
 * ARGUMENT_REGISTERS     where its arguments are
 * FIRST_PRESERVED        the first of them that the result does not overwrite
 * INSTRUCTION            the instruction that makes it
 *
 * On other processors PC is not defined: calls are not told apart there. */
#ifndef PS_OS_LINUX_REGISTERS_H
#define PS_OS_LINUX_REGISTERS_H

#if !defined(_GNU_SOURCE)
#error "REG_RIP and its like are names of _GNU_SOURCE"
#endif
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "raw.h"

#define ARGUMENTS 6
#define REGISTERS_PAGE 4096 /* the smallest */

#if defined(__x86_64__)
#define REGISTERS(uc) ((uc)->uc_mcontext.gregs)
#define PC(uc) REGISTERS(uc)[REG_RIP]
#define SP(uc) REGISTERS(uc)[REG_RSP]
#define CALL_NUMBER(uc) REGISTERS(uc)[REG_RAX]
#define RESULT(uc) REGISTERS(uc)[REG_RAX]
#define ARGUMENT_REGISTERS                                 \
    {                                                      \
        REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9 \
    }
#define FIRST_PRESERVED 0
#define INSTRUCTION "\x0f\x05"
#define INSTRUCTION_BYTES 2
#elif defined(__aarch64__)
#define REGISTERS(uc) ((uc)->uc_mcontext.regs)
#define PC(uc) (uc)->uc_mcontext.pc
#define SP(uc) (uc)->uc_mcontext.sp
#define CALL_NUMBER(uc) REGISTERS(uc)[8]
#define RESULT(uc) REGISTERS(uc)[0]
#define ARGUMENT_REGISTERS \
    {                      \
        0, 1, 2, 3, 4, 5   \
    }
#define FIRST_PRESERVED 1
#define INSTRUCTION "\x01\0\0\xd4"
#define INSTRUCTION_BYTES 4
#elif defined(__riscv)
#define REGISTERS(uc) ((uc)->uc_mcontext.__gregs)
#define PC(uc) REGISTERS(uc)[REG_PC]
#define SP(uc) REGISTERS(uc)[REG_SP]
#define CALL_NUMBER(uc) REGISTERS(uc)[REG_A0 + 7]
#define RESULT(uc) REGISTERS(uc)[REG_A0]
#define ARGUMENT_REGISTERS                                                 \
    {                                                                      \
        REG_A0, REG_A0 + 1, REG_A0 + 2, REG_A0 + 3, REG_A0 + 4, REG_A0 + 5 \
    }
#define FIRST_PRESERVED 1
#define INSTRUCTION "\x73\0\0\0"
#define INSTRUCTION_BYTES 4
#endif

#ifdef PC
/* The instruction at pc makes a call; the one in front of it has made one. */
static inline bool registers_call_next(uintptr_t pc)
{
    return memcmp((const void *)pc, INSTRUCTION, INSTRUCTION_BYTES) == 0; // NOLINT(performance-no-int-to-ptr)
}
/* The program may have code at the begin of a page with nothing in front. The kernel tells: it looks at the set of
 * signals before it looks what to do with it, which is nothing. */
static inline bool registers_readable_before(uintptr_t pc, size_t bytes)
{
    return pc % REGISTERS_PAGE >= bytes ||
           raw_call(SYS_rt_sigprocmask, -1, (long)(pc - bytes), 0, KERNEL_MASK_BYTES) != -EFAULT;
}
static inline bool registers_call_over(uintptr_t pc)
{
    return registers_readable_before(pc, INSTRUCTION_BYTES) && registers_call_next(pc - INSTRUCTION_BYTES);
}
#endif

#endif
