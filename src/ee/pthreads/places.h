/* Binding of this folder's kernel threads: a kernel thread is bound while it runs as a bound member, and has its own
 * mask otherwise. */
#ifndef PS_EE_PLACES_H
#define PS_EE_PLACES_H

#include "compiler.h"

/* The place to which the calling kernel thread is bound, from 1; 0: not bound. */
extern __thread uint32_t places_here __attribute__((tls_model("initial-exec"), visibility("hidden")));
/* Does what places_follow does, for a place other than places_here. */
void places_move(uint32_t place);
/* Binds the calling kernel thread to `place`; 0: gives it its own mask back. */
static inline void places_follow(uint32_t place)
{
    if (PS_UNLIKELY(place != places_here))
        places_move(place);
}
/* Called by a kernel thread that ends: frees its saved mask. */
void places_forget(void);

#endif
