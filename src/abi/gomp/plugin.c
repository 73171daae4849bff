/* GNU entry points that libgomp's offloading plug-ins call. The runtime never loads such a plug-in, since the host is
 * the only device. The program may load one, and then the plug-in must find these symbols. A plug-in calls them only
 * for work that a runtime gave to it, and this runtime gives none. So a call ends the program with one line. Source:
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
