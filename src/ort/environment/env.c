/* Reads the environment variables of OpenMP and of libgomp when the library is loaded. libomp reads them at the first
 * OpenMP call, and its programs set some before that call. So a process that was built for libomp reads them again at
 * its first call, if they have changed (ort_env_settle).
 *
 * For each value that cannot be read one line is printed, with the variable, the value and what is used instead. The
 * other variables are still used.
 * Not here: OMP_PLACES, OMP_PROC_BIND and GOMP_CPU_AFFINITY (place.c), OMP_ALLOCATOR (allocator_env.c), OMP_DISPLAY_ENV
 * and OMP_AFFINITY_FORMAT (display.c).
 * For variables that may differ between devices, OMP_X_ALL is used if OMP_X is not set. OMP_X_DEV and OMP_X_DEV_n are
 * for devices other than the host, of which there are none.
 * The processors are not counted when the library is loaded, because that reads files of the system. If OMP_NUM_THREADS
 * gives no number, nthreads-var gets its value in ort_env_finish: when the first root is made, or when a thread has the
 * settings displayed.
 * OpenMP 5.2 chapter 21; libgomp's manual, chapter "Environment Variables". */
#include "env.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator.h"
#include "check.h"
#include "display.h"
#include "letters.h"
#include "ort.h"
#include "os.h"
#include "place.h"
#include "spelling.h"

#define SUPPORTED_LEVELS 255u             /* the most active levels in libgomp's programs */
#define SMALLEST_STACK ((size_t)16 << 10) /* the least size in libgomp and in libomp */

struct ort_settings ort_settings = {
    .initial =
        {
            .max_active_levels = 1,
            .nthreads = 1,
            .sched = ORT_SCHED_UNSET,
            .chunk = 1,
            .thread_limit = UINT_MAX,
            .default_allocator = 1,
        },
    .spin_count = UINT64_MAX,
    .supported_levels = SUPPORTED_LEVELS,
};

bool ort_env_as_libomp;
void (*ort_env_hook)(void);
void (*ort_env_forget)(void);
bool (*ort_env_changed)(void);
_Atomic bool ort_env_open;

const char *ort_env_name(const char *name, const char *for_all)
{
    return os_env(name) != NULL || os_env(for_all) == NULL ? name : for_all;
}

bool ort_env_bool(const char *name, bool *out, const char *instead)
{
    const char *text = os_env(name);
    if (text == NULL)
        return false;
    bool on = spelling_says_true(text), known = on || spelling_says_false(text);
    /* For variables OMP_..., libgomp knows only true and false. A script that sets OMP_NESTED=1 gets no nesting with
     * libgomp, and must get none with this runtime. */
    if (known && !ort_env_as_libomp && *name == 'O')
        known = strchr("tTfF", *os_skip_blanks(text)) != NULL;
    if (known)
        *out = on;
    else
        ps_warn("%s=\"%s\" is neither true nor false; using %s instead", name, text, instead);
    return known;
}

bool ort_env_number(const char *name, long min, long max, long *out)
{
    const char *text = os_env(name);
    if (text == NULL || spelling_number(text, min, max, out))
        return text != NULL;
    if (*out < min)
        ps_warn("%s=\"%s\" is not a whole number from %ld to %ld; using the default instead", name, text, min, max);
    else
        ps_warn("%s=\"%s\" is not a whole number from %ld to %ld; using %ld instead", name, text, min, max, *out);
    return true;
}

static bool nthreads_given; /* true: nthreads-var has its value, so ort_env_finish counts no processors */
/* The block that OMP_NUM_THREADS was read into. ort_env_finish writes to it. The variable also keeps the block
 * reachable for leak checkers: with one element, nthreads_list points behind the block's end. */
static unsigned *nthreads;

/* Reads OMP_NUM_THREADS. An element 0 ("all", or left out) stands for the number of processors, by which ort_env_finish
 * replaces it. In libomp's programs a number below 1 becomes 1; in libgomp's the text is then not used. */
