/* The KMP_ variables: libomp's own, beside OpenMP's (which the core reads).
 *
 * Honoured: KMP_STACKSIZE, KMP_BLOCKTIME, KMP_LIBRARY, KMP_WARNINGS, KMP_SETTINGS, KMP_DETERMINISTIC_REDUCTION, KMP_FORCE_REDUCTION,
 * KMP_ENABLE_TASK_THROTTLING, KMP_DEVICE_THREAD_LIMIT and KMP_ALL_THREADS, KMP_TEAMS_THREAD_LIMIT. OpenMP's own variable is stronger where both say something.
 * KMP_DISP_NUM_BUFFERS is looked at, and changes nothing.
 * Of no meaning here, in silence: KMP_DUPLICATE_LIB_OK, KMP_INIT_AT_FORK, KMP_TEAMS_PROC_BIND, KMP_HOT_TEAMS_MAX_LEVEL and _MODE (teams are kept at every
 * level), KMP_TASK_STEALING_CONSTRAINT, KMP_DYNAMIC_MODE; LIBOMP_USE_HIDDEN_HELPER_TASK, LIBOMP_NUM_HIDDEN_HELPER_THREADS and KMP_HIDDEN_HELPER_AFFINITY (a
 * target task is run by any thread of its team; libomp keeps kernel threads for them, but a program may not count on that).
 * KMP_AFFINITY and KMP_HW_SUBSET: affinity.c.
 * The order in which this and the core's own constructor run does not matter: each sets only what its variables say, and what is
 * set is used when the first OpenMP thread appears. Before both it is found out whether anything is warned of (KMP_WARNINGS holds for the whole runtime), and by
 * which name the library was loaded: in libomp's place, warnings begin as libomp's do ("OMP: Warning #N: "; people's scripts look for that), OMP_DISPLAY_ENV
 * has libomp's form, and unreadable places are what libomp takes them for. */
#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "display.h"
#include "env.h"
#include "kmpc.h"
#include "kmpc_env.h"
#include "os.h"

#define MOST_BUFFERS 4096
_Static_assert(ORT_WS_RING == 8, "the lines below say so");
#define NS_PER_SPIN 15 /* what ee counts an iteration of a waiting loop as */

struct kmpc_settings kmpc_settings = {.library = KMPC_THROUGHPUT, .blocktime_ms = 200};

static void complain(const char *name, const char *value, const char *what)
{
    ps_warn("%s=\"%s\" %s instead", name, value, what);
}

/* "infinite", or a number of ms (default), us or s. */
static bool parse_blocktime(const char *text, int32_t *ms)
{
    while (isspace((unsigned char)*text))
        text++;
    if (strcasecmp(text, "infinite") == 0 || strcasecmp(text, "infinity") == 0) {
        *ms = KMPC_BLOCKTIME_INFINITE;
        return true;
    }
    char *end;
    long v = strtol(text, &end, 10);
    if (end == text || v < 0)
        return false;
    while (isspace((unsigned char)*end))
        end++;
    if (strcasecmp(end, "us") == 0)
        v = (v + 999) / 1000;
    else if (strcasecmp(end, "s") == 0)
        v = v > INT32_MAX / 1000 ? INT32_MAX : v * 1000;
    else if (*end != '\0' && strcasecmp(end, "ms") != 0)
        return false;
    *ms = v >= INT32_MAX ? KMPC_BLOCKTIME_INFINITE : (int32_t)v;
    return true;
}

static void apply_blocktime(int32_t ms)
{
    if (os_env("OMP_WAIT_POLICY") != NULL || os_env("GOMP_SPINCOUNT") != NULL)
        return;
    ort_settings.spin_count =
        ms == KMPC_BLOCKTIME_INFINITE ? UINT64_MAX - 1 : (uint64_t)ms * UINT64_C(1000000) / NS_PER_SPIN;
}

static void read_blocktime(void)
{
    const char *text = os_env("KMP_BLOCKTIME"), *policy = os_env("OMP_WAIT_POLICY");
    if (text == NULL && policy != NULL) /* what kmp_get_blocktime answers */
        kmpc_settings.blocktime_ms = strcasecmp(policy, "active") == 0    ? KMPC_BLOCKTIME_INFINITE
                                     : strcasecmp(policy, "passive") == 0 ? 0
                                                                          : kmpc_settings.blocktime_ms;
    if (text == NULL)
        return;
    if (parse_blocktime(text, &kmpc_settings.blocktime_ms))
        apply_blocktime(kmpc_settings.blocktime_ms);
    else
        complain("KMP_BLOCKTIME", text, "is not a time in us, ms or s, nor infinite; using the default");
}

static void read_library(void)
{
    const char *text = os_env("KMP_LIBRARY"), *policy = os_env("OMP_WAIT_POLICY");
    if (text == NULL) {
        if (policy != NULL && strcasecmp(policy, "active") == 0)
            kmpc_settings.library = KMPC_TURNAROUND; /* what kmp_get_library answers */
        return;
    }
    if (strcasecmp(text, "serial") == 0) {
        kmpc_settings.library = KMPC_SERIAL;
        ort_settings.initial.thread_limit = 1;
    } else if (strcasecmp(text, "turnaround") == 0) {
        kmpc_settings.library = KMPC_TURNAROUND;
        if (os_env("OMP_WAIT_POLICY") == NULL)
            ort_settings.wait_policy = ORT_POLICY_ACTIVE;
    } else if (strcasecmp(text, "throughput") != 0) {
        complain("KMP_LIBRARY", text, "is not serial, turnaround or throughput; using throughput");
    }
}

