/* The functions of src/identity, a room above this one, that this room calls. They handle signals that are sent to one
 * thread, and roots that have set a priority of their own.
 *
 * src/identity defines the one constant table. A build without that room (the static library, bare metal) has no table.
 * Then none of these functions is called. */
#ifndef PS_IDENTITY_H
#define PS_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

struct vp;

struct ps_identity {
    /* Called by the kernel thread of a dedicated vp in its loop, before it sleeps. Handles the signals that wait for
     * the vp's thread, as far as that is possible now. Returns for how many ns the vp may sleep before it calls again;
     * 0: it may not sleep; OS_FOREVER: it may sleep until it is woken. */
    int64_t (*look)(struct vp *vp);
    /* Called by the kernel thread of a dedicated vp when the vp's thread is about to run there. If a signal was sent
     * to this thread, and no kernel thread has taken it yet, sends it to the calling kernel thread. */
    void (*take_back)(struct vp *vp);
    /* Called by vp's root when it makes a team. If the program sends signals to this root alone, starts the root's
     * dedicated kernel thread. */
    void (*root_begins)(const struct vp *vp);
    /* Called by the kernel thread of a new root, whose home is vp. Notes whether the root's priority differs from that
     * of the library's workers. */
    void (*attach)(struct vp *vp);
    /* Called by a root that has come home. Another thread may have set the priority of the root's kernel thread
     * meanwhile: looks whether it still is what was noted. */
    void (*came_home)(void);
    /* Called in a forked child, if the thread that forked was in a thread-local block. Forgets what the priority of the
     * workers was. */
    void (*reset)(void);
};
extern const struct ps_identity ps_identity __attribute__((weak, visibility("hidden")));

/* Whether the program has the room src/identity. */
#define PS_HAS_IDENTITY (&ps_identity != NULL)

#endif
