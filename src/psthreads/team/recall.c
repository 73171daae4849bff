/* Parents that are suspended below members are recalled to run tasks: see recall.h. */
#include "recall.h"

#include "current.h"
#include "home.h"
#include "os.h"
#include "run.h"
#include "scheduler.h"
#include "sources.h"
#include "spin.h"
#include "team.h"
#include "vp_tls.h"
#include "watchdog.h"

#define WATCHED_MOST 256

static struct ps_spin lock;
static _Atomic uint32_t num_watched;
static struct {
    struct ps_team *team;
    uint64_t since_ns; /* when the watchdog first saw that a task waits for member 0; 0: it saw none */
} watched[WATCHED_MOST];

bool recall_wanted(void) { return PS_UNLIKELY(ps_load_seq(&num_watched) != 0); }

void recall_watch(struct ps_team *team)
{
    ps_spin_lock(&lock);
    for (unsigned i = 0; i < WATCHED_MOST; i++)
        if (!watched[i].team) {
            watched[i].team = team;
            watched[i].since_ns = 0;
            ps_store_seq(&num_watched, ps_load_relaxed(&num_watched) + 1);
            break;
        }
    ps_spin_unlock(&lock);
    watchdog_arm_for_root();
}

void recall_unwatch(struct ps_team *team)
{
    ps_spin_lock(&lock);
    for (unsigned i = 0; i < WATCHED_MOST; i++)
        if (watched[i].team == team) {
            watched[i].team = NULL;
            ps_store_seq(&num_watched, ps_load_relaxed(&num_watched) - 1);
        }
    ps_spin_unlock(&lock);
}

void recall_reset(void)
{
    ps_spin_init(&lock);
    ps_store_relaxed(&num_watched, 0);
    for (unsigned i = 0; i < WATCHED_MOST; i++)
        watched[i].team = NULL;
}

/* Returns true if a task waits that only member 0 may run, and member 0 can be given a helper: its parent is suspended
 * below a member, and there is no helper yet. The lock is held. */
static bool is_wanted(const struct ps_team *team)
{
    const struct uth_tls *tls = team->parent_tls;
    return team->by_parent_only && ps_load_seq(&team->notified) && ps_load_acquire(&team->first_helper) == 0 && tls &&
           ps_load_seq(&tls->below) == team->parent && team->ops->any && team->ops->any(ps_team_member(team, 0));
}

static void begin_first(struct ps_team *team, struct ps_member *first)
{
    struct vp *from = team->parent->vp;
    ps_member_set(first, team->parent, 0);
    first->thread.uth = NULL;
    first->thread.vp = from;
    first->thread.member_fn = ps_member_first_main;
    vp_enqueue(from, &first->thread.item, PS_FRONT);
}

static void help_locked(struct ps_team *team)
{
    struct uth_tls *tls = team->parent_tls;
    struct ps_member *first = ps_team_member(team, 0);
    if (tls->adopted && !home_storage_free((struct vp *)(uintptr_t)tls->home))
        return;
    uth_tls_take_away(tls);
    if (!os_fence_all() || ps_load_seq(&tls->below) != team->parent)
        return;
    /* stored before the assistant reads which vp is dedicated to the block (thread_signal.h) */
    ps_store_seq(&tls->below, NULL);
    ps_store_release(&team->first_helper, PS_TEAM_FIRST_HELPER);
    begin_first(team, first);
}

void recall_parent(struct ps_team *team)
{
    ps_spin_lock(&lock);
    for (unsigned i = 0; i < WATCHED_MOST; i++)
        if (watched[i].team == team && is_wanted(team))
            help_locked(team);
    ps_spin_unlock(&lock);
}

void recall_look(uint64_t now_ns)
{
    if (!recall_wanted())
        return;
    ps_spin_lock(&lock);
    for (unsigned i = 0; i < WATCHED_MOST; i++) {
        if (!watched[i].team || !is_wanted(watched[i].team)) {
            watched[i].since_ns = 0;
        } else if (!watched[i].since_ns) {
            watched[i].since_ns = now_ns;
        } else if (now_ns - watched[i].since_ns >= (uint64_t)WATCHDOG_STALL_NS) {
            watched[i].since_ns = 0;
            help_locked(watched[i].team);
        }
    }
    ps_spin_unlock(&lock);
}

void recall_give_back(struct ps_team *team)
{
    ps_spin_lock(&lock);
    uintptr_t helper = ps_load_relaxed(&team->first_helper);
    if (helper == PS_TEAM_FIRST_HELPER)
        ps_store_seq(&team->parent_tls->below, team->parent); /* the parent is suspended below the member again */
    ps_store_release(&team->first_helper, 0);
    ps_spin_unlock(&lock);
    if (helper != PS_TEAM_FIRST_HELPER)
        ps_ready((struct psthread *)helper, PS_FRONT);
}

/* Returns the team of a region that self has opened and in which member 0 has a helper; NULL: none. The lock is
 * held. */
static struct ps_team *helped_of(const struct psthread *self)
{
    for (unsigned i = 0; i < WATCHED_MOST; i++)
        if (watched[i].team && watched[i].team->parent == self && ps_load_relaxed(&watched[i].team->first_helper))
            return watched[i].team;
    return NULL;
}

void recall_leave(struct ps_team *team, struct psthread *m)
{
    if (!recall_wanted())
        return;
    ps_spin_lock(&lock);
    if (team->parent_tls)
        ps_store_seq(&team->parent_tls->below, NULL);
    bool waits = ps_load_relaxed(&team->first_helper) != 0;
    if (waits)
        ps_store_release(&team->first_helper, (uintptr_t)m);
    ps_spin_unlock(&lock);
    if (waits)
        ps_block(m, PS_WAIT_TEAM_END, team);
}

struct vp *recall_await(struct vp *vp, struct psthread *self, struct uth_tls *tls)
{
    if (!recall_wanted())
        return vp;
    ps_spin_lock(&lock);
    ps_store_seq(&tls->below, NULL); /* recall_give_back may have set it meanwhile */
    struct ps_team *team = helped_of(self);
    if (team)
        ps_store_release(&team->first_helper, (uintptr_t)self);
    ps_spin_unlock(&lock);
    if (!team)
        return vp;
    vp_enter_tls(vp, NULL);
    vp_run(vp)->current = self;
    self->uth = vp_run(vp)->uth;
    self->vp = vp;
    ps_block(self, PS_WAIT_TEAM_END, team);
    return ps_vp();
}
