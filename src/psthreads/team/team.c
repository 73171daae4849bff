/* Teams: their set-up and end, and their members' blocks and identities. data/team.h has states and lifetime.
 *
 *   team_fork.c     a region begins, on the parent
 *   team_join.c     the parent runs members that no vp took, waits for the others, and the region ends
 *   team_run.c      a vp runs members; run_member.h: one member, as a call
 *   team_help.c     members that run as threads; the first task of a region; helpers
 *   team_member.h   how a vp takes on a member's identity
 *   team_barrier.c  the barrier; team_batches.h, team_rounds.c: its forms
 *
 * Caller: mostly the parent, between regions. A vp that begins a member calls ps_team_begin_block, too, and a forked
 * child calls ps_team_after_fork_in_child. */
#include "check.h"
#include "current.h"
#include "home.h"
#include "identity.h"
#include "inherited.h"
#include "runtime.h"
#include "team_member.h"
#include "tls.h"
#include "vp.h"

void ps_team_init(struct ps_team *team, const struct ps_team_ops *ops, void *members, size_t stride, unsigned n_max)
{
    *team = (struct ps_team){.item.kind = PS_KIND_TEAM,
                             .ops = ops,
                             .members = members,
                             .stride = (uint32_t)stride,
                             .n_max = n_max,
                             .floats = ps_rt.floats,
                             .joined = ps_rt.floats};
    for (unsigned id = 0; id < n_max; id++) {
        struct ps_member *m = ps_team_member(team, id);
        *m = (struct ps_member){.team = team};
        m->thread.item.kind = PS_KIND_THREAD;
        m->thread.flags = PS_T_MEMBER;
        m->id = id;
    }
    struct vp *vp = ps_vp_attach();
    if (vp_run(vp)->current != &vp_run(vp)->root)
        return;
    home_prepare(vp);
    if (home_block(vp) && PS_HAS_IDENTITY)
        ps_identity.root_begins(vp);
}

/* --- blocks between regions --- */

void ps_team_begin_block(struct ps_team *team, struct uth_tls *block, const struct psthread *opener)
{
    block->mask = ps_mask_of_members(opener);
    vp_block_becomes(block, team);
}

/* Ends what the program left with a member: threads that the member has made (their parent must outlast them), keys'
 * values, thread-local objects. Destructors run as a call in the member's name, outside of every region: if they use
 * OpenMP, the core makes the member a root for that time. So the member, and not the caller, has to be the current
 * thread meanwhile: the caller's team is just being given back. */
static void end_identity(struct ps_member *m)
{
    struct vp *vp = ps_vp_attach();
    struct uth_tls *before = vp_run(vp)->tls;
    struct psthread *caller = vp_run(vp)->current;
    struct uth_tls *outer = before == vp_run(vp)->dedicated_to ? before : NULL;
    bool dedicated = false; /* the block has a dedicated kernel thread, which may be in the block to run a handler */
    if (m->tls) {
        /* vp_end_tls waits for the member's dedicated kernel thread, before the team is freed */
        vp_block_becomes(m->tls, NULL);
        dedicated = ps_load_seq(&m->tls->dedicated) != NULL;
        vp_enter_tls(vp, dedicated ? outer : m->tls);
    }
    ps_member_set(m, caller, PS_T_CALLED | (caller->flags & PS_T_ROOT));
    m->thread.local = NULL;
    m->thread.uth = vp_run(vp)->uth;
    m->thread.vp = vp;
    vp_run(vp)->current = &m->thread;
    if (dedicated)
        ps_dedicate_again(&m->thread, m->tls);
    ps_thread_end_member(&m->thread);
    if (m->tls)
        vp_end_tls(ps_vp());
    ps_end_local(&m->thread);
    vp = ps_vp();
    caller->uth = vp_run(vp)->uth;
    caller->vp = vp;
    vp_run(vp)->current = caller;
    vp_enter_tls(vp, before);
    m->tls = NULL;
}

