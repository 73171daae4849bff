/* The tool: how it begins, what it finds in the process, how it ends. See recorder.h.
 *
 * psrun names this library in OMP_TOOL_LIBRARIES. The runtime opens it when the first OpenMP thread is made, so a
 * process without OpenMP has no recording. Without PSTHREADS_RECORDING the library declines, and the runtime asks the
 * next tool. */
#include "recorder.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>

#include "ort/core/layer.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

struct own *recorder_own;
bool recorder_has_counter, recorder_keeps_events;
const struct ps_layer *recorder_layer;
unsigned (*recorder_num_vps)(void);
int (*recorder_active_levels)(void);
const uint64_t *recorder_mpi_init_ns;

static bool has_counter(void)
{
#if defined(__x86_64__)
    enum { POWER = 0x80000007, INVARIANT = 1 << 8 };
    unsigned a, b, c, d = 0;
    return __get_cpuid(POWER, &a, &b, &c, &d) != 0 && (d & INVARIANT) != 0;
#else
    return false;
#endif
}

/* Finds the tables of the runtime that calls this tool, wherever it was loaded. */
static void find_tables(ompt_function_lookup_t lookup)
{
    Dl_info info;
    void *at;
    _Static_assert(sizeof at == sizeof lookup, "a function's address is one");
    memcpy(&at, &lookup, sizeof at);
    void *runtime = dladdr(at, &info) != 0 ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (runtime == NULL)
        return;
    const struct ps_layer *threads = dlsym(runtime, "ps_layer");
    if (threads != NULL && threads->bytes >= offsetof(struct ps_layer, watch_by) + sizeof threads->watch_by)
        recorder_layer = threads;
    const struct ort_layer *core = dlsym(runtime, "ort_layer");
    if (recorder_layer != NULL && core != NULL &&
        core->bytes >= offsetof(struct ort_layer, num_vps) + sizeof core->num_vps)
        recorder_num_vps = core->num_vps;
    if (core != NULL && core->bytes >= offsetof(struct ort_layer, bodies) + sizeof core->bodies)
        core->bodies();
    at = dlsym(runtime, "omp_get_max_active_levels");
    memcpy(&recorder_active_levels, &at, sizeof at);
    recorder_mpi_init_ns = dlsym(RTLD_DEFAULT, "psthreads_mpi_init_ns");
    dlclose(runtime);
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *unused)
{
    (void)device;
    (void)unused;
    recorder_own = file_private(sizeof *recorder_own);
    if (recorder_own == NULL || madvise(recorder_own, sizeof *recorder_own, MADV_WIPEONFORK) != 0)
        return 0;
    recorder_has_counter = has_counter();
    find_tables(lookup);
    if (!file_begin())
        return 0;
    events_set(lookup);
    if (recorder_layer != NULL)
        recorder_layer->watch_by(watched_event);
    return 1;
}

static void finalize(ompt_data_t *unused)
{
    (void)unused;
    if (recorder_layer != NULL)
        recorder_layer->watch_by(NULL);
    file_end();
}

PS_EXPORT ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime);
PS_EXPORT ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
    static ompt_start_tool_result_t tool = {.initialize = initialize, .finalize = finalize};
    (void)version;
    return file_settings(runtime) ? &tool : NULL;
}