static void read_num_threads(struct ort_icv *icv)
{
    const char *name = ORT_ENV_NAME("OMP_NUM_THREADS"), *text = os_env(name);
    if (text == NULL)
        return;
    unsigned elements = 1;
    bool changed = false;
    for (const char *p = text; *p != '\0'; p++)
        elements += *p == ',';
    unsigned *list = nthreads = malloc(elements * sizeof *nthreads);
    unsigned n = list != NULL ? spelling_counts(text, ORT_THREADS_MAX, list, &changed) : 0;
    if (n == 0 || (changed && !ort_env_as_libomp)) {
        ps_warn("%s=\"%s\" is not a list of whole numbers from 1 to %u; using one thread for each processor "
                "instead",
                name, text, ORT_THREADS_MAX);
        free(list);
        nthreads = NULL;
        return;
    }
    if (changed)
        ps_warn("%s=\"%s\" has a number below 1; using 1 instead", name, text);
    nthreads_given = list[0] != 0;
    icv->nthreads = nthreads_given ? list[0] : 1;
    icv->nthreads_list = list + 1;
    icv->nthreads_rest = n - 1;
}

static bool schedule_given;

static void read_schedule(struct ort_icv *icv)
{
    const char *name = ORT_ENV_NAME("OMP_SCHEDULE"), *text = os_env(name);
    schedule_given = text != NULL;
    if (text == NULL)
        return;
    const char *fault = NULL;
    if (!spelling_schedule(text, &icv->sched, &icv->chunk, &fault))
        ps_warn("%s=\"%s\" is not [monotonic:|nonmonotonic:]static|dynamic|guided|auto[,chunk]; using %s instead", name,
                text, ort_env_as_libomp ? "static" : "dynamic");
    else if (fault != NULL)
        ps_warn("%s=\"%s\": %s; using %d instead", name, text, fault, icv->chunk);
    /* OpenMP 5.2 section 11.5.3: a static schedule without a modifier is monotonic */
    if (icv->sched == ORT_SCHED_STATIC && strchr(text, ':') == NULL) {
        icv->sched |= ORT_SCHED_MONOTONIC;
        ort_settings.static_is_plain = true;
    }
}

/* Reads the number of levels that may be active: OMP_MAX_ACTIVE_LEVELS; if it is not set, OMP_NESTED, which means 1 or
 * the highest number. The default is 1, or the highest number if OMP_NUM_THREADS or OMP_PROC_BIND is a list. If both
 * variables are set, libomp's programs get one level unless OMP_NESTED is true. */
static void read_levels(struct ort_icv *icv)
{
    long levels = -1;
    bool nested = false;
    ort_env_number(ORT_ENV_NAME("OMP_MAX_ACTIVE_LEVELS"), 0, INT_MAX, &levels);
    if (levels >= 0 && ort_env_as_libomp && os_env("OMP_NESTED") != NULL) {
        ort_env_bool("OMP_NESTED", &nested, "false");
        levels = nested ? levels : 1;
    }
    if (levels >= 0) {
        icv->max_active_levels =
            levels > (long)ort_settings.supported_levels ? ort_settings.supported_levels : (unsigned)levels;
        return;
    }
    if (ort_env_bool("OMP_NESTED", &nested, "the default"))
        icv->max_active_levels = nested ? ort_settings.supported_levels : 1;
    else if (icv->nthreads_rest > 0 || ort_settings.bind_rest > 0)
        icv->max_active_levels = ort_settings.supported_levels;
}

