/* Where the kernel threads of this room run: a kernel thread is bound while it is a bound member, and has its own mask
 * else. */
#ifndef PS_EE_PLACES_H
#define PS_EE_PLACES_H

#include "compiler.h"

/* Place of the calling kernel thread, from 1; 0: not bound. */
extern __thread uint32_t places_here __attribute__((tls_model("initial-exec"), visibility("hidden")));
void places_move(uint32_t place);
/* The calling kernel thread goes to that place; 0: its own mask again. */
static inline void places_follow(uint32_t place)
{
    if (PS_UNLIKELY(place != places_here))
        places_move(place);
}
/* The calling kernel thread ends. */
void places_forget(void);

#endif
