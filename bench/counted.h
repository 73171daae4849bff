/* What callgrind collects of a program: what the calling kernel thread does between COUNTED_BEGIN and COUNTED_END, and
 * nothing else (--collect-atstart=no). Callgrind keeps for each kernel thread whether it collects, and for each signal
 * handler anew. So the start, the end, the watchdog, spare kernel threads and handlers do not count, however often the
 * machine's other work makes them run. Both are without effect elsewhere. Where Valgrind's headers are missing, nothing
 * is collected. */
#ifndef COUNTED_H
#define COUNTED_H

#if defined __has_include
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#endif
#endif

#ifdef CALLGRIND_TOGGLE_COLLECT
#define COUNTED_BEGIN CALLGRIND_TOGGLE_COLLECT
#define COUNTED_END CALLGRIND_TOGGLE_COLLECT
#else
#define COUNTED_BEGIN ((void)0)
#define COUNTED_END ((void)0)
#endif

#endif
