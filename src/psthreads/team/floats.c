/* Floating-point controls of members: see floats.h.
 *
 * Why each member has its own rounding and traps: a vp has plain ones wherever a body begins whose block is cached.
 *   - Such bodies begin in three loops: a vp's (ps_team_run), a parent's, and that of handoffs that a parent takes
 *     back. Each begins with plain ones: by ps_floats_become_plain, or ps_floats_at_join.
 *   - A body of a cached block ends with plain ones, by ps_floats_at_end. Another one ends with what the vp had before,
 *     by ps_member_call_floating. Between two bodies the runtime runs, which changes none, and tasks run: in a member's
 *     name by ps_member_call_floating. The parent's own tasks run with the parent's controls; then the vp gets plain
 *     ones again. Where a context leaves its kernel thread, the switch keeps its controls (cpu_switch).
 * So a body of a cached block begins right, for its block and its team say that plain ones are its own. Any other body
 * loads what its block or its team says; the end of each body has written that, or found it right.
 *
 * From plain to kept flags: cpu_float_keep_flags (seq_cst), then all blocks are put back. A vp that leaves a block
 * cached looks afterwards whether flags are kept (ps_member_leave_cached): one of the two sees the other. Bodies that
 * have begun before that end as plain ones. What these have left is still found: by their vp at its next look, and by
 * the parent at its team's next fork (was_not_looked_at, ps_team.keeps_flags). */
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

/* Sets *floats to what m begins with. Members of inner regions are new threads in libgomp. libomp sets controls alone,
 * and its threads begin without flags. */
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

/* Not inlined: control words are loaded between what the callers compute. */
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

/* Whether m began its body with plain controls, and what it has left was not looked at. The body has returned in a
 * region that vp knows. The block may have been put back since, for flags are kept from now on. */
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
    if (kept && team->keeps_flags) { /* each member's are looked at, also in the last region */
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
