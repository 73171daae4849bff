/* GNU entry points that libgomp's offloading plug-ins call. Such a plug-in is never loaded here, since the host is the
 * only device. But a process that brings a plug-in along finds each symbol that the plug-in needs. A plug-in that calls
 * one of them assumes that it was given work, which is not so; the call ends the program with one line. Source:
 * libgomp-plugin.h of GCC 12 and its trunk. */
#include "check.h"
#include "gomp.h"

#define NEVER(name)                                                                      \
    PS_NORETURN PS_EXPORT void name(void)                                                \
    {                                                                                    \
        ps_fatal("an offloading plug-in called %s, but regions run on the host", #name); \
    }
NEVER(GOMP_PLUGIN_malloc)
NEVER(GOMP_PLUGIN_malloc_cleared)
NEVER(GOMP_PLUGIN_realloc)
NEVER(GOMP_PLUGIN_debug)
NEVER(GOMP_PLUGIN_error)
NEVER(GOMP_PLUGIN_fatal)
NEVER(GOMP_PLUGIN_acc_thread)
NEVER(GOMP_PLUGIN_acc_default_dim)
NEVER(GOMP_PLUGIN_async_unmap_vars)
NEVER(GOMP_PLUGIN_goacc_thread)
NEVER(GOMP_PLUGIN_goacc_profiling_dispatch)
NEVER(GOMP_PLUGIN_target_task_completion)
NEVER(GOMP_PLUGIN_target_rev)
