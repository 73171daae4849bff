/* What a debugger finds in the process (OpenMP 5.1 section 5.6): where libompd.so is, and functions for its break
 * points.
 *
 * libompd.so is taken to be in the folder from which this library was loaded; if the library's file is a link, in the
 * folder to which the link leads. The break-point functions are empty. ompd_dll_locations_valid is called when this
 * library is loaded. The others are called only with OMP_DEBUG=enabled, at the places where a tool would be told
 * something (ort_stop_here). Bad input: an invalid value of OMP_DEBUG is reported by one line, and counts as
 * disabled. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "check.h"
#include "ompd.h"
#include "os.h"
#include "tool.h"

/* One variable with two names. The code here uses the static name, because another runtime, loaded before, may define
 * the exported one too. */
static const char **own_locations;
extern const char **ompd_dll_locations __attribute__((alias("own_locations"))) PS_EXPORT;

/* Defines an empty function. The line number makes each function different, so that the compiler does not merge
 * them. */
#define BREAK_POINT(name) \
    PS_EXPORT PS_NOINLINE void name(void) { __asm__ volatile("" ::"i"(__LINE__)); }
BREAK_POINT(ompd_dll_locations_valid)
BREAK_POINT(ompd_bp_thread_begin)
BREAK_POINT(ompd_bp_thread_end)
BREAK_POINT(ompd_bp_parallel_begin)
BREAK_POINT(ompd_bp_parallel_end)
BREAK_POINT(ompd_bp_task_begin)
BREAK_POINT(ompd_bp_task_end)
/* These two are never called: there are no devices. */
BREAK_POINT(ompd_bp_device_begin)
BREAK_POINT(ompd_bp_device_end)

static void stop_debugger(enum ort_stop at)
{
    static void (*const break_points[])(void) = {
        [ORT_STOP_THREAD_BEGIN] = ompd_bp_thread_begin,     [ORT_STOP_THREAD_END] = ompd_bp_thread_end,
        [ORT_STOP_PARALLEL_BEGIN] = ompd_bp_parallel_begin, [ORT_STOP_PARALLEL_END] = ompd_bp_parallel_end,
        [ORT_STOP_TASK_BEGIN] = ompd_bp_task_begin,         [ORT_STOP_TASK_END] = ompd_bp_task_end,
    };
    break_points[at]();
}

/* Returns the length of the path up to and including its last slash. */
static int folder_bytes(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (int)(slash + 1 - path) : 0;
}

static void locate_library(void)
{
    static char path[PATH_MAX];
    static const char *locations[] = {path, NULL};
    char link[PATH_MAX];
    Dl_info here;
    if (dladdr(&own_locations, &here) == 0)
        return;
    ssize_t n = readlink(here.dli_fname, link, sizeof link - 1);
    link[n > 0 ? n : 0] = '\0';
    int folder = link[0] == '/' ? 0 : folder_bytes(here.dli_fname);
    if (snprintf(path, sizeof path, "%.*s%.*slibompd.so", folder, here.dli_fname, folder_bytes(link), link) >=
        (int)sizeof path)
        return;
    own_locations = locations;
    ompd_dll_locations_valid();
}

__attribute__((constructor)) static void tell_debuggers(void)
{
    const char *debug = os_env("OMP_DEBUG");
    if (debug != NULL && strcasecmp(debug, "enabled") == 0)
        ort_debugger_stop = stop_debugger;
    else if (debug != NULL && strcasecmp(debug, "disabled") != 0)
        ps_warn("OMP_DEBUG=\"%s\" is neither enabled nor disabled; using disabled instead", debug);
    locate_library();
}
