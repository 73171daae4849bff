/* Functions of higher folders that lower folders of this room call without including their headers. The table is
 * constant; life/runtime.c defines it. */
#ifndef PS_UPCALLS_H
#define PS_UPCALLS_H

#include "compiler.h"

#include <stdbool.h>
#include <stdint.h>

struct ps_team;
struct psthread;
struct uth;
struct uth_tls;
struct vp;

struct ps_upcalls {
    /* Makes the calling kernel thread, which carries no vp, a root, and returns its vp (current.h). */
    struct vp *(*attach)(void);
    /* The first function on a fresh stack `self` (switch.c): runs the loop of the vp `transfer` there. */
    void (*loop)(void *transfer, void *self);
    /* Called by vp when it is about to sleep, after it has set its bit (idle.h). Looks for a deadlock. looks: how often
     * vp has called this before, for the same sleep. Returns for how many ns vp may sleep before it calls again;
     * negative: for ever. */
    int64_t (*before_sleep)(struct vp *vp, unsigned looks);
    /* Called by a kernel thread of the library that carries vp (workers.c). Runs vp's loop; returns when the vp
     * ends. */
    void (*carry)(struct vp *vp);
    /* The function of the watchdog's kernel thread (watchdog.h). */
    void *(*watch)(void *);
    /* The function of a member that becomes a thread of its own (handoff.c). */
    void *(*late_member)(void *member);
    /* Called by `self`, which is about to enter its block tls again after another vp was in it. Waits until no helper
     * is in the block (recall_await in recall.h). Returns the vp on which self runs then. */
    struct vp *(*await_first)(struct vp *vp, struct psthread *self, struct uth_tls *tls);
    /* Called by a vp's loop that has claimed member id of a team (loop.c): runs this member and further ones. */
    void (*run_team)(struct ps_team *team, unsigned id);
    /* Called when vp has waiters, and is about to run something else than a member of their team. Counts the waiters'
     * arrival in their barrier (waiters.h). */
    void (*leave_waiters)(struct vp *vp);
};
extern const struct ps_upcalls ps_upcalls __attribute__((visibility("hidden")));

#endif
