/* Moves a vp's kernel thread to the place of the member that the vp is about to run. Rules and fields: bind.h.
 *
 * Callers: the kernel thread that carries the vp. Failure: if the system does not let the kernel thread be bound, one
 * line is printed, and it runs where it may. */
#include "bind.h"
#include "run.h"

#include "check.h"
#include "current.h"
#include "runtime.h"
#include "team.h"

#include <string.h>

static struct ps_places *all_places(void) { return ps_load_acquire(&ps_rt.places); }

static void move_carrier_to(const struct os_cpuset *mask)
{
    static _Atomic uint32_t said;
    int error = os_affinity_set(mask);
    if (error != 0 && !ps_xchg_acq_rel(&said, 1))
        ps_warn("the system does not let a thread be bound to its place (error %d): it runs where it may (said once)",
                error);
}

static const struct os_cpuset *mask_of(const struct vp *vp, unsigned place)
{
    return place != 0 ? &all_places()->place[place - 1].mask : &vp_run(vp)->own_mask;
}

PS_NOINLINE void vp_migrate_slow(struct vp *vp, const struct psthread *t)
{
    unsigned place = t->item.bound ? PS_CONTAINER_OF(t, struct ps_member, thread)->place : 0;
    if (place == vp_run(vp)->place)
        return;
    if (vp_run(vp)->place == 0 && os_affinity_get(&vp_run(vp)->own_mask) != 0)
        os_affinity_at_start(&vp_run(vp)->own_mask);
    const struct os_cpuset *from = mask_of(vp, vp_run(vp)->place), *to = mask_of(vp, place);
    if (memcmp(from, to, sizeof *to) != 0) /* equal if the process was started on one place */
        move_carrier_to(to);
    vp_run(vp)->place = place;
}

bool bind_is_narrow(void)
{
    const struct vp *vp = ps_vp();
    return vp && vp_run(vp)->place != 0;
}

void bind_lift(void)
{
    struct vp *vp = ps_places_on() ? ps_vp() : NULL;
    if (vp != NULL && vp_run(vp)->place != 0)
        move_carrier_to(&vp_run(vp)->own_mask);
}

void bind_lower(void)
{
    struct vp *vp = ps_places_on() ? ps_vp() : NULL;
    if (vp != NULL && vp_run(vp)->place != 0)
        move_carrier_to(&all_places()->place[vp_run(vp)->place - 1].mask);
}
