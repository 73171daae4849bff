/* KMP_SETTINGS, and OMP_DISPLAY_ENV of programs built for libomp: shows what the environment asks for and which values
 * hold, on standard error, in libomp's forms.
 *
 * KMP_SETTINGS is shown once, when a thread first calls a libomp entry point. Programs that never do so (GCC's) do not
 * show it, as under libgomp. OMP_DISPLAY_ENV is shown in this form if the process was built for libomp (env.c);
 * otherwise the core shows it in libgomp's form. Only variables that have an effect here are listed as effective;
 * libomp's list also has its internal ones. The values are the core's (ort_display_env_text), read line by line, and
 * our own; they are sorted by name. All lines are collected first and then written at once. Failures: without memory,
 * nothing or less is shown. Deviations: OMP_NUM_TEAMS and levels are shown as they hold here. If a program binds
 * threads but names no places, the places are hardware threads; libomp's are cores. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h> /* for environ */

#include "display.h"
#include "env.h"
#include "kmpc.h"
#include "kmpc_env.h"
#include "os.h"
#include "place.h"

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Shows the variables of the environment that are OpenMP's or libomp's, sorted by name. */
static void show_given_variables(FILE *f)
{
    size_t n = 0, at = 0;
    while (environ[n] != NULL)
        n++;
    char **given = calloc(n + 1, sizeof *given);
    for (size_t i = 0; given != NULL && i < n; i++)
        if (strncmp(environ[i], "KMP_", 4) == 0 || strncmp(environ[i], "OMP_", 4) == 0 ||
            strncmp(environ[i], "LIBOMP_", 7) == 0)
            given[at++] = environ[i];
    if (given != NULL)
        qsort(given, at, sizeof *given, by_name);
    fputs("\nUser settings:\n\n", f);
    for (size_t i = 0; i < at; i++)
        fprintf(f, "   %s\n", given[i]);
    free(given);
}

/* --- what is effective --- */

/* Forms in which a value is written. KMP_SETTINGS has quotes around texts, and switches in small letters.
 * OMP_DISPLAY_ENV has quotes around everything except bare words, and switches in capitals. */
enum form { TEXT, PLAIN, SWITCH, WORD, AFTER_NAME };

struct row {
    const char *name;
    char *value; /* NULL: the variable is not defined */
    enum form form;
};

#define ROWS 48
struct rows {
    struct row row[ROWS];
    unsigned n;
};

static void PS_PRINTF(4, 5) add(struct rows *rows, const char *name, enum form form, const char *fmt, ...)
{
    if (rows->n == ROWS)
        return;
    struct row *row = &rows->row[rows->n++];
    *row = (struct row){.name = name, .form = form};
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(&row->value, fmt, ap) < 0)
        row->value = NULL;
    va_end(ap);
}
static void add_undefined(struct rows *rows, const char *name)
{
    if (rows->n < ROWS)
        rows->row[rows->n++] = (struct row){.name = name};
}
static void add_switch(struct rows *rows, const char *name, bool on) { add(rows, name, SWITCH, "%d", on); }
static void add_given(struct rows *rows, const char *name, const char *otherwise)
{
    const char *given = os_env(name);
    if (given == NULL && otherwise == NULL)
        add_undefined(rows, name);
    else
        add(rows, name, PLAIN, "%s", given != NULL ? given : otherwise);
}

