/* A vp's handoff slot: one word by which a parent gives an idle vp a member to run.
 *
 * The word has three kinds of values. HANDOFF_BUSY: the vp works, and the slot is closed. HANDOFF_IDLE: the vp has
 * nothing to do, and the slot is open. Any other value is a message: a team and the number of one of its members. The
 * vp stores HANDOFF_IDLE when it has nothing to do. It takes a message, or closes the slot, by compare-and-swap or
 * exchange. The slot of a worker without a kernel thread has HANDOFF_IDLE, too: a handoff starts the kernel thread. A
 * parent that opens a region replaces HANDOFF_IDLE by its message, by compare-and-swap. While the vp has not read the
 * message, the parent may take it back (team_join.c says in which regions). The model is tests/models/handoff.pml. */
#ifndef PS_HANDOFF_H
#define PS_HANDOFF_H

#include "atomic.h"
#include "compiler.h"

struct ps_team;
struct vp;

#define HANDOFF_BUSY ((uint64_t)0)
#define HANDOFF_IDLE ((uint64_t)1)

/* Packs a message: the address of the team (a multiple of the cache line, below 2^56), and the number of the member
 * (below PS_HANDOFF_MAX_ID). */
#define PS_HANDOFF_ID_BITS 13
#define PS_HANDOFF_MAX_ID (1u << PS_HANDOFF_ID_BITS)
static inline uint64_t ps_handoff(struct ps_team *team, unsigned id)
{
    return (uint64_t)(uintptr_t)team / PS_CACHE_LINE << PS_HANDOFF_ID_BITS | id;
}
static inline struct ps_team *ps_handoff_team(uint64_t handoff)
{
    return (struct ps_team *)(uintptr_t)((handoff >> PS_HANDOFF_ID_BITS) * PS_CACHE_LINE);
}
static inline unsigned ps_handoff_id(uint64_t handoff) { return (unsigned)(handoff & (PS_HANDOFF_MAX_ID - 1)); }

/* Returns the address of vp's handoff slot. The slot is a field of struct vp (vp.h). */
_Atomic uint64_t *vp_handoff(const struct vp *vp);

/* Closes vp's handoff slot: vp gets no message until it opens the slot again. If the slot has a message, makes its
 * member a ready thread, in general in the queue of the vp `to` (ps_member_begin_thread). Caller: vp, or a thread that
 * has found that vp cannot run. */
void ps_handoff_close(struct vp *vp, struct vp *to);

#endif
