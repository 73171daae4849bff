/* The kernel thread that carries the caller just now, whatever the runtime answers to gettid: by the instruction
 * itself. */
#ifndef PS_GUARANTEES_CARRIER_H
#define PS_GUARANTEES_CARRIER_H

#include <sys/syscall.h>
#include <unistd.h>

static long carrier_id(void)
{
#if defined(__x86_64__)
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_gettid) : "rcx", "r11", "memory");
    return result;
#else
    return syscall(SYS_gettid);
#endif
}

#endif