/* Adds a row with a size, in the largest unit that divides it. */
static void add_size(struct rows *rows, const char *name, size_t bytes)
{
    static const char units[] = "\0kMGT";
    unsigned unit = 0;
    while (unit < 4 && bytes != 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    add(rows, name, PLAIN, "%zu%.1s", bytes, units + unit);
}

static void add_own(struct rows *rows)
{
    static const char *const libraries[] = {
        [KMPC_SERIAL] = "serial", [KMPC_TURNAROUND] = "turnaround", [KMPC_THROUGHPUT] = "throughput"};
    const struct kmpc_settings *s = &kmpc_settings;
    /* as in libomp, infinite is shown as INT32_MAX microseconds, in ms */
    bool forever = s->blocktime.amount == KMPC_BLOCKTIME_INFINITE;
    add(rows, "KMP_BLOCKTIME", PLAIN, "%d%s", forever ? INT32_MAX / 1000 : s->blocktime.amount,
        s->blocktime.us ? "us" : "ms");
    add_switch(rows, "KMP_DETERMINISTIC_REDUCTION", s->deterministic);
    add_switch(rows, "KMP_ENABLE_TASK_THROTTLING", !ort_settings.unbounded_tasks);
    add(rows, "KMP_LIBRARY", PLAIN, "%s", libraries[s->library]);
    add_switch(rows, "KMP_SETTINGS", s->show);
    add_size(rows, "KMP_STACKSIZE", kmpc_stack_bytes());
    add_switch(rows, "KMP_WARNINGS", !ps_warn_quiet);
}

/* Adds rows that the core does not show, or shows differently from libomp. */
static void add_otherwise(struct rows *rows)
{
    const struct ort_icv *icv = &ort_settings.initial;
    unsigned limit = icv->thread_limit;
    add(rows, "OMP_NESTED", AFTER_NAME, ": deprecated; max-active-levels-var=%u", icv->max_active_levels);
    if (os_env("OMP_NUM_THREADS") == NULL)
        add_undefined(rows, "OMP_NUM_THREADS");
    add_size(rows, "OMP_STACKSIZE", kmpc_stack_bytes());
    add(rows, "OMP_THREAD_LIMIT", PLAIN, "%u", limit > INT32_MAX ? INT32_MAX : limit);
    if (icv->sched == ORT_SCHED_UNSET)
        add(rows, "OMP_SCHEDULE", TEXT, "static"); /* for libgomp's programs the default is another */
    if (ort_places_name() != NULL)
        add(rows, "OMP_PLACES", TEXT, "%s", ort_places_name());
    static const char *const displays[] = {"FALSE", "TRUE", "VERBOSE"};
    add(rows, "OMP_DISPLAY_ENV", PLAIN, "%s", displays[ort_display_env_wish]);
    add_given(rows, "OMP_TOOL", "enabled");
    add_given(rows, "OMP_TOOL_LIBRARIES", NULL);
    add_given(rows, "OMP_TOOL_VERBOSE_INIT", NULL);
}

static bool has_row(const struct rows *rows, const char *name)
{
    for (unsigned i = 0; i < rows->n; i++)
        if (strcmp(rows->row[i].name, name) == 0)
            return true;
    return false;
}

static void lower_case(char *text)
{
    for (; *text != '\0'; text++)
        *text = (char)tolower((unsigned char)*text);
}

/* Adds a row from a line of the core's text: "  [host] NAME = 'VALUE'". The row's name points into the line, so the
 * line must stay in memory. */
static void add_core_row(struct rows *rows, char *line)
{
    char *behind = strstr(line, "] "), *name = behind != NULL ? behind + 2 : line + strspn(line, " "),
         *value = strstr(name, " = '");
    size_t length = strlen(line);
    if (value == NULL || length == 0 || line[length - 1] != '\'')
        return;
    *value = '\0';
    value += 4;
    line[length - 1] = '\0';
    if (name[0] == '_' || strncmp(name, "GOMP", 4) == 0 || has_row(rows, name))
        return;
    bool words = strcmp(name, "OMP_PROC_BIND") == 0 || strcmp(name, "OMP_SCHEDULE") == 0;
    if (words)
        lower_case(value);
    if (strcmp(name, "OMP_PROC_BIND") == 0 && strcmp(value, "true") == 0)
        value = "spread"; /* libomp takes "true" for spread */
    if (*value == '\0')
        add_undefined(rows, name);
    else if (!words && (strcmp(value, "TRUE") == 0 || strcmp(value, "FALSE") == 0))
        add_switch(rows, name, *value == 'T');
    else if (words || strcmp(name, "OMP_NUM_THREADS") == 0 || strcmp(name, "OMP_PLACES") == 0 ||
             strcmp(name, "OMP_AFFINITY_FORMAT") == 0)
        add(rows, name, TEXT, "%s", value);
    else
        add(rows, name, strcmp(name, "OMP_TARGET_OFFLOAD") == 0 ? WORD : PLAIN, "%s", value);
}

static int by_row(const void *a, const void *b)
{
    return strcmp(((const struct row *)a)->name, ((const struct row *)b)->name);
}

/* Shows all rows, sorted by name, in one of the two forms. own: with the KMP_ variables. display: in OMP_DISPLAY_ENV's
 * form. */
static void show_rows(FILE *f, bool own, bool display)
{
    struct rows rows = {.n = 0};
    if (own)
        add_own(&rows);
    add_otherwise(&rows);
    char *text = ort_display_env_text(false), *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;)
        add_core_row(&rows, line);
    qsort(rows.row, rows.n, sizeof *rows.row, by_row);
    const char *before = display ? "  [host] " : "   ";
    for (unsigned i = 0; i < rows.n; i++) {
        const struct row *r = &rows.row[i];
        bool quoted = r->form == TEXT || (display && (r->form == PLAIN || r->form == SWITCH));
        const char *quote = quoted ? "'" : "", *value = r->value;
        if (r->form == SWITCH && value != NULL)
            value = *value == '1' ? (display ? "TRUE" : "true") : (display ? "FALSE" : "false");
        else if (!display && r->form == PLAIN && value != NULL && strcmp(r->name, "OMP_DISPLAY_ENV") == 0)
            lower_case(r->value);
        if (value == NULL)
            fprintf(f, "%s%s: value is not defined\n", before, r->name);
        else if (r->form == AFTER_NAME)
            fprintf(f, "%s%s%s\n", before, r->name, value);
        else
            fprintf(f, "%s%s=%s%s%s\n", before, r->name, quote, value, quote);
        free(r->value);
    }
    free(text);
}

/* --- the two displays --- */

static void write_whole(void (*write_to)(FILE *f, bool verbose), bool verbose)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    if (f == NULL)
        return;
    write_to(f, verbose);
    if (fclose(f) == 0)
        fputs(text, stderr);
    free(text);
}

static void settings(FILE *f, PS_UNUSED bool verbose)
{
    show_given_variables(f);
    fputs("\nEffective settings:\n\n", f);
    show_rows(f, true, false);
    fputc('\n', f);
}

static void environment(FILE *f, bool verbose)
{
    fputs("\nOPENMP DISPLAY ENVIRONMENT BEGIN\n   _OPENMP='201611'\n", f);
    show_rows(f, verbose, true);
    fputs("OPENMP DISPLAY ENVIRONMENT END\n\n\n", f);
}

void kmpc_settings_show(void) { write_whole(settings, false); }
void kmpc_display_env(bool verbose) { write_whole(environment, verbose); }
