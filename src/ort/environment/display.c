/* OMP_DISPLAY_ENV: prints the settings that the environment has led to.
 *
 * Does: prints the lines of libgomp's newest versions for the host, in libgomp's order and spelling, because scripts
 * read them. (libgomp 12 prints the same lines without "[host] ".) The text is put together first, and written at once.
 * Callers: a constructor of the library, or any thread.
 * Failures: without memory nothing is shown.
 * OMP_STACKSIZE is '0' for the default size, as in libgomp. Deviation: if GOMP_SPINCOUNT is not set, its line shows
 * libgomp's default, although this runtime then does not count a wait in iterations. In a process that was built for
 * another runtime the lines have that runtime's form (ort_display_env_otherwise). OpenMP 5.2 sections 18.15, 21.7. */
#include "display.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator.h"
#include "check.h"
#include "env.h"
#include "ort.h"
#include "os.h"
#include "place.h"
#include "spelling.h"

/* The devices that a value applies to, as the lines name them. */
#define HOST "host"
#define ALL "all"

static void show_text(FILE *f, const char *whom, const char *name, const char *value)
{
    fprintf(f, "  [%s] %s = '%s'\n", whom, name, value);
}
static void show_bool(FILE *f, const char *whom, const char *name, bool value)
{
    show_text(f, whom, name, value ? "TRUE" : "FALSE");
}
static void show_number(FILE *f, const char *whom, const char *name, uint64_t value)
{
    fprintf(f, "  [%s] %s = '%" PRIu64 "'\n", whom, name, value);
}

static void show_num_threads(FILE *f, const struct ort_icv *icv)
{
    fprintf(f, "  [" HOST "] OMP_NUM_THREADS = '%u", icv->nthreads);
    for (unsigned i = 0; i < icv->nthreads_rest; i++)
        fprintf(f, ",%u", icv->nthreads_list[i]);
    fputs("'\n", f);
}

/* Shows the schedule. Leaves out the modifier and the chunk size if the schedule's kind has them by default. */
static void show_schedule(FILE *f, const struct ort_icv *icv)
{
    static const char *const names[] = {[ORT_SCHED_STATIC] = "STATIC",
                                        [ORT_SCHED_DYNAMIC] = "DYNAMIC",
                                        [ORT_SCHED_GUIDED] = "GUIDED",
                                        [ORT_SCHED_AUTO] = "AUTO",
                                        [ORT_SCHED_TRAPEZOIDAL] = "TRAPEZOIDAL"};
    unsigned kind = ort_icv_sched(icv) & ~ORT_SCHED_MONOTONIC;
    bool monotonic = (icv->sched & ORT_SCHED_MONOTONIC) != 0;
    const char *modifier = "";
    if (monotonic && kind != ORT_SCHED_STATIC)
        modifier = "MONOTONIC:";
    else if (!monotonic && kind == ORT_SCHED_STATIC)
        modifier = "NONMONOTONIC:";
    fprintf(f, "  [" HOST "] OMP_SCHEDULE = '%s%s", modifier, names[kind]);
    if (kind != ORT_SCHED_AUTO && icv->chunk != (kind == ORT_SCHED_STATIC ? 0 : 1))
        fprintf(f, ",%d", icv->chunk);
    fputs("'\n", f);
}

static void show_proc_bind(FILE *f)
{
    static const char *const names[] = {"FALSE", "TRUE", "MASTER", "CLOSE", "SPREAD"};
    fprintf(f, "  [" HOST "] OMP_PROC_BIND = '%s", names[ort_settings.bind]);
    for (unsigned i = 0; i < ort_settings.bind_rest; i++)
        fprintf(f, ",%s", names[ort_settings.bind_list[i]]);
    fputs("'\n", f);
}

/* Shows a place as ranges of processors, first:length. */
static void show_place(FILE *f, const unsigned *cpu, unsigned n)
{
    for (unsigned i = 0, run; i < n; i += run) {
        for (run = 1; i + run < n && cpu[i + run] == cpu[i] + run; run++)
            ;
        fprintf(f, "%s%u", i == 0 ? "" : ",", cpu[i]);
        if (run > 1)
            fprintf(f, ":%u", run);
    }
}

static void show_places(FILE *f)
{
    const struct ort_places *list = ort_places();
    fputs("  [" HOST "] OMP_PLACES = '", f);
    for (unsigned p = 0; list != NULL && p < list->n; p++) {
        fputs(p == 0 ? "{" : ",{", f);
        show_place(f, list->cpu + list->first[p], list->first[p + 1] - list->first[p]);
        fputs("}", f);
    }
    fputs("'\n", f);
}

static void show_affinity_format(FILE *f)
{
    size_t length = ort_affinity_format_get(NULL, 0);
    char *format = malloc(length + 1);
    if (format != NULL)
        ort_affinity_format_get(format, length + 1);
    show_text(f, HOST, "OMP_AFFINITY_FORMAT", format == NULL ? "" : format);
    free(format);
}

