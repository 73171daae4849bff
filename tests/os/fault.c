/* See fault.h. Plan and counts are one word per call, so that concurrent calls agree on which one fails:
 * the number of a call is taken by fetch-and-add, and the window [pass, pass + fail) is constant while armed. */
#include "fault.h"
#include "os.h"

#include <errno.h>
#include <stdlib.h>

static struct plan {
    _Atomic unsigned calls, failures, pass, fail;
} plans[FAULT_CALLS];

void fault_arm(enum fault_call call, unsigned pass, unsigned fail)
{
    struct plan *p = &plans[call];
    ps_store_seq(&p->fail, 0);
    ps_store_seq(&p->calls, 0);
    ps_store_seq(&p->failures, 0);
    ps_store_seq(&p->pass, pass);
    ps_store_seq(&p->fail, fail);
}

void fault_disarm_all(void)
{
    for (int i = 0; i < FAULT_CALLS; i++)
        ps_store_seq(&plans[i].fail, 0);
}

unsigned fault_calls(enum fault_call call) { return ps_load_seq(&plans[call].calls); }
unsigned fault_failures(enum fault_call call) { return ps_load_seq(&plans[call].failures); }

static bool fails(enum fault_call call)
{
    struct plan *p = &plans[call];
    unsigned number = ps_add_seq(&p->calls, 1), fail = ps_load_seq(&p->fail), pass = ps_load_seq(&p->pass);
    if (fail == 0 || number < pass || (fail != FAULT_ALL_FOLLOWING && number - pass >= fail))
        return false;
    ps_add_seq(&p->failures, 1);
    return true;
}

/* The linker's names: __wrap_x is called for x, __real_x is x itself. */
void *__real_os_map(size_t bytes);
void *__wrap_os_map(size_t bytes);
void *__wrap_os_map(size_t bytes) { return fails(FAULT_MAP) ? NULL : __real_os_map(bytes); }

void *__real_os_stack_map(size_t bytes, size_t *usable);
void *__wrap_os_stack_map(size_t bytes, size_t *usable);
void *__wrap_os_stack_map(size_t bytes, size_t *usable)
{
    return fails(FAULT_STACK_MAP) ? NULL : __real_os_stack_map(bytes, usable);
}

int __real_os_thread_start(os_thread *out, void *(*start)(void *), void *arg, size_t stack_bytes, bool block_signals);
int __wrap_os_thread_start(os_thread *out, void *(*start)(void *), void *arg, size_t stack_bytes, bool block_signals);
int __wrap_os_thread_start(os_thread *out, void *(*start)(void *), void *arg, size_t stack_bytes, bool block_signals)
{
    return fails(FAULT_THREAD_START) ? EAGAIN : __real_os_thread_start(out, start, arg, stack_bytes, block_signals);
}

static bool no_memory(void)
{
    if (!fails(FAULT_MALLOC))
        return false;
    errno = ENOMEM;
    return true;
}
void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes) { return no_memory() ? NULL : __real_malloc(bytes); }

void *__real_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes) { return no_memory() ? NULL : __real_calloc(n, bytes); }

void *__real_realloc(void *p, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes) { return no_memory() ? NULL : __real_realloc(p, bytes); }

void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return no_memory() ? NULL : __real_aligned_alloc(alignment, bytes);
}

int __real_posix_memalign(void **out, size_t alignment, size_t bytes);
int __wrap_posix_memalign(void **out, size_t alignment, size_t bytes);
int __wrap_posix_memalign(void **out, size_t alignment, size_t bytes)
{
    return no_memory() ? ENOMEM : __real_posix_memalign(out, alignment, bytes);
}
