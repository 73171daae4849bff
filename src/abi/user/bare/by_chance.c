/* Bare metal loads no libraries, so no object calls a routine by chance (../by_chance.c). */
#include "by_chance.h"

bool user_preloaded;
bool user_by_chance_slow(PS_UNUSED const void *caller, PS_UNUSED const char *name) { return false; }
