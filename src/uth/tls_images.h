/* The initial values (images) of TLS segments, copied when the library was loaded. Private to uth/tls*.c.
 *
 * Does: keep the images of the segments that are at the same offset from every thread pointer, and write them into a
 * block again. Does not: know what else belongs to a block (tls.c).
 *
 * The copies are made once, by a constructor of the library. All objects that are loaded at that time are relocated, so
 * their images do not change any more. The dynamic linker's lock is held, so no object comes or goes meanwhile. When
 * another kernel thread loads an object later, it is not known when its image is complete. So where such an object has
 * a segment in the static part, the dynamic linker initialises blocks, as it does for kernel threads.
 * Later only `doubted` changes: it is set once. */
#ifndef PS_UTH_TLS_IMAGES_H
#define PS_UTH_TLS_IMAGES_H

#include "tls_objects.h"

/* Returns true if the copies may be used: all segments were copied when the library was loaded, and
 * uth_tls_images_check has found no change. */
bool uth_tls_images_usable(void);
/* Compares the copies with the present segments, now[n]. If a copied segment's module number now belongs to a segment
 * with another place, size or image, the copies are not used from then on. */
void uth_tls_images_check(const struct uth_tls_segment *now, unsigned n);
/* Returns true if there is a copy of the segment of this module, and the segment is at from_tp. */
bool uth_tls_images_have(size_t module, ptrdiff_t from_tp);
/* Writes the copied initial values into the block with thread pointer tp, except into the segment at tp + spared. */
void uth_tls_images_write(char *tp, ptrdiff_t spared);

#endif
