/* Which libraries are there. See pools.h. */
#include "pools.h"

_Atomic(struct pools_library *) pools_libraries;
const struct ort_layer *pools_core;
