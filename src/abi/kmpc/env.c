/* The KMP_ variables: libomp's own, in addition to OpenMP's, which the core reads.
 *
 * Honoured: KMP_STACKSIZE, KMP_BLOCKTIME, KMP_LIBRARY, KMP_WARNINGS, KMP_SETTINGS, KMP_DETERMINISTIC_REDUCTION,
 * KMP_ENABLE_TASK_THROTTLING, KMP_TEAMS_THREAD_LIMIT, KMP_PLACE_THREADS, KMP_DISP_NUM_BUFFERS (only checked);
 * KMP_AFFINITY and KMP_HW_SUBSET: affinity_env.c, affinity.c. As with libomp, KMP_STACKSIZE and KMP_LIBRARY have
 * priority over OMP_STACKSIZE and OMP_WAIT_POLICY. KMP_TEAMS_THREAD_LIMIT is for all teams of a league together: a team
 * has its share, or its own limit if that is lower. Ignored: KMP_ALL_THREADS, KMP_DEVICE_THREAD_LIMIT,
 * KMP_FORCE_REDUCTION, KMP_DUPLICATE_LIB_OK, KMP_INIT_AT_FORK, KMP_TEAMS_PROC_BIND, KMP_HOT_TEAMS_MAX_LEVEL,
 * KMP_HOT_TEAMS_MODE, KMP_TASK_STEALING_CONSTRAINT, KMP_DYNAMIC_MODE, KMP_HIDDEN_HELPER_AFFINITY,
 * LIBOMP_USE_HIDDEN_HELPER_TASK, LIBOMP_NUM_HIDDEN_HELPER_THREADS, KMP_USER_LEVEL_MWAIT, KMP_MWAIT_HINTS, KMP_TPAUSE.
 *
 * The KMP_ variables count if a part of the process was built for libomp. They are read at the start if an object that
 * is loaded together with this library needs a library with one of libomp's names. Otherwise they are read at the first
 * call of a libomp entry point (kmpc_env_read_late). The core's constructor reads them after OpenMP's own variables
 * (ort_env_hook), so KMP_ values replace OpenMP's. OpenMP's own variables have the defaults and meanings of libgomp or
 * of libomp. The first loaded object that needs a runtime decides which; the program comes before its libraries. If
 * there is none, the name under which this library was loaded decides. In libomp's case warnings begin as libomp's do
 * ("OMP: Warning #N: ", which users' scripts look for), and OMP_DISPLAY_ENV has libomp's form. */
#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "display.h"
#include "env.h"
#include "kmpc.h"
#include "kmpc_env.h"
#include "os.h"
#include "spelling.h"

#define MOST_BUFFERS 4096
_Static_assert(ORT_WS_RING == 8, "the lines below say so");
#define NS_PER_SPIN 15 /* assumed length of an iteration of a waiting loop, as in ee */

#define UNSET                                                     \
    {                                                             \
        .library = KMPC_THROUGHPUT, .blocktime = {.amount = 200 } \
    }
struct kmpc_settings kmpc_settings = UNSET;

static void complain_of_variable(const char *name, const char *value, const char *what)
{
    ps_warn("%s=\"%s\" %s instead", name, value, what);
}

/* Parses "infinite", or a number of ms (default) or us, into *t; text after a unit is ignored. Returns true if the
 * whole text is valid. If not, *t is what libomp makes of the text: the number at its beginning, infinite if that is
 * too large for libomp, or the default if there is no number. */
static bool parse_blocktime(const char *text, struct kmpc_time *t)
{
    const char *p = spelling_skip(text);
    unsigned long v = 0;
    bool given = spelling_digits(&p, INT_MAX, &v);
    p = spelling_skip(p);
    bool us = spelling_begins(&p, "us"), known = us || *p == '\0' || spelling_begins(&p, "ms");
    bool infinite = !known && (spelling_begins(&p, "infinite") || spelling_begins(&p, "infinity"));
    bool large = given && !us && v > INT_MAX / 1000; /* too large for libomp, which counts in microseconds */
    if (infinite || large)
        *t = (struct kmpc_time){.amount = KMPC_BLOCKTIME_INFINITE};
    else if (given)
        *t = (struct kmpc_time){.amount = (int32_t)v, .us = us};
    else
        *t = (struct kmpc_time){.amount = us ? 200000 : 200, .us = us};
    return infinite || (given && known && !large);
}

