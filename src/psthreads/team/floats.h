/* Rounding and traps (floating-point controls) of members, and status flags, from region to region.
 *
 * A kernel thread of a pool has at a region's begin what it had at the last one's end: a program sets rounding or
 * flush-to-zero once, in a region, for all threads (libgomp). Or it has what the region's opener has (libomp; and
 * threads that are made for a region, as libgomp's in inner ones). Here many members run on one vp, one after the
 * other. So what a member has is kept with its block.
 *
 * Most programs never change controls, and a look at each member's begin and end is a hundredth of a nested region. So
 * members are *plain* as long as they can be: all controls are those of the thread that started the library.
 *   - A member's first PS_FLOAT_REGIONS regions are looked at (ps_member_call_floating), and all later ones if the
 *     member's or the opener's controls are not plain. Such a member's block is never left at hand (tls.h), so the path
 *     of those that are costs nothing more.
 *   - An opener whose controls have changed since its team's last region is noticed at the fork. The team's blocks are
 *     not at hand from then on, until they are plain again.
 *   - A plain member that changes rounding or traps in a later region is noticed when its body returns
 *     (ps_floats_at_end). The C library changes them in both units at once, so the x87 unit's control word tells. The
 *     member's are kept, its block is no longer at hand, and the vp gets plain ones again.
 *   - What is changed in MXCSR alone (flush-to-zero) is noticed when the vp has run what it has claimed
 *     (ps_floats_left). All plain members that the vp has run in this region get what is left. That is exact where all
 *     set the same, which is what programs do; else the vp's others of this one region have what the last one set.
 *     Rejected: a look at MXCSR when each body returns. stmxcsr takes 5 ns, and a nested region of 125 ns became 16 %
 *     longer.
 *   - A parent that changes rounding or traps in its region gets plain ones before it calls members
 *     (ps_floats_at_join), and its own again at the join's end. One that changes MXCSR alone runs members with that. It
 *     is noticed at the next fork, and taken for a region in which all have set the same.
 *
 * Flags. Where the program reads status flags (uth/tls_objects.h), they are kept (cpu_float_keep_flags). Then no
 * member is plain: each begins and ends in ps_member_call_floating, which keeps all. The same holds once ps_floats_left
 * has had to guess. A pool's thread goes on with the flags that it has raised. One that is made for a region begins
 * with its creator's (libgomp), or with none (libomp).
 *   - The switch from plain to that: cpu_float_keep_flags (seq_cst), then all blocks are taken off hand. A vp that
 *     leaves a block at hand looks afterwards whether flags are kept (ps_member_leave_cached): one of the two sees the
 *     other. Bodies that have begun before that end as plain ones. What these have left is still found: by their vp at
 *     its next look, and by the parent at its team's next fork (was_not_looked_at, ps_team.keeps_flags).
 *
 * Why each member has its own rounding and traps: a vp has plain ones wherever a body begins whose block is at hand.
 *   - Such bodies begin in three loops: a vp's (ps_team_run), a parent's, and that of handoffs that a parent takes
 *     back. Each begins with plain ones: by ps_floats_become_plain, or ps_floats_at_join.
 *   - A body that was at hand ends with plain ones, by ps_floats_at_end. Another one ends with what the vp had before,
 *     by ps_member_call_floating. Between two bodies the runtime runs, which changes none, and tasks: in the name of a
 *     member by ps_member_call_floating. The parent's own tasks run with the parent's; then come plain ones. Where a
 *     context leaves its kernel thread, the switch keeps its controls (cpu_switch).
 * A body at hand then begins right, for its block and its team say that plain ones are its own. Another one loads what
 * its block or its team says, and each end of a body has written that, or found it right.
 *
 * Fields: ps_team.floats is written by the parent at the fork, .joined at the join. uth_tls.floats and .float_regions
 * are written by the vp that runs the member; when the body has returned, by ps_floats_left on that vp.
 * Limits: nothing is kept for members without blocks, nor by ports without cpu_float.
 * Cost: eight instructions at a fork; ten for a vp that runs claimed members; four at the end of a member with a
 * block. */
#ifndef PS_FLOATS_H
#define PS_FLOATS_H

#include "data/team.h"
#include "runtime.h"

#define PS_FLOAT_REGIONS 64

/* m's block may be left at hand: nothing need be looked at. */
bool ps_floats_are_plain(const struct ps_member *m);
/* Calls a function of the core's in the name of m, which is current and in its block, with m's controls. */
void ps_member_call_floating(struct ps_member *m, void (*fn)(struct ps_member *m));
/* The opener's have changed; the region is not open yet. */
void ps_floats_opener_changed(struct ps_team *team);
static inline void ps_floats_at_fork(struct ps_team *team)
{
    if (PS_UNLIKELY(cpu_float_flags_kept() || cpu_float_controls_changed(&team->floats)))
        ps_floats_opener_changed(team);
}
/* vp has run members of the region, and its controls, which were plain before, are what the last plain one has left. */
void ps_floats_left(const struct vp *vp, struct ps_team *team, uint32_t region);
/* The running vp has plain controls. */
static inline void ps_floats_become_plain(void)
{
    if (PS_UNLIKELY(cpu_float_controls_changed(&ps_rt.floats) || cpu_float_x87_changed(&ps_rt.floats)))
        cpu_float_set(&ps_rt.floats);
}
/* The body of m has returned, which had begun with plain controls, and has others now. */
void ps_floats_changed(struct ps_member *m);
static inline void ps_floats_at_end(struct ps_member *m)
{
    if (PS_UNLIKELY(cpu_float_x87_changed(&ps_rt.floats)))
        ps_floats_changed(m);
}
/* The team's parent, which may have changed its own since the fork, is about to call members. */
void ps_floats_leave_parents(struct ps_team *team);
static inline void ps_floats_at_join(struct ps_team *team)
{
    if (PS_UNLIKELY(cpu_float_x87_differs(&team->joined, &ps_rt.floats)))
        ps_floats_leave_parents(team);
}
/* The running vp has what the team's parent had at its join. */
void ps_floats_give_back(const struct ps_team *team);

#endif
