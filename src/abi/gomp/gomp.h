/* What all GNU entry points include. They translate arguments and call ort; they decide nothing and call no other entry point.
 *
 * The prototypes are GCC's (builtins to the compiler): no header of ours declares them. */
#ifndef PS_ABI_GOMP_H
#define PS_ABI_GOMP_H

#include "ort.h"

/* With a schedule's kind: the loop may be nonmonotonic. (GOMP_loop_start never is: a thread's chunks must grow where what it got is conditional lastprivate.) */
#define NONMONOTONIC 0x40000000u

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#endif