/* Returns the value of GOMP_SPINCOUNT (UINT64_MAX: infinite). If it is not set, returns libgomp's default for the wait
 * policy. */
static uint64_t spin_count(void)
{
    if (ort_settings.spin_count != UINT64_MAX)
        return ort_settings.spin_count == UINT64_MAX - 1 ? UINT64_MAX : ort_settings.spin_count;
    return ort_settings.wait_policy == ORT_POLICY_ACTIVE    ? UINT64_C(30000000000)
           : ort_settings.wait_policy == ORT_POLICY_PASSIVE ? 0
                                                            : 300000;
}

static void show_counts(FILE *f, const struct ort_icv *icv)
{
    show_number(f, HOST, "OMP_STACKSIZE", ort_settings.stack_bytes);
    show_text(f, HOST, "OMP_WAIT_POLICY", ort_settings.wait_policy == ORT_POLICY_ACTIVE ? "ACTIVE" : "PASSIVE");
    show_number(f, HOST, "OMP_THREAD_LIMIT", icv->thread_limit);
    show_number(f, HOST, "OMP_MAX_ACTIVE_LEVELS", icv->max_active_levels);
    show_number(f, HOST, "OMP_NUM_TEAMS", ort_settings.num_teams);
    show_number(f, HOST, "OMP_TEAMS_THREAD_LIMIT", ort_settings.teams_thread_limit);
}

static void show_allocator(FILE *f, const struct ort_icv *icv)
{
    const char *name = ort_allocator_name(icv->default_allocator), *given = getenv("OMP_ALLOCATOR");
    if (name == NULL) /* an allocator with traits, which has no name */
        name = given != NULL ? given : "";
    show_text(f, HOST, "OMP_ALLOCATOR", name);
}

static void show_all(FILE *f, bool verbose)
{
    static const char *const offload[] = {"DEFAULT", "MANDATORY", "DISABLED"};
    const struct ort_icv *icv = &ort_settings.initial;
    fputs("\nOPENMP DISPLAY ENVIRONMENT BEGIN\n  _OPENMP = '202111'\n", f);
    show_bool(f, HOST, "OMP_DYNAMIC", icv->dynamic);
    show_bool(f, HOST, "OMP_NESTED", icv->max_active_levels > 1);
    show_num_threads(f, icv);
    show_schedule(f, icv);
    show_proc_bind(f);
    show_places(f);
    show_counts(f, icv);
    show_bool(f, ALL, "OMP_CANCELLATION", ort_settings.cancellation);
    fprintf(f, "  [" ALL "] OMP_DEFAULT_DEVICE = '%d'\n", icv->default_device);
    fprintf(f, "  [" ALL "] OMP_MAX_TASK_PRIORITY = '%d'\n", ort_settings.max_task_priority);
    show_bool(f, ALL, "OMP_DISPLAY_AFFINITY", ort_settings.display_affinity);
    show_affinity_format(f);
    show_allocator(f, icv);
    show_text(f, ALL, "OMP_TARGET_OFFLOAD", offload[ort_settings.offload]);
    if (verbose) {
        show_text(f, HOST, "GOMP_CPU_AFFINITY", "");
        show_number(f, HOST, "GOMP_STACKSIZE", ort_settings.stack_bytes);
        show_number(f, HOST, "GOMP_SPINCOUNT", spin_count());
    }
    fputs("OPENMP DISPLAY ENVIRONMENT END\n", f);
}

char *ort_display_env_text(bool verbose)
{
    char *text = NULL;
    size_t bytes = 0;
    ort_env_finish();
    FILE *f = open_memstream(&text, &bytes);
    if (f == NULL)
        return NULL;
    show_all(f, verbose);
    if (fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

void (*ort_display_env_otherwise)(bool verbose);
enum ort_display_wish ort_display_env_wish;

void ort_display_env(bool verbose)
{
    if (ort_display_env_otherwise != NULL) {
        ort_display_env_otherwise(verbose);
        return;
    }
    char *text = ort_display_env_text(verbose);
    if (text != NULL)
        fputs(text, stderr);
    free(text);
}

void ort_display_env_read(void)
{
    const char *format = getenv("OMP_AFFINITY_FORMAT"), *text = os_env("OMP_DISPLAY_ENV");
    if (format != NULL)
        ort_affinity_format_set(format, strlen(format));
    if (text == NULL)
        return;
    enum ort_display_wish wish = spelling_says_true(text)                               ? ORT_DISPLAY_SOME
                                 : spelling_is_word("verbose", 1, os_skip_blanks(text)) ? ORT_DISPLAY_VERBOSE
                                                                                        : ORT_DISPLAY_NOTHING;
    if (wish == ORT_DISPLAY_NOTHING && !spelling_says_false(text)) {
        ps_warn("OMP_DISPLAY_ENV=\"%s\" is not true, false or verbose; using false instead", text);
        return;
    }
    ort_display_env_wish = wish;
    if (wish != ORT_DISPLAY_NOTHING && ort_display_env_otherwise == NULL)
        ort_display_env(wish == ORT_DISPLAY_VERBOSE);
}
