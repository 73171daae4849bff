/* What src/identity, the room above, asks to be told of threads: for signals to one thread, and for regions that a root
 * with a priority of its own opens.
 *
 * src/identity defines this one constant table. A build without that room (the static library, bare metal) has no
 * table, and calls nothing. */
#ifndef PS_IDENTITY_H
#define PS_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

struct vp;

struct ps_identity {
    /* Handles deferred signals where possible: a dedicated vp calls it in its loop. Returns for how many ns the vp may
     * sleep; 0: it has to look again. */
    int64_t (*look)(struct vp *vp);
    /* The thread of a dedicated vp is about to run there: handles a signal that no other kernel thread has taken. */
    void (*take_back)(struct vp *vp);
    /* vp's root is about to open its first region. */
    void (*root_begins)(const struct vp *vp);
    /* A root attaches. Caller: its kernel thread. */
    void (*attach)(struct vp *vp);
    /* A root's scheduling may have been set at home while it was away. */
    void (*came_home)(void);
    /* In a forked child. */
    void (*reset)(void);
};
extern const struct ps_identity ps_identity __attribute__((weak, visibility("hidden")));

/* Whether that room is there. */
#define PS_HAS_IDENTITY (&ps_identity != NULL)

#endif
