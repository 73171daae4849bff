/* What lower folders of this room ask of higher ones, where a lower folder does not even see the header.
 *
 * The table is constant. runtime.c fills it in. */
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
    /* The calling kernel thread carries no vp: it becomes a root (current.h). */
    struct vp *(*attach)(void);
    /* What begins on a fresh stack `self` (switch.c): the loop of the vp that is `transfer`. */
    void (*loop)(void *transfer, void *self);
    /* vp has parked, found nothing, and is about to sleep (idle.h). Returns for how many ns it may sleep before it
     * looks again; negative: for ever. */
    int64_t (*before_sleep)(struct vp *vp, unsigned looks);
    /* What a kernel thread of the library does with the vp that it carries (workers.c), until the vp ends. */
    void (*carry)(struct vp *vp);
    /* What the watchdog's kernel thread does (watchdog.h). */
    void *(*watch)(void *);
    /* What a member that becomes a thread calls (handoff.c). */
    void *(*late_member)(void *member);
    /* A thread resumes in its block, in which others have been meanwhile: recall_await (recall.h). */
    struct vp *(*await_first)(struct vp *vp, struct psthread *self, struct uth_tls *tls);
    /* A vp's loop has claimed member id of a team (loop.c). */
    void (*run_team)(struct ps_team *team, unsigned id);
    /* vp goes on with what is none of its waiters' team (waiters.h): they are counted in the barrier. */
    void (*leave_waiters)(struct vp *vp);
};
extern const struct ps_upcalls ps_upcalls __attribute__((visibility("hidden")));

#endif
