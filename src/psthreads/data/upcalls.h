/* Functions of higher folders that lower folders of this room call without seeing their headers. The table is constant.
 * runtime.c fills it in. */
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
    /* Makes the calling kernel thread, which carries no vp, a root (current.h). */
    struct vp *(*attach)(void);
    /* The first function on a fresh stack `self` (switch.c): runs the loop of the vp `transfer`. */
    void (*loop)(void *transfer, void *self);
    /* vp has parked, found nothing, and is about to sleep (idle.h). Returns for how many ns it may sleep before it
     * looks again; negative: for ever. */
    int64_t (*before_sleep)(struct vp *vp, unsigned looks);
    /* Runs the vp that a kernel thread of the library carries (workers.c), until the vp ends. */
    void (*carry)(struct vp *vp);
    /* What the watchdog's kernel thread does (watchdog.h). */
    void *(*watch)(void *);
    /* What a member that becomes a thread calls (handoff.c). */
    void *(*late_member)(void *member);
    /* Lets a thread resume in its block, which others have been in meanwhile: recall_await (recall.h). */
    struct vp *(*await_first)(struct vp *vp, struct psthread *self, struct uth_tls *tls);
    /* A vp's loop has claimed member id of a team (loop.c). */
    void (*run_team)(struct ps_team *team, unsigned id);
    /* Counts vp's waiters in their barrier (waiters.h): vp goes on with something that is not of their team. */
    void (*leave_waiters)(struct vp *vp);
};
extern const struct ps_upcalls ps_upcalls __attribute__((visibility("hidden")));

#endif
