/* The vp that the calling kernel thread carries. The contract of `current` threads is in scheduler.h. */
#ifndef PS_CURRENT_H
#define PS_CURRENT_H

#include "atomic.h"
#include "compiler.h"
#include "cpu.h"
#include "upcalls.h"

#include <stdbool.h>
#include <stdint.h>

struct uth;

/* The variable itself: used only by the functions below, and by the entity contract (ee.h). */
extern __thread struct vp *ee_here __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* NULL: it carries none. Never inlined (see ps_current). */
struct vp *ps_vp(void);
/* The stack that runs there; NULL: it carries no vp. Async-signal-safe. */
struct uth *ps_current_uth(void);
/* The same, attaching a root at need. */
struct vp *ps_vp_attach(void);
/* In a handler: whether the current vp can be told. */
bool vp_in_own_block(void);
/* Says that the calling kernel thread carries vp (NULL: none). */
void vp_carry(struct vp *vp);

/* ps_vp without the call, for the yield and ps_local. Volatile, so that each use reads the variable anew and keeps no
 * address. */
static PS_ALWAYS_INLINE struct vp *ps_vp_now(void)
{
#if defined(__x86_64__)
    struct vp *vp;
    __asm__ volatile("movq ee_here@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(vp));
    return vp;
#else
    return ps_vp();
#endif
}

/* ps_current likewise. The thread is a vp's first field (run.h). */
static PS_ALWAYS_INLINE struct psthread *ps_current_now(void)
{
    struct psthread *const *current = (struct psthread *const *)(void *)ps_vp_now();
    return PS_LIKELY(current != NULL) ? *current : NULL;
}

/* ps_vp_attach likewise. */
static PS_ALWAYS_INLINE struct vp *ps_vp_attach_now(void)
{
    struct vp *vp = ps_vp_now();
    return PS_LIKELY(vp != NULL) ? vp : ps_upcalls.attach();
}

/* vp_carry likewise. */
static PS_ALWAYS_INLINE void vp_carry_now(struct vp *vp)
{
#if defined(__x86_64__)
    uintptr_t place;
    __asm__ volatile("movq ee_here@gottpoff(%%rip), %0\n\tmovq %1, %%fs:(%0)" : "=&r"(place) : "r"(vp) : "memory");
#else
    vp_carry(vp);
#endif
}

/* As vp_carry, but for the storage of thread pointer `tp`, which the calling kernel thread is about to take: so a
 * handler finds vp there from the first instruction on. */
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