void ps_team_fini(struct ps_team *team)
{
    PS_CHECK(ps_load_relaxed(&team->left) == 0, "a team was given back while its region is open");
    for (unsigned id = 0; id < team->n_max; id++) {
        struct ps_member *m = ps_team_member(team, id);
        if (id > 0)
            san_fiber_end(&m->fiber);
        if (m->tls || m->thread.keys || m->thread.created || ps_load_relaxed(&m->thread.zombies))
            end_identity(m);
    }
}

bool ps_team_succeed(struct ps_team *larger, struct ps_team *team, unsigned id)
{
    struct ps_member *to = ps_team_member(larger, id), *from = ps_team_member(team, id);
    if (from->thread.created || ps_load_relaxed(&from->thread.zombies))
        return false;
    to->tls = from->tls;
    if (to->tls) {
        vp_block_becomes(to->tls, larger);
        ps_team_await_lookers();
        struct vp *own = ps_load_acquire(&to->tls->dedicated);
        /* from now on ps_local returns `to` on the block's dedicated kernel thread */
        if (own && ps_load_relaxed(&vp_run(own)->stands_as) == from)
            ps_store_relaxed(&vp_run(own)->stands_as, to);
    }
    to->fiber = from->fiber;
    to->thread.keys = from->thread.keys;
    from->tls = NULL;
    from->fiber = from->thread.keys = NULL;
    if (ps_load_relaxed(&team->had_tasks))
        ps_store_relaxed(&larger->had_tasks, true);
    return true;
}

unsigned ps_team_take_tls(struct ps_team *team, unsigned n)
{
    for (unsigned id = 1; id < n && uth_tls_enabled(); id++) {
        struct ps_member *m = ps_team_member(team, id);
        if (m->tls)
            continue;
        if (!(m->tls = vp_try_tls(ps_vp_attach())))
            return id;
        ps_team_begin_block(team, m->tls, vp_run(ps_vp())->current);
    }
    return n;
}

void ps_member_bind(struct ps_member *m, int place)
{
    m->place = (uint32_t)(place + 1);
    m->thread.item.bound = place != PS_NO_PLACE;
}

void ps_team_bind(struct ps_team *team, int place, bool scattered)
{
    team->place = (uint32_t)(place + 1);
    team->item.bound = place != PS_NO_PLACE;
    team->scattered = scattered;
    ps_store_relaxed(&team->forks, scattered || place != PS_NO_PLACE ? PS_FORKS_BOUND : 0);
}

/* A forked child runs no member that had not begun at the fork: all other members belong to the parent process. There
 * is one exception: the thread that forked is the parent of a region, as its member 0, and no other member was claimed.
 * If it comes to the end of that region, it claims the other members in the join. So the entry is taken out of its
 * queue (home is NULL), since another vp of the child's would begin the members at once. */
void ps_team_after_fork_in_child(struct vp *self)
{
    bool may_end = true; /* true: the thread that forked may reach this team's join */
    ps_team_lookers_reset();
    for (struct psthread *t = vp_run(self)->current; t && (t->flags & PS_T_MEMBER); t = t->parent) {
        struct ps_member *m = PS_CONTAINER_OF(t, struct ps_member, thread);
        struct ps_team *team = m->team;
        may_end = may_end && m->id == 0 && ps_load_relaxed(&team->next) == 1;
        if (!may_end)
            ps_store_relaxed(&team->next, team->n);
        if (!team->home)
            continue;
        team->item.link.next = NULL; /* the list that had it is gone */
        team->home = NULL;
    }
}

void ps_team_forget_block(struct psthread *current, const struct uth_tls *block)
{
    for (struct psthread *t = current; t && (t->flags & PS_T_MEMBER); t = t->parent) {
        struct ps_member *m = PS_CONTAINER_OF(t, struct ps_member, thread);
        if (m->tls == block)
            m->tls = NULL;
    }
}
