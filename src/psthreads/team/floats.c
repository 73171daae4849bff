/* Floating-point controls of members: see floats.h.
 *
 * Why each member runs with its own rounding and traps. When a body begins whose block is cached, the vp has plain
 * controls:
 *   - Such bodies begin in three loops: that of a vp (ps_team_run), that of a parent in the join, and the loop in which
 *     a parent runs handoffs that it took back. Each loop begins with plain controls, set by ps_floats_become_plain or
 *     ps_floats_at_join.
 *   - A body of a cached block ends with plain controls, which ps_floats_at_end sets if the body has changed the x87
 *     control word. A change of MXCSR alone stays until ps_floats_left finds it. Any other body ends with what the vp
 *     had before, which ps_member_call_floating sets. Between two bodies the runtime and tasks run. The runtime changes
 *     no controls. Tasks in a member's name run by ps_member_call_floating, which sets the vp's controls again. The
 *     parent's own tasks run with the parent's controls; afterwards the vp gets plain ones. If a context moves to
 *     another kernel thread, the switch keeps its controls (cpu_switch).
 * So a body of a cached block begins with its own controls: its block and its team say that these are plain. Any other
 * body loads the controls that its block or its team has. At its end each body has stored its controls there, or found
 * them unchanged.
 *
 * From plain controls to kept flags: cpu_float_keep_flags (seq_cst) comes first, then all blocks are taken out of the
 * cached state. A vp that leaves a block cached looks afterwards whether flags are kept (ps_member_leave_cached). So
 * one of the two sees the other. Bodies that have begun before still end as plain ones. The controls that such a body
 * leaves are found later: by its vp when it has run its members, by the parent in the join (both: ps_floats_left), or
 * at the team's next fork. */
#include "floats.h"

#include "current.h"
#include "team_member.h"
#include "tls.h"

bool ps_floats_are_plain(const struct ps_member *m)
{
    const struct uth_tls *tls = m->tls;
    return !cpu_float_flags_kept() && tls->float_regions >= PS_FLOAT_REGIONS &&
           !cpu_float_controls_differ(&tls->floats, &ps_rt.floats) &&
           !cpu_float_controls_differ(&m->team->floats, &ps_rt.floats);
}

static bool opener_decides(void) { return ps_rt.floats_of_opener && *ps_rt.floats_of_opener; }

/* Sets *floats to the state with which m begins. As in libgomp: a member of an outermost region that has run before
 * keeps its own state, and any other member begins with its creator's state, like a new thread. As in libomp, if
 * opener_decides: a member begins with the opener's controls and with its own flags; in its first region it has no
 * flags. */
static void begin(const struct ps_member *m, struct cpu_float *floats)
{
    bool first = m->tls->float_regions == 0;
    struct cpu_float none = {0}, own = first ? none : *floats;
    if (!first && !(m->team->parent->flags & PS_T_MEMBER) && !opener_decides())
        return;
    *floats = m->team->floats;
    if (opener_decides())
        cpu_float_take_flags(floats, &own);
}

/* Not inlined, so that no control word is loaded between instructions of the callers. */
PS_NOINLINE void ps_member_call_floating(struct ps_member *m, void (*fn)(struct ps_member *m))
{
    struct uth_tls *tls = m->tls;
    struct cpu_float before;
    if (!tls) {
        ps_member_call(m, fn);
        return;
    }
    cpu_float_save_kept(&before);
    begin(m, &tls->floats);
    if (cpu_float_kept_differ(&tls->floats, &before))
        cpu_float_set_kept(&tls->floats, &before);
    ps_member_call(m, fn);
    cpu_float_save_kept(&tls->floats);
    tls->float_regions += tls->float_regions < PS_FLOAT_REGIONS;
    if (cpu_float_controls_differ(&tls->floats, &ps_rt.floats))
        uth_tls_drop_cached(tls);
    if (cpu_float_kept_differ(&tls->floats, &before))
        cpu_float_set_kept(&before, &tls->floats);
}

/* Returns true if m began its body with plain controls, and the controls that the body left were not read at its end.
 * The caller knows that m's body has returned, in this region. In general such a member's block is still cached. It is
 * not if flags are kept since the body began. */
static bool was_not_looked_at(const struct ps_member *m)
{
    const struct uth_tls *tls = m->tls;
    return ps_load_relaxed(&tls->cached) || (cpu_float_flags_kept() && tls->float_regions >= PS_FLOAT_REGIONS &&
                                             !cpu_float_controls_differ(&tls->floats, &ps_rt.floats));
}

void ps_floats_left(const struct vp *vp, struct ps_team *team, uint32_t region)
{
    struct cpu_float now;
    bool any = false;
    cpu_float_save_kept(&now);
    for (unsigned id = 1; id < team->n_max; id++) {
        const struct ps_member *m = ps_team_member(team, id);
        if (m->thread.vp != vp || ps_load_acquire(&m->done_in) != region || !m->tls || !was_not_looked_at(m))
            continue;
        m->tls->floats = now;
        uth_tls_drop_cached(m->tls);
        any = true;
    }
    if (any)
        uth_tls_keep_flags();
}

PS_NOINLINE void ps_floats_changed(struct ps_member *m)
{
    cpu_float_save(&m->tls->floats);
    uth_tls_drop_cached(m->tls);
    cpu_float_set(&ps_rt.floats);
}

PS_NOINLINE void ps_floats_leave_parents(struct ps_team *team)
{
    team->at_end.controls = true;
    cpu_float_set(&ps_rt.floats);
}

void ps_floats_give_back(const struct ps_team *team) { cpu_float_set(&team->joined); }

PS_NOINLINE void ps_floats_opener_changed(struct ps_team *team)
{
    bool kept = cpu_float_flags_kept();
    /* The members' blocks are not cached, so ps_member_call_floating has noted their flags. Only the opener's are noted
     * here. */
    if (kept && team->keeps_flags) {
        cpu_float_save_kept(&team->floats);
        return;
    }
    team->keeps_flags = kept;
    bool in_region = cpu_float_controls_differ(&team->joined, &team->floats) &&
                     !cpu_float_controls_differ(&team->floats, &ps_rt.floats);
    if (in_region && !cpu_float_controls_changed(&team->joined))
        ps_floats_left(ps_vp(), team, team->region - 1);
    cpu_float_save_kept(&team->floats);
    for (unsigned id = 1; id < team->n_max; id++) {
        const struct ps_member *m = ps_team_member(team, id);
        if (m->tls)
            uth_tls_drop_cached(m->tls);
    }
}
