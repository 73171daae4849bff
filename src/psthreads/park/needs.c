/* Keeps how many spares the regions of a place in the program needed. See needs.h. */
#include "needs.h"

#include "current.h"
#include "os.h"
#include "parts.h"
#include "run.h"
#include "runtime.h"
#include "spin.h"
#include "standby.h"
#include "team.h"

#define SLOTS 64
#define FIRST_WHILE_NS UINT64_C(500000000)
#define LAST_WHILE_NS UINT64_C(64000000000)

/* What one place in the program needs. Guarded by `lock`. */
struct need {
    /* The address that identifies the place in the program; NULL: the slot is free. needs_at_fork also reads it without
     * the lock. */
    _Atomic(const void *) place;
    /* How many spares a region of this place in the program begins with. A region of n members begins with n - 1 at
     * most. */
    unsigned spares;
    /* The first region that is opened after try_at_ns begins with half of `spares`. while_ns: the time from the join of
     * such a region to the next try_at_ns. */
    uint64_t while_ns, try_at_ns;
};

static struct ps_spin lock;
static struct need needs[SLOTS];
static _Atomic uint32_t bit; /* VP_NEEDS once some place in the program has needed spares; else 0 */

unsigned needs_bit(void) { return ps_load_seq(&bit); }

static struct need *slot_of(const void *place) { return &needs[((uintptr_t)place >> 4) * 0x9e3779b1u % SLOTS]; }

/* Returns the address that identifies where in the program the team's region is. */
static const void *place_in_program(const struct ps_team *team)
{
    return team->ops->place ? team->ops->place(ps_team_member(team, 0)) : team->ops;
}

void needs_at_fork(struct ps_team *team, unsigned n)
{
    const void *place = place_in_program(team);
    struct need *need = slot_of(place);
    unsigned spares = 0;
    if (ps_load_relaxed(&need->place) != place)
        return;
    ps_spin_lock(&lock);
    if (ps_load_relaxed(&need->place) == place) {
        spares = need->spares < n ? need->spares : n - 1;
        team->at_end.less = os_now_ns() >= need->try_at_ns;
        if (team->at_end.less)
            spares /= 2;
    }
    ps_spin_unlock(&lock);
    team->granted = (uint16_t)spares;
    team->granted_late = (uint16_t)standby_grant(spares);
    team->at_end.granted = true;
}

void needs_note(struct ps_team *team, struct vp *vp)
{
    struct vp_worker *spare = vp_worker(vp);
    if (spare->helped == team && spare->helped_in == team->region)
        return;
    spare->helped = team;
    spare->helped_in = team->region;
    ps_add_relaxed(&team->helpers, 1);
    ps_store_relaxed(&team->at_end.helped, true);
}

/* Gives the slot `need` to `place`, which has no slot. If another place has the slot, that place loses it. The caller
 * holds the lock. */
static void begin_need(struct need *need, const void *place, unsigned spares)
{
    need->spares = spares;
    need->while_ns = FIRST_WHILE_NS;
    need->try_at_ns = os_now_ns() + FIRST_WHILE_NS;
    ps_store_relaxed(&need->place, place);
    /* stored before the loop: a vp that begins from now on reads `bit`, and the vps that exist get the bit from the
     * loop */
    ps_store_seq(&bit, VP_NEEDS);
    unsigned vps = ps_load_acquire(&ps_rt.table_size);
    for (unsigned id = 0; id < vps; id++)
        vp_becomes(ps_vp_at(id), VP_NEEDS);
}

void needs_learn(struct ps_team *team)
{
    const void *place = place_in_program(team);
    struct need *need = slot_of(place);
    unsigned helpers = ps_load_relaxed(&team->helpers);
    if (team->granted_late)
        standby_revoke(team->granted_late);
    ps_spin_lock(&lock);
    if (ps_load_relaxed(&need->place) != place) {
        begin_need(need, place, helpers);
    } else if (team->at_end.less) {
        bool enough = helpers <= team->granted;
        need->spares = enough ? team->granted : need->spares > helpers ? need->spares : helpers;
        if (!enough && need->while_ns < LAST_WHILE_NS)
            need->while_ns *= 2;
        need->try_at_ns = os_now_ns() + need->while_ns;
    } else if (helpers > need->spares) {
        need->spares = helpers;
    }
    if (need->spares == 0)
        ps_store_relaxed(&need->place, NULL);
    ps_spin_unlock(&lock);
    ps_store_relaxed(&team->helpers, 0);
    team->granted = team->granted_late = 0;
}

void needs_reset(void)
{
    ps_spin_init(&lock);
    ps_store_relaxed(&bit, 0);
    for (unsigned i = 0; i < SLOTS; i++)
        ps_store_relaxed(&needs[i].place, NULL);
}
