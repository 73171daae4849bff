/* KMP_SETTINGS: what the environment asks for and what has come of it, on standard error, in libomp's form.
 *
 * Shown when a thread first asks in libomp's way, once; programs that never do (GCC's) do not see it, as under libgomp. Of the variables
 * only those are listed as effective which have an effect here: libomp's list is longer by its own internals.
 * The whole is put together first and written at once. Failures: no memory: nothing is shown. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h> /* environ */

#include "display.h"
#include "kmpc.h"
#include "kmpc_env.h"
#include "place.h"

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* The variables of the environment that are OpenMP's or libomp's, by name. */
static void show_given(FILE *f)
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

static const char *word(bool on) { return on ? "true" : "false"; }

static void show_own(FILE *f)
{
    static const char *const libraries[] = {
        [KMPC_SERIAL] = "serial", [KMPC_TURNAROUND] = "turnaround", [KMPC_THROUGHPUT] = "throughput"};
    static const char *const methods[] = {[KMPC_REDUCE_ANY] = NULL,
                                          [KMPC_REDUCE_ATOMIC] = "atomic",
                                          [KMPC_REDUCE_LOCK] = "critical",
                                          [KMPC_REDUCE_IN_ORDER] = "tree"};
    const struct kmpc_settings *s = &kmpc_settings;
    if (s->blocktime_ms == KMPC_BLOCKTIME_INFINITE)
        fputs("   KMP_BLOCKTIME=infinite\n", f);
    else
        fprintf(f, "   KMP_BLOCKTIME=%dms\n", s->blocktime_ms);
    fprintf(f, "   KMP_DETERMINISTIC_REDUCTION=%s\n", word(s->deterministic));
    fprintf(f, "   KMP_DISP_NUM_BUFFERS=%d\n", ORT_WS_RING);
    fprintf(f, "   KMP_ENABLE_TASK_THROTTLING=%s\n", word(!ort_settings.unbounded_tasks));
    if (methods[s->reduce] == NULL)
        fputs("   KMP_FORCE_REDUCTION: value is not defined\n", f);
    else
        fprintf(f, "   KMP_FORCE_REDUCTION=%s\n", methods[s->reduce]);
    fprintf(f, "   KMP_LIBRARY=%s\n", libraries[s->library]);
    fputs("   KMP_SETTINGS=true\n", f);
    fprintf(f, "   KMP_STACKSIZE=%zu\n", ort_settings.stack_bytes);
    fprintf(f, "   KMP_WARNINGS=%s\n", word(!s->quiet));
}

/* A line of OMP_DISPLAY_ENV's ("  [host] NAME = 'VALUE'") as libomp has it: numbers and switches without quotes, the latter in small letters. */
static void show_line(FILE *f, char *line)
{
    char *behind = strstr(line, "] "), *name = behind != NULL ? behind + 2 : line + strspn(line, " "),
         *value = strstr(name, " = '");
    size_t length = strlen(line);
    if (value == NULL || length == 0 || line[length - 1] != '\'')
        return;
    *value = '\0';
    value += 4;
    line[length - 1] = '\0';
    if (name[0] == '_' || strncmp(name, "GOMP", 4) == 0)
        return;
    if (strcmp(name, "OMP_PLACES") == 0 && ort_places_name() != NULL)
        fprintf(f, "   %s='%s'\n", name, ort_places_name());
    else if (strcmp(name, "OMP_SCHEDULE") == 0 && ort_settings.initial.sched == ORT_SCHED_UNSET)
        fprintf(f, "   %s='static'\n", name); /* libgomp's programs have another default */
    else if (*value == '\0')
        fprintf(f, "   %s: value is not defined\n", name);
    else if (strcmp(value, "TRUE") == 0 || strcmp(value, "FALSE") == 0)
        fprintf(f, "   %s=%s\n", name, word(*value == 'T'));
    else if (value[strspn(value, "0123456789")] == '\0')
        fprintf(f, "   %s=%s\n", name, value);
    else
        fprintf(f, "   %s='%s'\n", name, value);
}

static void show_core(FILE *f)
{
    char *text = ort_display_env_text(false), *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;)
        show_line(f, line);
    free(text);
}

void kmpc_settings_show(void)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    if (f == NULL)
        return;
    show_given(f);
    fputs("\nEffective settings:\n\n", f);
    show_own(f);
    show_core(f);
    fputc('\n', f);
    if (fclose(f) == 0)
        fputs(text, stderr);
    free(text);
}
