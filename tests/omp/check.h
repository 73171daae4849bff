/* For programs that run under any runtime, also without a system. */
#ifndef OMP_CHECK_H
#define OMP_CHECK_H

#include <omp.h>

#define CHECK_END() exit(1)
#include "../check.h"

/* A pragma with a macro's arguments in it. */
#define PRAGMA(...) PRAGMA_TEXT(__VA_ARGS__)
#define PRAGMA_TEXT(...) _Pragma(#__VA_ARGS__)

#endif
