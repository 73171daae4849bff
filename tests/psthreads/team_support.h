/* What tests of teams do again and again. */
#ifndef PS_TESTS_TEAM_SUPPORT_H
#define PS_TESTS_TEAM_SUPPORT_H

#include "scheduler.h"
#include "team.h"

/* The whole barrier: member id arrives, and opens it or waits. */
static inline void team_barrier(struct ps_team *team, unsigned id)
{
    uint32_t phase = ps_team_barrier_phase(team);
    enum ps_met met = ps_team_barrier_meet(team, id, phase, false);
    if (met == PS_MET_LAST && ps_team_barrier_release(team))
        ps_yield();
    while (met == PS_MET_CALLED && !ps_team_barrier_await(team, id, phase)) /* the region has tasks: no thread blocks */
        ps_yield();
}

#endif
