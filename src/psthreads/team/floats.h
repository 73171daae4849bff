/* Rounding and traps (floating-point controls) of members, and status flags, from region to region.
 *
 * A kernel thread of a pool has at a region's begin what it had at the last one's end: a program sets rounding or
 * flush-to-zero once, in a region, for all threads (libgomp). Or it has what the region's opener has (libomp; and
 * threads that are made for a region, as libgomp's in inner ones). Here many members run on one vp, one after the
 * other. So what a member has is kept with its block.
 *
 * Most programs never change controls, and a look at each member's begin and end is a hundredth of a nested region. So
 * members are *plain* as long as they can be: all controls are those of the thread that started the library. Such a
 * member's block is cached (tls.h). A member that is not plain, and each one in its first PS_FLOAT_REGIONS regions, is
 * looked at by ps_member_call_floating; its block is never cached, so the path of plain ones costs nothing more. What
 * notices a change stands at each function here.
 *
 * Where the program reads status flags (uth/tls_objects.h), they are kept (cpu_float_keep_flags), and no member is
 * plain. The same holds once ps_floats_left has had to guess. A pool's thread goes on with the flags that it has
 * raised. One that is made for a region begins with its creator's (libgomp), or with none (libomp).
 *
 * Fields: ps_team.floats is written by the parent at the fork, .joined at the join. uth_tls.floats and .float_regions
 * are written by the vp that runs the member; when the body has returned, by ps_floats_left on that vp.
 * Limits: nothing is kept for members without blocks, nor by ports without cpu_float.
 * Cost: eight instructions at a fork; ten for a vp that runs claimed members; four at the end of a member with a
 * block. Why each member has its own controls: floats.c. */
#ifndef PS_FLOATS_H
#define PS_FLOATS_H

#include "data/team.h"
#include "runtime.h"

#define PS_FLOAT_REGIONS 64

/* Whether m's block may be left cached: nothing about its controls need be looked at. */
bool ps_floats_are_plain(const struct ps_member *m);
/* Calls a function of the core's in the name of m, which is current and in its block, with m's controls. */
void ps_member_call_floating(struct ps_member *m, void (*fn)(struct ps_member *m));
/* The opener's controls have changed since its team's last region, and the region is not open yet. The team's blocks
 * are not cached from now on, until they are plain again. */
void ps_floats_opener_changed(struct ps_team *team);
static inline void ps_floats_at_fork(struct ps_team *team)
{
    if (PS_UNLIKELY(cpu_float_flags_kept() || cpu_float_controls_changed(&team->floats)))
        ps_floats_opener_changed(team);
}
/* vp has run members of the region. Its controls were plain before, and are now what the last plain member has left.
 * All plain members that vp has run in this region get them. So a change in MXCSR alone (flush-to-zero) is noticed. The
 * result is exact where all members set the same, as programs do; else vp's other members of this one region have what
 * the last one set. Rejected: a look at MXCSR when each body returns. stmxcsr takes 5 ns, and a nested region of 125 ns
 * became 16 % longer. */
void ps_floats_left(const struct vp *vp, struct ps_team *team, uint32_t region);
/* Gives the running vp plain controls. */
static inline void ps_floats_become_plain(void)
{
    if (PS_UNLIKELY(cpu_float_controls_changed(&ps_rt.floats) || cpu_float_x87_changed(&ps_rt.floats)))
        cpu_float_set(&ps_rt.floats);
}
/* The body of m began with plain controls, and has returned with others. Notes them as the member's, takes its block
 * out of the cached state, and gives the vp plain ones again. The C library changes rounding and traps in both units at
 * once, so the x87 unit's control word tells. */
void ps_floats_changed(struct ps_member *m);
static inline void ps_floats_at_end(struct ps_member *m)
{
    if (PS_UNLIKELY(cpu_float_x87_changed(&ps_rt.floats)))
        ps_floats_changed(m);
}
/* The team's parent, which may have changed its controls since the fork, is about to call members. It gets plain ones,
 * and its own again at the join's end. A parent that changed MXCSR alone runs the members with that; the change is
 * noticed at the next fork, as if all members had made it. */
void ps_floats_leave_parents(struct ps_team *team);
static inline void ps_floats_at_join(struct ps_team *team)
{
    if (PS_UNLIKELY(cpu_float_x87_differs(&team->joined, &ps_rt.floats)))
        ps_floats_leave_parents(team);
}
/* Gives the running vp the controls that the team's parent had at its join. */
void ps_floats_give_back(const struct ps_team *team);

#endif
