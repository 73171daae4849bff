/* Static probes (USDT) for perf, bpftrace and SystemTap: provider "psthreads". While no tool is attached, a probe is
 * one instruction that does nothing, and its arguments are values that the code has computed anyway. Builds without
 * <sys/sdt.h> have no probes. docs/seeing.md lists them. */
#ifndef PS_PROBE_H
#define PS_PROBE_H

#if defined(__linux__) && __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#define PS_PROBE1(name, a) DTRACE_PROBE1(psthreads, name, a)
#define PS_PROBE2(name, a, b) DTRACE_PROBE2(psthreads, name, a, b)
#else
#define PS_PROBE1(name, a) ((void)(a))
#define PS_PROBE2(name, a, b) ((void)(a), (void)(b))
#endif

#endif