static void apply_blocktime(struct kmpc_time t)
{
    if (os_env("OMP_WAIT_POLICY") != NULL || os_env("GOMP_SPINCOUNT") != NULL)
        return;
    ort_settings.spin_count = t.amount == KMPC_BLOCKTIME_INFINITE
                                  ? UINT64_MAX - 1
                                  : (uint64_t)t.amount * (t.us ? 1000 : UINT64_C(1000000)) / NS_PER_SPIN;
}

static void read_blocktime(void)
{
    const char *text = os_env("KMP_BLOCKTIME");
    if (text == NULL)
        return;
    bool good = parse_blocktime(text, &kmpc_settings.blocktime);
    if (!good)
        complain_of_variable("KMP_BLOCKTIME", text,
                             "is not a time in us or ms, nor infinite; using what can be read of it, or the default");
    else
        apply_blocktime(kmpc_settings.blocktime);
}

/* Reads KMP_LIBRARY. serial allows one thread. The other kinds decide how long threads spin if KMP_BLOCKTIME is not
 * set. */
static void read_library(void)
{
    const char *text = os_env("KMP_LIBRARY"), *policy = os_env("OMP_WAIT_POLICY");
    int32_t *wait = &kmpc_settings.blocktime.amount;
    /* Without KMP_LIBRARY nothing is set but the answers of kmp_get_library and kmp_get_blocktime, because the core
     * itself has read OMP_WAIT_POLICY. */
    if (text == NULL) {
        if (policy != NULL && spelling_is_word("active", 1, policy)) {
            kmpc_settings.library = KMPC_TURNAROUND;
            *wait = KMPC_BLOCKTIME_INFINITE;
        } else if (policy != NULL && spelling_is_word("passive", 1, policy))
            *wait = 0;
        return;
    }
    if (spelling_is_word("serial", 1, text)) {
        kmpc_settings.library = KMPC_SERIAL;
        ort_settings.initial.thread_limit = 1;
    } else if (spelling_is_word("turnaround", 2, text) || spelling_is_word("dedicated", 1, text)) {
        kmpc_settings.library = KMPC_TURNAROUND;
        ort_settings.wait_policy = ORT_POLICY_ACTIVE;
    } else if (spelling_is_word("throughput", 2, text) || spelling_is_word("multiuser", 1, text)) {
        *wait = 0;
        if (policy != NULL)
            ort_settings.wait_policy = ORT_POLICY_UNSET;
    } else {
        complain_of_variable("KMP_LIBRARY", text, "is not serial, turnaround or throughput; using throughput");
        return;
    }
    if (policy != NULL)
        ps_warn("OMP_WAIT_POLICY=\"%s\" does not count beside KMP_LIBRARY; using \"%s\" instead", policy, text);
}

/* KMP_DISP_NUM_BUFFERS is how many work-shares a team's members may be apart. Here the ring of work-shares has a fixed
 * size. So the variable is only checked: a number that libomp would refuse is reported. */
static void read_buffers(void)
{
    const char *text = os_env("KMP_DISP_NUM_BUFFERS");
    long n = ORT_WS_RING;
    if (text != NULL && !spelling_number(text, 1, MOST_BUFFERS, &n))
        complain_of_variable("KMP_DISP_NUM_BUFFERS", text,
                             n == MOST_BUFFERS ? "is too large; using 8" : "is too small, or no number; using 8");
}

/* As in libomp, an unknown value is taken as "default" without a warning. */
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
        return parse_blocktime(value, &kmpc_settings.blocktime);
    if (strcmp(name, "KMP_WARNINGS") != 0)
        return false;
    ps_warn_quiet = spelling_says_false(value);
    return true;
}

