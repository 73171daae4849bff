/* The barrier by counters in memory. Each of the ways in this folder uses it for the teams for which the way has no
 * better barrier. */
#ifndef PS_EE_HAL_SOFTWARE_H
#define PS_EE_HAL_SOFTWARE_H

#include "cpu.h"
#include "hal.h"

/* Counts the caller. EE_LAST: the caller was the last. EE_NOTIFIED: others have not arrived yet. */
static inline enum ee_await software_arrive(struct team *team)
{
    return ps_sub_acq_rel(&team->arrivals_left, 1) == 1 ? EE_LAST : EE_NOTIFIED;
}
/* Called by the last member: opens the barrier for the members in software_await. */
static inline void software_release(struct team *team, struct member *m)
{
    ps_store_relaxed(&team->arrivals_left, team->n);
    ps_store_seq(&team->phase, m->phase = ps_load_relaxed(&team->phase) + 1);
}
/* Waits until the phase is over (EE_RELEASED), or the region has tasks (EE_NOTIFIED). */
static inline enum ee_await software_await(struct team *team, struct member *m, uint32_t phase)
{
    for (;;) {
        if (ps_load_acquire(&team->phase) != phase) {
            m->phase = phase + 1;
            return EE_RELEASED;
        }
        if (ps_load_acquire(&team->notified)) {
            pool_saw_tasks(); /* from here on the member reads the team's phase, not its own copy */
            return EE_NOTIFIED;
        }
        for (unsigned i = 0; i < 4; i++)
            cpu_pause();
    }
}

#endif
