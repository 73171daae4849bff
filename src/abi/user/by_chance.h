/* See by_chance.c. */
#ifndef PS_ABI_USER_BY_CHANCE_H
#define PS_ABI_USER_BY_CHANCE_H

#include "compiler.h"

/* True: the library was preloaded. Written while the library is loaded. */
extern bool user_preloaded;
bool user_by_chance_slow(const void *caller, const char *name);

/* caller: an address in the object that calls the routine `name`. */
static inline bool user_by_chance(const void *caller, const char *name)
{
    return PS_UNLIKELY(user_preloaded) && user_by_chance_slow(caller, name);
}

/* int name(void), for both languages: `otherwise` for an object that has it by chance. */
#define USER_GET_BY_CHANCE(name, value, otherwise)                                                                  \
    PS_EXPORT int name(void) { return user_by_chance(__builtin_return_address(0), #name) ? (otherwise) : (value); } \
    PS_EXPORT int32_t name##_(void)                                                                                 \
    {                                                                                                               \
        return user_by_chance(__builtin_return_address(0), #name "_") ? (otherwise) : (value);                      \
    }

#endif
