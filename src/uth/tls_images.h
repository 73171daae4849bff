/* Initial values of TLS segments, copied when the library was loaded: private to uth/tls*.c.
 *
 * Does: keep the images of the segments that lie at the same place of every thread's block, and write them into a block
 * again. Does not: know what else belongs to a block (tls.c).
 *
 * The copies are made once, by a constructor of the library. All objects that are loaded then are relocated, so their
 * images do not change any more. The dynamic linker's lock is held, so no object comes or goes meanwhile. When another
 * kernel thread loads an object later, its image is complete at a time that cannot be told. Where such an object has a
 * segment in the static part, the dynamic linker initialises blocks, as it does for kernel threads.
 * Nothing here changes after that but `doubted`, which is set once. */
#ifndef PS_UTH_TLS_IMAGES_H
#define PS_UTH_TLS_IMAGES_H

#include "tls_objects.h"

/* Whether there are copies of all segments of that time. */
bool uth_tls_images_usable(void);
/* Compares the copies with today's segments, `now`. If a different segment is where one of the copied ones was, the
 * copies cannot be used. */
void uth_tls_images_check(const struct uth_tls_segment *now, unsigned n);
/* Whether there is a copy for this module's segment at this place. */
bool uth_tls_images_have(size_t module, ptrdiff_t from_tp);
/* Writes initial values into all segments of the block with thread pointer tp, except the segment at tp + spared. */
void uth_tls_images_write(char *tp, ptrdiff_t spared);

#endif
