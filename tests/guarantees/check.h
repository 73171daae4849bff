/* For programs that show what is guaranteed. */
#ifndef GUARANTEES_CHECK_H
#define GUARANTEES_CHECK_H

#include <omp.h>

#include "../check.h"

#endif
