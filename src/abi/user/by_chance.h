/* See by_chance.c. */
#ifndef PS_ABI_USER_BY_CHANCE_H
#define PS_ABI_USER_BY_CHANCE_H

#include "compiler.h"

/* True: LD_PRELOAD names this library, as psrun may do. Written once, while the library is loaded. */
extern bool user_preloaded;
/* Does the work of user_by_chance if LD_PRELOAD names this library. */
bool user_by_chance_slow(const void *caller, const char *name);

/* Returns whether the object that contains the address `caller` calls the routine `name` by chance (by_chance.c). */
static inline bool user_by_chance(const void *caller, const char *name)
{
    return PS_UNLIKELY(user_preloaded) && user_by_chance_slow(caller, name);
}

/* Defines int name(void) for both languages. An object that calls it by chance gets `otherwise`. */
#define USER_GET_BY_CHANCE(name, value, otherwise)                                                                  \
    PS_EXPORT int name(void) { return user_by_chance(__builtin_return_address(0), #name) ? (otherwise) : (value); } \
    PS_EXPORT int32_t name##_(void)                                                                                 \
    {                                                                                                               \
        return user_by_chance(__builtin_return_address(0), #name "_") ? (otherwise) : (value);                      \
    }

#endif