static void read_all(void)
{
    bool throttle = true;
    long teams = INT_MAX;
    ort_env_stack_size("KMP_STACKSIZE", 1, "the default size");
    if (os_env("KMP_STACKSIZE") != NULL && os_env("OMP_STACKSIZE") != NULL)
        ps_warn("OMP_STACKSIZE=\"%s\" does not count beside KMP_STACKSIZE; using %zu bytes instead",
                os_env("OMP_STACKSIZE"), kmpc_stack_bytes());
    read_library();
    read_blocktime();
    read_buffers();
    ort_env_bool("KMP_DETERMINISTIC_REDUCTION", &kmpc_settings.deterministic, "false");
    if (ort_env_number("KMP_TEAMS_THREAD_LIMIT", 1, INT_MAX, &teams) && teams < INT_MAX)
        kmpc_settings.teams_threads = (unsigned)teams;
    ort_env_bool("KMP_ENABLE_TASK_THROTTLING", &throttle, "true");
    ort_settings.unbounded_tasks = !throttle;
    kmpc_affinity_env_read();
    ort_env_bool("KMP_SETTINGS", &kmpc_settings.show, "false");
}

static void read_warnings(void)
{
    bool warnings = true;
    ort_env_bool("KMP_WARNINGS", &warnings, "true");
    ps_warn_quiet = !warnings;
}

/* Returns whether a variable of OpenMP, libomp or libgomp has changed since the last call. Compares the sum of the
 * variables' hashes (FNV-1a), which does not depend on their order. */
static bool variables_changed(void)
{
    static uint64_t before;
    uint64_t sum = 0;
    for (char *const *e = environ; e != NULL && *e != NULL; e++)
        if (strncmp(*e, "OMP_", 4) == 0 || strncmp(*e, "KMP_", 4) == 0 || strncmp(*e, "GOMP_", 5) == 0) {
            uint64_t hash = UINT64_C(14695981039346656037);
            for (const unsigned char *p = (const unsigned char *)*e; *p != '\0'; p++)
                hash = (hash ^ *p) * UINT64_C(1099511628211);
            sum += hash;
        }
    bool so = sum != before;
    before = sum;
    return so;
}

static void forget_variables(void)
{
    kmpc_settings = (struct kmpc_settings)UNSET;
    ort_display_env_wish = ORT_DISPLAY_NOTHING;
    kmpc_affinity_forget();
    read_warnings();
}

/* Called by the first thread that calls a libomp entry point. Does nothing if the variables were read at the start. */
void kmpc_env_read_late(void)
{
    if (ort_env_hook != NULL)
        return;
    read_warnings();
    read_all();
}

/* --- the runtime that the process was built for --- */

static bool is_libomps(const char *file)
{
    static const char *const names[] = {"libomp.", "libomp-", "libomp5", "libiomp5"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(file, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

enum owner { NEITHER, LIBGOMP, LIBOMP };
struct owners {
    enum owner first; /* the runtime of the first object that needs one */
    bool some_libomps;
};

static void look_at_loaded_object(const char *file, void *arg)
{
    struct owners *found = arg;
    enum owner of = is_libomps(file) ? LIBOMP : strncmp(file, "libgomp", 7) == 0 ? LIBGOMP : NEITHER;
    if (found->first == NEITHER)
        found->first = of;
    found->some_libomps |= of == LIBOMP;
}

/* Defined in libomp.a (abi/static): the program is linked to libomp. */
extern const bool kmpc_linked_in __attribute__((weak, visibility("hidden")));

/* Runs before the constructors of this library that have no priority number. */
__attribute__((constructor(101))) static void see_first(void)
{
    Dl_info of;
    struct owners found = {.first = NEITHER};
    os_needed_visit(look_at_loaded_object, &found);
    if (found.first == NEITHER && dladdr(&kmpc_settings, &of) && of.dli_fname != NULL) {
        const char *slash = strrchr(of.dli_fname, '/');
        found.some_libomps = is_libomps(slash != NULL ? slash + 1 : of.dli_fname);
        found.first = found.some_libomps ? LIBOMP : LIBGOMP;
    }
    if (&kmpc_linked_in != NULL)
        found = (struct owners){LIBOMP, true};
    if (found.some_libomps) {
        read_warnings();
        ort_env_hook = read_all;
        kmpc_affinity_restricts();
    }
    if (found.first != LIBOMP)
        return;
    ort_env_as_libomp = true;
    ort_env_changed = variables_changed;
    ort_env_forget = forget_variables;
    ort_settings.supported_levels = INT_MAX;
    ort_display_env_otherwise = kmpc_display_env;
    ps_warn_mark = "OMP: Warning #1: ";
}
