/* What all GNU entry points include. They translate arguments and call ort; they decide nothing and call no other entry point.
 *
 * The prototypes are GCC's (builtins to the compiler): no header of ours declares them. */
#ifndef PS_ABI_GOMP_H
#define PS_ABI_GOMP_H

#include "ort.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#endif
