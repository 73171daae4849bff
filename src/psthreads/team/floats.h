/* Rounding and traps (floating-point controls) of members, and status flags, from region to region.
 *
 * In libgomp, a kernel thread of the pool begins a region with the controls that it had at the end of its last one. So
 * a program sets rounding or flush-to-zero once, in a region, for all threads. In libomp, a thread of the pool begins
 * with the controls of the region's opener. A thread that is made for one region, as in libgomp's inner regions, does
 * so in both. Here many members run on one vp, one after the other, so a member's controls are kept with its block.
 *
 * Most programs never change controls, and a look at them at each member's begin and end costs a hundredth of a nested
 * region. So members are *plain* as long as they can be: all controls are those of the thread that started the library.
 * A plain member's block is cached (tls.h). ps_member_call_floating looks at every other member, and at each member in
 * its first PS_FLOAT_REGIONS regions; their blocks are never cached. So plain members do not pay for these looks. Each
 * function here says which change it notices.
 *
 * If the program reads status flags (uth/tls_objects.h), they are kept (cpu_float_keep_flags), and no member is plain.
 * They are also kept for good once ps_floats_left has changed a member's controls. A thread of a pool goes on with the
 * flags that it has raised. A thread made for one region begins with its creator's flags (libgomp), or with none
 * (libomp).
 *
 * Fields: the parent writes ps_team.floats at the fork, and .joined at the join. The vp that runs the member writes
 * uth_tls.floats and .float_regions. ps_floats_left writes uth_tls.floats after the body has returned.
 * Limits: nothing is kept for members without blocks, nor by ports without cpu_float.
 * Cost: eight instructions at a fork; ten for a vp that runs claimed members; four at the end of a member with a
 * block. Why each member has its own controls: floats.c. */
#ifndef PS_FLOATS_H
#define PS_FLOATS_H

#include "data/team.h"
#include "runtime.h"

#define PS_FLOAT_REGIONS 64

/* Returns true if m's block may be left cached: m has run in PS_FLOAT_REGIONS regions, its controls and its opener's
 * are plain, and no flags are kept. */
bool ps_floats_are_plain(const struct ps_member *m);
/* Calls fn, a function of the core's, in the name of m with m's controls. m is the current thread, in its block. */
void ps_member_call_floating(struct ps_member *m, void (*fn)(struct ps_member *m));
/* Called by the parent at a fork, before the region is open, if its floating-point controls have changed since this was
 * last called for the team, or if status flags are kept. Notes the parent's controls (and flags, if they are kept) in
 * the team. Ends the cached state of the members' blocks (uth_tls_drop_cached), so that each member's controls are
 * looked at when it begins. If flags were kept at the last fork too, no block is cached. A block is cached again once
 * ps_floats_are_plain returns true for its member. A member that ran on the parent's vp in the last region may have
 * left there the controls that the parent finds now: then these are noted for the member (ps_floats_left). */
void ps_floats_opener_changed(struct ps_team *team);
static inline void ps_floats_at_fork(struct ps_team *team)
{
    if (PS_UNLIKELY(cpu_float_flags_kept() || cpu_float_controls_changed(&team->floats)))
        ps_floats_opener_changed(team);
}
/* Called when vp has run members of the region. Its controls were plain before; now they are those that the last plain
 * member left. Gives them to all plain members that vp has run in this region. So a change of MXCSR alone
 * (flush-to-zero) is noticed. The result is exact if all members set the same controls, as programs do. Otherwise vp's
 * other members of this one region get what the last one set. Rejected: reading MXCSR when each body returns. stmxcsr
 * takes 5 ns, and a nested region of 125 ns became 16 % longer. */
void ps_floats_left(const struct vp *vp, struct ps_team *team, uint32_t region);
/* Gives the running vp plain controls. */
static inline void ps_floats_become_plain(void)
{
    if (PS_UNLIKELY(cpu_float_controls_changed(&ps_rt.floats) || cpu_float_x87_changed(&ps_rt.floats)))
        cpu_float_set(&ps_rt.floats);
}
/* Called when the body of m began with plain controls, and has returned with others. Notes them as the member's, takes
 * its block out of the cached state, and sets plain controls on the vp. The x87 unit's control word is enough to find
 * such a change, since the C library changes rounding and traps in both units at once. */
void ps_floats_changed(struct ps_member *m);
static inline void ps_floats_at_end(struct ps_member *m)
{
    if (PS_UNLIKELY(cpu_float_x87_changed(&ps_rt.floats)))
        ps_floats_changed(m);
}
/* Called when the team's parent is about to call members, and has controls that are not plain. Sets plain controls; the
 * parent gets its own again at the end of the join. If the parent has changed MXCSR alone, the members that it calls
 * run with that MXCSR. The next fork notices that (ps_floats_opener_changed). */
void ps_floats_leave_parents(struct ps_team *team);
static inline void ps_floats_at_join(struct ps_team *team)
{
    if (PS_UNLIKELY(cpu_float_x87_differs(&team->joined, &ps_rt.floats)))
        ps_floats_leave_parents(team);
}
/* Sets on the running vp the controls that the team's parent had at its join. */
void ps_floats_give_back(const struct ps_team *team);

#endif