static void read_wait_policy(void)
{
    const char *name = ORT_ENV_NAME("OMP_WAIT_POLICY"), *text = os_env(name);
    if (text == NULL)
        return;
    if (spelling_is_word("active", 1, os_skip_blanks(text)))
        ort_settings.wait_policy = ORT_POLICY_ACTIVE;
    else if (spelling_is_word("passive", 1, os_skip_blanks(text)))
        ort_settings.wait_policy = ORT_POLICY_PASSIVE;
    else
        ps_warn("%s=\"%s\" is neither active nor passive; using a short spin, then blocking, instead", name, text);
}

/* Reads GOMP_SPINCOUNT: a count, with one of libgomp's suffixes k, M, G, T (powers of 1000), or "infinite" or
 * "infinity". Infinite, or a count that does not fit, becomes UINT64_MAX - 1. */
static void read_spin_count(void)
{
    static const char units[] = "kmgt";
    const char *text = os_env("GOMP_SPINCOUNT");
    if (text == NULL)
        return;
    const char *p = os_skip_blanks(text);
    unsigned long v;
    uint64_t count = UINT64_MAX;
    if (spelling_is_word("infinit", 7, p)) {
        ort_settings.spin_count = UINT64_MAX - 1;
        return;
    }
    bool good = spelling_digits(&p, ULONG_MAX, &v);
    p = os_skip_blanks(p);
    const char *u = good && *p != '\0' ? strchr(units, tolower((unsigned char)*p)) : NULL;
    uint64_t unit = 1;
    for (const char *q = units; u != NULL && q <= u; q++)
        unit *= 1000;
    if (!good || *os_skip_blanks(p + (u != NULL)) != '\0')
        ps_warn("GOMP_SPINCOUNT=\"%s\" is not a number with k, M, G or T, nor infinite; using the default instead",
                text);
    else if (__builtin_mul_overflow(v, unit, &count) || count >= UINT64_MAX - 1)
        ort_settings.spin_count = UINT64_MAX - 1;
    else
        ort_settings.spin_count = count;
}

static void read_offload(void)
{
    static const char *const words[] = {"default", "mandatory", "disabled"};
    const char *text = os_env("OMP_TARGET_OFFLOAD");
    if (text == NULL)
        return;
    for (unsigned i = 0; i < 3; i++)
        if (spelling_is_word(words[i], 2, os_skip_blanks(text))) {
            ort_settings.offload = (enum ort_offload)i;
            return;
        }
    ps_warn("OMP_TARGET_OFFLOAD=\"%s\" is not default, mandatory or disabled; using default instead", text);
}

bool ort_env_stack_size(const char *name, size_t unit, const char *instead)
{
    size_t bytes;
    if (!os_env_size(name, unit, &bytes, instead))
        return false;
    if (bytes < SMALLEST_STACK) {
        ps_warn("%s=\"%s\" is less than 16K; using %s instead", name, os_env(name), instead);
        return false;
    }
    ort_settings.stack_bytes = bytes;
    return true;
}

/* If both variables are set, OMP_STACKSIZE counts in libgomp's programs, and GOMP_STACKSIZE in libomp's. */
static void read_stack_size(void)
{
    const char *name = ORT_ENV_NAME("OMP_STACKSIZE"), *text = os_env(name), *gomps = os_env("GOMP_STACKSIZE");
    bool beside = ort_env_as_libomp && text != NULL && gomps != NULL;
    if (beside)
        ps_warn("%s=\"%s\" does not count beside GOMP_STACKSIZE; using \"%s\" instead", name, text, gomps);
    if (beside || !ort_env_stack_size(name, 1024, "GOMP_STACKSIZE's or the default size"))
        ort_env_stack_size("GOMP_STACKSIZE", 1024, "the default size");
}