static void read_reduction(void)
{
    os_env_bool("KMP_DETERMINISTIC_REDUCTION", &kmpc_settings.deterministic, "false");
    const char *text = os_env("KMP_FORCE_REDUCTION");
    if (kmpc_settings.deterministic)
        kmpc_settings.reduce = KMPC_REDUCE_IN_ORDER;
    if (text == NULL)
        return;
    enum kmpc_reduce asked = strcasecmp(text, "critical") == 0 ? KMPC_REDUCE_LOCK
                             : strcasecmp(text, "tree") == 0   ? KMPC_REDUCE_IN_ORDER
                             : strcasecmp(text, "atomic") == 0 ? KMPC_REDUCE_ATOMIC
                                                               : KMPC_REDUCE_ANY;
    if (asked == KMPC_REDUCE_ANY)
        complain("KMP_FORCE_REDUCTION", text, "is not critical, atomic or tree; using atomic");
    else if (kmpc_settings.deterministic && asked != KMPC_REDUCE_IN_ORDER)
        complain("KMP_FORCE_REDUCTION", text,
                 "has no fixed order, which KMP_DETERMINISTIC_REDUCTION asks for; using tree");
    else
        kmpc_settings.reduce = asked;
}

/* How many loops the threads may be apart: the ring has its size, but what libomp's users are told of a number is said. */
static void read_buffers(void)
{
    const char *text = os_env("KMP_DISP_NUM_BUFFERS");
    if (text == NULL)
        return;
    char *end;
    long n = strtol(text, &end, 10);
    if (end == text || *end != '\0')
        complain("KMP_DISP_NUM_BUFFERS", text, "is not a number; using 8");
    else if (n < 1)
        complain("KMP_DISP_NUM_BUFFERS", text, "is too small; using 8");
    else if (n > MOST_BUFFERS)
        complain("KMP_DISP_NUM_BUFFERS", text, "is too large; using 8");
}

static void read_limits(void)
{
    unsigned long limit = 0;
    if (os_env("OMP_THREAD_LIMIT") == NULL &&
        (os_env_unsigned("KMP_DEVICE_THREAD_LIMIT", 1, INT_MAX, &limit, "no limit") ||
         os_env_unsigned("KMP_ALL_THREADS", 1, INT_MAX, &limit, "no limit")))
        ort_settings.initial.thread_limit = (unsigned)limit;
    if (os_env("OMP_TEAMS_THREAD_LIMIT") == NULL &&
        os_env_unsigned("KMP_TEAMS_THREAD_LIMIT", 1, INT_MAX, &limit, "no limit"))
        ort_settings.teams_thread_limit = (unsigned)limit;
}

/* libomp takes what it does not know as default, in silence. */
static bool set_offload(const char *value)
{
    ort_settings.offload = strcasecmp(value, "mandatory") == 0  ? ORT_OFFLOAD_MANDATORY
                           : strcasecmp(value, "disabled") == 0 ? ORT_OFFLOAD_DISABLED
                                                                : ORT_OFFLOAD_DEFAULT;
    return true;
}

bool kmpc_set_default(const char *name, const char *value)
{
    if (strcmp(name, "OMP_TARGET_OFFLOAD") == 0)
        return set_offload(value);
    if (strcmp(name, "KMP_BLOCKTIME") == 0)
        return parse_blocktime(value, &kmpc_settings.blocktime_ms);
    if (strcmp(name, "KMP_WARNINGS") != 0)
        return false;
    ps_warn_quiet = strcasecmp(value, "off") == 0 || strcasecmp(value, "false") == 0 || strcmp(value, "0") == 0;
    return true;
}

/* Before the other constructors of this library, which have no number. */
__attribute__((constructor(101))) static void see_first(void)
{
    Dl_info of;
    bool warnings = true;
    os_env_bool("KMP_WARNINGS", &warnings, "true");
    ps_warn_quiet = !warnings;
    if (!dladdr(&kmpc_settings, &of) || of.dli_fname == NULL)
        return;
    const char *slash = strrchr(of.dli_fname, '/'), *name = slash != NULL ? slash + 1 : of.dli_fname;
    if (strncmp(name, "libomp.", 7) != 0 && strncmp(name, "libiomp5.", 9) != 0)
        return;
    ort_env_as_libomp = true;
    ort_display_env_otherwise = kmpc_display_env;
    ps_warn_mark = "OMP: Warning #1: ";
}

__attribute__((constructor)) static void load(void)
{
    bool throttle = true;
    if (os_env("OMP_STACKSIZE") == NULL)
        os_env_size("KMP_STACKSIZE", 1, &ort_settings.stack_bytes, "the default size");
    read_library();
    read_blocktime();
    read_reduction();
    read_buffers();
    read_limits();
    os_env_bool("KMP_ENABLE_TASK_THROTTLING", &throttle, "true");
    ort_settings.unbounded_tasks = !throttle;
    kmpc_affinity_env_read();
    os_env_bool("KMP_SETTINGS", &kmpc_settings.show, "false");
}
