/* The vp that the calling kernel thread carries. scheduler.h says what the current thread is. */
#ifndef PS_CURRENT_H
#define PS_CURRENT_H

#include "atomic.h"
#include "compiler.h"
#include "cpu.h"
#include "upcalls.h"

#include <stdbool.h>
#include <stdint.h>

struct uth;

/* The variable that has the calling kernel thread's vp. Only the functions below and the entity contract (ee.h) use
 * it. */
extern __thread struct vp *ee_here __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Returns the vp that the calling kernel thread carries; NULL: it carries none. Never inlined (see ps_current). */
struct vp *ps_vp(void);
/* Returns the stack on which the caller's vp runs; NULL: the calling kernel thread carries no vp. Async-signal-safe. */
struct uth *ps_current_uth(void);
/* As ps_vp. If the calling kernel thread carries no vp, first makes it a root, and starts the library if needed. */
struct vp *ps_vp_attach(void);
/* Called in a signal handler. Returns true if the calling kernel thread carries the vp that ps_vp returns. If not, the
 * caller must not use that vp. */
bool vp_in_own_block(void);
/* Notes that the calling kernel thread carries vp (NULL: none). */
void vp_carry(struct vp *vp);

/* Does what ps_vp does, without a call where PS_READ_TLS can. */
static PS_ALWAYS_INLINE struct vp *ps_vp_now(void)
{
#ifdef PS_READ_TLS
    struct vp *vp;
    PS_READ_TLS(vp, ee_here);
    return vp;
#else
    return ps_vp();
#endif
}

/* Does what ps_current does. `current` is the first field of struct vp_run, and so of a vp (run.h). */
static PS_ALWAYS_INLINE struct psthread *ps_current_now(void)
{
    struct psthread *const *current = (struct psthread *const *)(void *)ps_vp_now();
    return PS_LIKELY(current != NULL) ? *current : NULL;
}

/* Does what ps_vp_attach does; without a call if there is a vp, and where PS_READ_TLS is. */
static PS_ALWAYS_INLINE struct vp *ps_vp_attach_now(void)
{
    struct vp *vp = ps_vp_now();
    return PS_LIKELY(vp != NULL) ? vp : ps_upcalls.attach();
}

/* Does what vp_carry does; on x86-64 without a call. */
static PS_ALWAYS_INLINE void vp_carry_now(struct vp *vp)
{
#if defined(__x86_64__)
    uintptr_t place;
    __asm__ volatile("movq ee_here@gottpoff(%%rip), %0\n\tmovq %1, %%fs:(%0)" : "=&r"(place) : "r"(vp) : "memory");
#else
    vp_carry(vp);
#endif
}

/* As vp_carry, for the storage to which the calling kernel thread is about to change its thread pointer (`tp`). So a
 * handler that comes after the change finds vp there. */
static PS_ALWAYS_INLINE void vp_carry_at(struct vp *vp, void *tp)
{
#if defined(__x86_64__)
    uintptr_t place;
    __asm__ volatile("movq ee_here@gottpoff(%%rip), %0\n\tmovq %1, (%2,%0)"
                     : "=&r"(place)
                     : "r"(vp), "r"(tp)
                     : "memory");
#else
    *(struct vp **)(void *)((char *)tp + ((char *)&ee_here - (char *)cpu_get_tp())) = vp;
    ps_fence_compiler();
#endif
}

#endif
