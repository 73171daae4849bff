/* The parts of the entities that the OpenMP core has inline on the virtual manycore (ee.h, EE_PORT): the barrier of a
 * region without tasks.
 *
 * A core's gate is the register of the synchroniser through which its member arrives at its team's barrier. If the gate
 * is NULL (closed), the member takes the slow path, ee_barrier_meet. A member that takes the slow path through the
 * synchroniser opens the gate for the next barriers (hal/synchroniser.c). Only the core itself closes its gate, in
 * three cases: another member, another team or a serialized region begins or ends on it; it has seen tasks; its
 * implicit task has a child. Members of one barrier may take either path. */
#ifndef PS_EE_PORT_H
#define PS_EE_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"

#include <manycore.h>

extern __thread void *pool_local; /* what ee_local() returns */
static PS_ALWAYS_INLINE void *ee_local_inline(void) { return pool_local; }

#define EE_GATE_TASKS (1 << 3) /* the signal SLOT_TASKS: the team, or an enclosing one, has tasks */

extern __thread volatile uint32_t *ee_gate;
extern __thread uint32_t ee_gate_mask; /* the signal of the barrier's slot, and EE_GATE_TASKS */

/* Arrives, and sleeps until a signal of the mask is pending. Returns the pending signals of the mask. *release gets the
 * mask without EE_GATE_TASKS, which is the barrier's signal alone. The three accesses are in one line of the
 * instruction cache. So the core sleeps before a signal can come that was sent after the barrier's release. *release is
 * computed in the cycle in which the loaded signals cannot be used yet. */
static PS_ALWAYS_INLINE uint32_t ee_gate_meet(volatile uint32_t *gate, uint32_t mask, uint32_t *release)
{
    uint32_t came;
    __asm__ volatile(".balign 16\n\tsw zero, 0(%2)\n\tsw %3, 0x294(%4)\n\tlw %0, 0x290(%4)\n\tandi %1, %3, %5"
                     : "=&r"(came), "=&r"(*release)
                     : "r"(gate), "r"(mask), "r"(&MC_HWS(0)), "i"(~EE_GATE_TASKS)
                     : "memory");
    return came;
}
/* Takes the barrier's signal, so that it is no longer pending. */
static PS_ALWAYS_INLINE void ee_gate_take(volatile uint32_t *gate)
{
    (void)gate[-32]; /* the register at 0x0c0 + slot * 4 */
    __asm__ volatile("" ::: "memory");
}

/* Set by ee_barrier_pass: the caller has arrived by the gate, and then found that there are tasks. ee_barrier_meet,
 * which the caller calls next, then does not arrive a second time, and clears the flag. */
extern __thread bool ee_gate_arrived;

static PS_ALWAYS_INLINE bool ee_barrier_pass(void)
{
    volatile uint32_t *gate = ee_gate;
    uint32_t mask = ee_gate_mask, release;
    /* Tests gate == NULL with an instruction of four bytes. So GOMP_barrier needs no nop before the aligned line. */
    __asm__ goto(".option push\n\t.option norvc\n\tbeqz %0, %l1\n\t.option pop" : : "r"(gate) : : closed);
    if (PS_UNLIKELY(ee_gate_meet(gate, mask, &release) != release)) {
        ee_gate_arrived = true;
        ee_gate = NULL;
        return false;
    }
    ee_gate_take(gate);
    return true;
closed:
    return false;
}
static PS_ALWAYS_INLINE void ee_barrier_heed(void) { ee_gate = NULL; }

#endif