static void read_numbers(struct ort_icv *icv)
{
    /* If OMP_TARGET_OFFLOAD is mandatory and the host is the only device, there is no default device (OpenMP 5.2
     * section 21.2.7). libomp 19 does not follow that. */
    bool none = ort_settings.offload == ORT_OFFLOAD_MANDATORY && !ort_env_as_libomp;
    long limit = INT_MAX, device = none ? ORT_DEVICE_INVALID : 0, priority = 0, teams = 0, teams_limit = 0, debug = 0;
    ort_env_number(ORT_ENV_NAME("OMP_THREAD_LIMIT"), 1, INT_MAX, &limit);
    icv->thread_limit = limit >= INT_MAX ? UINT_MAX : (unsigned)limit;
    ort_env_number(ORT_ENV_NAME("OMP_DEFAULT_DEVICE"), 0, INT_MAX, &device);
    icv->default_device = (int)device;
    ort_env_number("OMP_MAX_TASK_PRIORITY", 0, INT_MAX, &priority);
    ort_settings.max_task_priority = (int)priority;
    ort_env_number(ORT_ENV_NAME("OMP_NUM_TEAMS"), 1, INT_MAX, &teams);
    ort_settings.num_teams = (unsigned)teams;
    ort_env_number(ORT_ENV_NAME("OMP_TEAMS_THREAD_LIMIT"), 1, INT_MAX, &teams_limit);
    ort_settings.teams_thread_limit = (unsigned)teams_limit;
    ort_env_number("GOMP_DEBUG", 0, INT_MAX, &debug); /* read only to report a bad value: the number has no effect */
}

void ort_env_finish(void)
{
    ort_env_ask();
    ort_processors_restrict();
    if (nthreads_given)
        return;
    struct ort_icv *icv = &ort_settings.initial;
    unsigned limit = ort_places_limit();
    icv->nthreads = limit != 0 ? limit : os_num_procs();
    for (unsigned i = 0; i < icv->nthreads_rest; i++)
        if (nthreads[i + 1] == 0)
            nthreads[i + 1] = icv->nthreads;
    nthreads_given = true;
}

static void read_own_variables(struct ort_icv *icv)
{
    read_num_threads(icv);
    read_schedule(icv);
    ort_env_bool(ORT_ENV_NAME("OMP_DYNAMIC"), &icv->dynamic, "false");
    ort_env_bool("OMP_CANCELLATION", &ort_settings.cancellation, "false");
    ort_env_bool("OMP_DISPLAY_AFFINITY", &ort_settings.display_affinity, "false");
    read_wait_policy();
    read_spin_count();
    read_offload();
    read_stack_size();
    read_numbers(icv);
}

void ort_env_read_late(void)
{
    if (!schedule_given)
        read_schedule(&ort_settings.initial);
}

/* Reads all variables. The order matters: read_levels uses what the functions before it have read, OMP_PROC_BIND
 * (ort_place_env_read) included. */
static void read_environment(void)
{
    struct ort_icv *icv = &ort_settings.initial;
    read_own_variables(icv);
    ort_place_env_read();
    read_levels(icv);
    ort_allocator_env_read();
    if (ort_env_hook != NULL)
        ort_env_hook();
    ort_display_env_read();
}

static struct ort_settings without_them; /* the settings before any variable was read */

static void read_again(void)
{
    if (ort_env_changed()) {
        char *format = ort_settings.affinity_format;
        ort_settings = without_them;
        ort_settings.affinity_format = format;
        nthreads_given = false;
        ort_place_env_forget();
        ort_env_forget();
        read_environment();
    }
    ps_store_release(&ort_env_open, false);
}

void ort_env_settle(void)
{
    static os_once_flag once = OS_ONCE_INIT;
    os_once(&once, read_again);
}

/* Reads OpenMP's variables and those of the ABIs. If the process may read them again, also keeps the settings that were
 * there before. The constructors of the program, and of libraries that use OpenMP, run after this constructor. Those of
 * libraries that the runtime needs run before it. */
__attribute__((constructor)) static void load_settings(void)
{
    if (ort_env_changed == NULL) {
        read_environment();
        return;
    }
    without_them = ort_settings;
    read_environment();
    ort_env_changed();
    ps_store_release(&ort_env_open, true);
}
