/* OMP_DISPLAY_ENV: the values that the environment has led to.
 *
 * Does: the lines of libgomp 12, in its order and spelling, since people's scripts read them. Callers: the loader, or any thread.
 * The whole is put together first and written at once. Failures: no memory: nothing is shown.
 * Deviations: OMP_STACKSIZE is '0' where the default holds, as in libgomp; GOMP_SPINCOUNT is empty where it was not given, since
 * waiting is not counted in such rounds then.
 * OpenMP 5.2 sections 18.15, 21.7. */
#include "display.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "allocator.h"
#include "check.h"
#include "env.h"
#include "ort.h"
#include "os.h"
#include "place.h"

static void show_num_threads(FILE *f, const struct ort_icv *icv)
{
    fprintf(f, "  OMP_NUM_THREADS = '%u", icv->nthreads);
    for (unsigned i = 0; i < icv->nthreads_rest; i++)
        fprintf(f, ",%u", icv->nthreads_list[i]);
    fputs("'\n", f);
}

/* The modifier is shown where it is not what the kind has of itself; likewise the chunk. */
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
    fprintf(f, "  OMP_SCHEDULE = '%s%s", modifier, names[kind]);
    if (kind != ORT_SCHED_AUTO && icv->chunk != (kind == ORT_SCHED_STATIC ? 0 : 1))
        fprintf(f, ",%d", icv->chunk);
    fputs("'\n", f);
}

static void show_proc_bind(FILE *f, const struct ort_icv *icv)
{
    static const char *const names[] = {"FALSE", "TRUE", "MASTER", "CLOSE", "SPREAD"};
    fprintf(f, "  OMP_PROC_BIND = '%s", names[icv->bind]);
    for (unsigned i = 0; i < icv->bind_rest; i++)
        fprintf(f, ",%s", names[icv->bind_list[i]]);
    fputs("'\n", f);
}

/* A place as runs of processors, first:length. */
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
    fputs("  OMP_PLACES = '", f);
    for (unsigned p = 0; list != NULL && p < list->n; p++) {
        fputs(p == 0 ? "{" : ",{", f);
        show_place(f, list->cpu + list->first[p], list->first[p + 1] - list->first[p]);
        fputs("}", f);
    }
    fputs("'\n", f);
}

static void show_text(FILE *f, const char *name, const char *value) { fprintf(f, "  %s = '%s'\n", name, value); }
static void show_bool(FILE *f, const char *name, bool value) { show_text(f, name, value ? "TRUE" : "FALSE"); }
static void show_number(FILE *f, const char *name, uint64_t value)
{
    fprintf(f, "  %s = '%" PRIu64 "'\n", name, value);
}

static void show_affinity_format(FILE *f)
{
    size_t length = ort_affinity_format_get(NULL, 0);
    char *format = malloc(length + 1);
    if (format != NULL)
        ort_affinity_format_get(format, length + 1);
    show_text(f, "OMP_AFFINITY_FORMAT", format == NULL ? "" : format);
    free(format);
}

static void show_all(FILE *f, bool verbose)
{
    static const char *const offload[] = {"DEFAULT", "MANDATORY", "DISABLED"};
    const struct ort_icv *icv = &ort_settings.initial;
    const char *allocator = ort_allocator_name(icv->default_allocator);
    fputs("\nOPENMP DISPLAY ENVIRONMENT BEGIN\n  _OPENMP = '201511'\n", f);
    show_bool(f, "OMP_DYNAMIC", icv->dynamic);
    show_bool(f, "OMP_NESTED", icv->max_active_levels > 1);
    show_num_threads(f, icv);
    show_schedule(f, icv);
    show_proc_bind(f, icv);
    show_places(f);
    show_number(f, "OMP_STACKSIZE", ort_settings.stack_bytes);
    show_text(f, "OMP_WAIT_POLICY", ort_settings.wait_policy == ORT_POLICY_ACTIVE ? "ACTIVE" : "PASSIVE");
    show_number(f, "OMP_THREAD_LIMIT", icv->thread_limit);
    show_number(f, "OMP_MAX_ACTIVE_LEVELS", icv->max_active_levels);
    show_number(f, "OMP_NUM_TEAMS", ort_settings.num_teams);
    show_number(f, "OMP_TEAMS_THREAD_LIMIT", ort_settings.teams_thread_limit);
    show_bool(f, "OMP_CANCELLATION", ort_settings.cancellation);
    fprintf(f, "  OMP_DEFAULT_DEVICE = '%d'\n", icv->default_device);
    fprintf(f, "  OMP_MAX_TASK_PRIORITY = '%d'\n", ort_settings.max_task_priority);
    show_bool(f, "OMP_DISPLAY_AFFINITY", ort_settings.display_affinity);
    show_affinity_format(f);
    show_text(f, "OMP_ALLOCATOR", allocator == NULL ? "" : allocator);
    show_text(f, "OMP_TARGET_OFFLOAD", offload[ort_settings.offload]);
    if (verbose) {
        show_text(f, "GOMP_CPU_AFFINITY", "");
        show_number(f, "GOMP_STACKSIZE", ort_settings.stack_bytes);
        if (ort_settings.spin_count == UINT64_MAX)
            show_text(f, "GOMP_SPINCOUNT", "");
        else
            show_number(f, "GOMP_SPINCOUNT",
                        ort_settings.spin_count == UINT64_MAX - 1 ? UINT64_MAX : ort_settings.spin_count);
    }
    fputs("OPENMP DISPLAY ENVIRONMENT END\n", f);
}

void ort_display_env(bool verbose)
{
    char *text = NULL;
    size_t bytes = 0;
    ort_env_finish();
    FILE *f = open_memstream(&text, &bytes);
    if (f == NULL)
        return;
    show_all(f, verbose);
    if (fclose(f) == 0)
        fwrite(text, 1, bytes, stderr);
    free(text);
}

void ort_display_env_read(void)
{
    const char *format = getenv("OMP_AFFINITY_FORMAT"), *text = os_env("OMP_DISPLAY_ENV");
    if (format != NULL)
        ort_affinity_format_set(format, strlen(format));
    if (text == NULL)
        return;
    static const char *const words[] = {"false", "true", "verbose"};
    const char *at = text;
    while (isspace((unsigned char)*at))
        at++;
    size_t length = strlen(at);
    while (length > 0 && isspace((unsigned char)at[length - 1]))
        length--;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && strncasecmp(at, words[i], length) == 0) {
            if (i > 0)
                ort_display_env(i == 2);
            return;
        }
    ps_warn("OMP_DISPLAY_ENV=\"%s\" is not true, false or verbose; using false instead", text);
}
