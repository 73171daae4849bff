/* A vp's handoff slot: HANDOFF_BUSY, HANDOFF_IDLE, or a message, which is a team and the number of one of its members.
 *
 * The vp sets HANDOFF_IDLE when it has nothing to do, and takes it back by compare-and-swap. A parent that opens a
 * region replaces HANDOFF_IDLE by its message, and may take the message back (team_join.c says in which regions). The
 * model is tests/models/handoff.pml. */
#ifndef PS_HANDOFF_H
#define PS_HANDOFF_H

#include "atomic.h"
#include "compiler.h"

struct ps_team;
struct vp;

#define HANDOFF_BUSY ((uint64_t)0)
#define HANDOFF_IDLE ((uint64_t)1)

/* Packs the team's address (line-aligned, below 2^56) and the member's number (below PS_HANDOFF_MAX_ID) into one
 * message. */
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

/* Returns vp's slot, in place; struct vp is in vp.h. */
_Atomic uint64_t *vp_handoff(const struct vp *vp);

/* Closes vp's slot: vp takes no messages from here on. If a message has come, its member becomes a thread in `to`'s
 * queue. */
void ps_handoff_close(struct vp *vp, struct vp *to);

#endif
