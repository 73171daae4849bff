/* What the omp_ routines share. The routines read and write the core's state.
 *
 * Each routine has the C name and, for Fortran, the name with an underscore. Fortran's arguments come by reference. Its
 * integers have four bytes; the names with `_8_` are for programs whose default integer has eight. The prototypes are
 * those of libgomp's omp.h and omp_lib; no header of ours declares them. Callers: any thread of the program. If it is
 * no OpenMP thread yet, a routine that needs the core's state makes it a root. OpenMP 5.2 chapter 18. */
#ifndef PS_ABI_USER_H
#define PS_ABI_USER_H

#include <limits.h>

#include "ort.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* Converts an integer of eight bytes to the nearest int. */
static inline int user_int(int64_t v) { return v > INT_MAX ? INT_MAX : v < INT_MIN ? INT_MIN : (int)v; }

/* Defines int name(void) for both languages. */
#define USER_GET(name, value)                    \
    PS_EXPORT int name(void) { return (value); } \
    PS_EXPORT int32_t name##_(void) { return (value); }

/* Defines int name(int of) for both languages. */
#define USER_GET_OF(name, function)                                        \
    PS_EXPORT int name(int of) { return function(of); }                    \
    PS_EXPORT int32_t name##_(const int32_t *of) { return function(*of); } \
    PS_EXPORT int32_t name##_8_(const int64_t *of) { return function(user_int(*of)); }

/* Defines void name(int value) for both languages. */
#define USER_SET(name, function)                                       \
    PS_EXPORT void name(int value) { function(value); }                \
    PS_EXPORT void name##_(const int32_t *value) { function(*value); } \
    PS_EXPORT void name##_8_(const int64_t *value) { function(user_int(*value)); }

#endif
