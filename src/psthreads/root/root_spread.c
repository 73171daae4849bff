/* Moves roots apart that share a processor: see root_spread.h. */
#include "root_spread.h"

#include "run.h"
#include "runtime.h"

/* Times, in units of ps_rt.per_region_cycles (4 us). */
#define LOOK 500    /* from one look to the next */
#define REST 5000   /* from a move to the next look */
#define LATELY 5000 /* a root that opened a region within this is active */
#define MEETINGS 3
#define ROOTS_MAX 64 /* with more guests no root looks: there is hardly a processor without a root */

int ps_root_spread_pick(const struct os_cpuset *mask, const struct os_cpuset *taken, unsigned cpu)
{
    for (unsigned i = 1; i < OS_MAX_CPUS; i++) {
        unsigned other = (cpu + i) % OS_MAX_CPUS;
        if (os_cpuset_has(mask, other) && !os_cpuset_has(taken, other))
            return (int)other;
    }
    return -1;
}

/* Sets *taken to the processors on which other roots opened a region lately. True: the caller's processor is one of
 * them. */
static bool meet_others(struct vp *vp, uint64_t now, unsigned cpu, struct os_cpuset *taken)
{
    bool met = false;
    unsigned slots = ps_load_acquire(&ps_rt.table_size);
    os_cpuset_zero(taken);
    for (unsigned id = 0; id < slots; id = id ? id + 1 : ps_rt.num_vps) {
        struct vp *other = ps_vp_at(id);
        if (!other || other == vp || !ps_load_relaxed(vp_attached(other)))
            continue;
        int64_t ago = (int64_t)(now - ps_load_relaxed(&vp_root_spread(other)->seen_at));
        unsigned there = ps_load_relaxed(&vp_root_spread(other)->cpu);
        if (ago >= (int64_t)(LATELY * ps_rt.per_region_cycles) || there >= OS_MAX_CPUS)
            continue;
        os_cpuset_add(taken, there);
        met |= there == cpu;
    }
    return met;
}

static void move_away(struct vp *vp, unsigned cpu, const struct os_cpuset *taken)
{
    struct os_cpuset mask, target;
    if (os_affinity_get(&mask) != 0)
        return;
    int to = ps_root_spread_pick(&mask, taken, cpu);
    if (to < 0)
        return;
    os_cpuset_zero(&target);
    os_cpuset_add(&target, (unsigned)to);
    /* Stored before the move, since the root that stays on the old processor may look while this one moves. */
    ps_store_relaxed(&vp_root_spread(vp)->cpu, (unsigned)to);
    if (os_affinity_set(&target) == 0)
        os_affinity_give_back(0, &mask);
}

void ps_root_spread_look(struct vp *vp, uint64_t now)
{
    if (!(vp_run(vp)->current->flags & PS_T_ROOT) || ps_places_on())
        return;
    int cpu = os_current_cpu();
    if (cpu < 0)
        return;
    ps_store_relaxed(&vp_root_spread(vp)->cpu, (unsigned)cpu);
    ps_store_relaxed(&vp_root_spread(vp)->seen_at, now);
    if ((int64_t)(now - vp_root_spread(vp)->look_at) < 0 ||
        ps_load_relaxed(&ps_rt.table_size) > ps_rt.num_vps + ROOTS_MAX)
        return;
    vp_root_spread(vp)->look_at = now + LOOK * ps_rt.per_region_cycles;
    struct os_cpuset taken;
    if (!meet_others(vp, now, (unsigned)cpu, &taken)) {
        vp_root_spread(vp)->meetings = 0;
        return;
    }
    uint64_t waits = os_times_preempted();
    vp_root_spread(vp)->meetings = waits != vp_root_spread(vp)->waits ? vp_root_spread(vp)->meetings + 1 : 0;
    vp_root_spread(vp)->waits = waits;
    if (vp_root_spread(vp)->meetings < MEETINGS)
        return;
    vp_root_spread(vp)->meetings = 0;
    vp_root_spread(vp)->look_at = now + REST * ps_rt.per_region_cycles;
    move_away(vp, (unsigned)cpu, &taken);
}
