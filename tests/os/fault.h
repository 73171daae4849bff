/* Fault injection: lets chosen calls fail in a test program.
 *
 * A test that links ps_fault has these functions replaced at link time (--wrap) in everything that it is linked from;
 * the product has no hook and no cost. Calls inside one source file, and from shared libraries, are not replaced. See
 * docs/testing.md, "Fault injection". */
#ifndef PS_FAULT_H
#define PS_FAULT_H

enum fault_call {
    FAULT_MAP,          /* os_map: NULL */
    FAULT_STACK_MAP,    /* os_stack_map: NULL */
    FAULT_THREAD_START, /* os_thread_start: EAGAIN */
    FAULT_MALLOC,       /* malloc, calloc, realloc, aligned_alloc: NULL; posix_memalign: ENOMEM */
    FAULT_CALLS
};
#define FAULT_ALL_FOLLOWING (~0u)

/* From now on `pass` calls work and then `fail` calls fail; those that follow work again. From any thread. */
void fault_arm(enum fault_call call, unsigned pass, unsigned fail);
/* Everything works again; the counts stay. */
void fault_disarm_all(void);
/* Calls since the last fault_arm, and how many of them were made to fail. */
unsigned fault_calls(enum fault_call call);
unsigned fault_failures(enum fault_call call);

#endif
