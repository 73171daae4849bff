/* What the room above asks to be told (src/identity): signals to one thread, and openers of another priority.
 *
 * One constant table, which that room defines. Where the room is not linked in (the static library, bare metal) there
 * is none, and nothing is called. */
#ifndef PS_IDENTITY_H
#define PS_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

struct vp;

struct ps_identity {
    /* A dedicated vp, in its loop: deferred signals are handled where that can be. How long it may sleep, in ns; 0: it
     * is to look again. */
    int64_t (*look)(struct vp *vp);
    /* A dedicated vp's thread is about to run on it: a signal that no other kernel thread has taken is handled
     * there. */
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
