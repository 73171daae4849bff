/* See race.h. Set by a constructor. It runs before any other function of the runtime, because all callers are
 * initialised later. */
#include "race.h"

#if !PS_TSAN
unsigned char ps_race_traced;

__attribute__((constructor)) static void look_for_tsan(void)
{
    ps_race_traced = __tsan_acquire != NULL && __tsan_release != NULL;
}
#endif
