/* See race.h. A constructor looks for the sanitizer when the runtime is loaded. Until then the functions of race.h make
 * no calls. */
#include "race.h"

#if !PS_TSAN
unsigned char ps_race_traced;

__attribute__((constructor)) static void look_for_tsan(void)
{
    ps_race_traced = __tsan_acquire != NULL && __tsan_release != NULL;
}
#endif
