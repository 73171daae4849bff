/* The report of psrun doctor: see report.h. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "plan_parts.h"

static const char *copy_text(const char *text) { return text && *text ? plan_text("%s", text) : ""; }

static void *add_one(void *array, unsigned num, size_t bytes)
{
    char *grown = realloc(array, (num + 1) * bytes);
    if (!grown) {
        fprintf(stderr, "psrun: out of memory\n");
        exit(EXIT_USAGE);
    }
    memset(grown + num * bytes, 0, bytes);
    return grown;
}

struct process *report_process(struct report *r, long pid)
{
    for (unsigned i = 0; i < r->num; i++)
        if (r->process[i].pid == pid)
            return &r->process[i];
    r->process = add_one(r->process, r->num, sizeof *r->process);
    struct process *p = &r->process[r->num++];
    p->pid = pid;
    return p;
}

void report_add_pool(struct process *p, const char *const fields[NUM_FIELDS])
{
    p->pool = add_one(p->pool, p->num, sizeof *p->pool);
    struct pool_line *line = &p->pool[p->num++];
    for (unsigned i = 0; i < NUM_FIELDS; i++)
        line->field[i] = copy_text(fields[i]);
}

void report_read_census(struct report *r, FILE *census)
{
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, census) >= 0) {
        char *at = line, *word[NUM_FIELDS + 1] = {line};
        unsigned num = 0;
        line[strcspn(line, "\n")] = '\0';
        while (at && num < NUM_FIELDS + 1)
            word[num++] = strsep(&at, "\t");
        long pid = strtol(word[0], NULL, 10);
        if (pid > 0 && num == 3 && strcmp(word[1], "process") == 0)
            report_process(r, pid)->command = copy_text(word[2]);
        else if (pid > 0 && num == NUM_FIELDS + 1 && !at)
            report_add_pool(report_process(r, pid), (const char *const *)word + 1);
    }
    free(line);
}

/* --- the table --- */

static bool is_same_pools(const struct process *a, const struct process *b)
{
    if (a->num != b->num)
        return false;
    for (unsigned i = 0; i < a->num; i++)
        for (unsigned f = 0; f < NUM_FIELDS; f++)
            if (strcmp(a->pool[i].field[f], b->pool[i].field[f]) != 0)
                return false;
    return true;
}

/* Returns the last two parts of a path, such as "numpy.libs/libx.so". */
static const char *last_two(const char *path)
{
    const char *at = path + strlen(path);
    for (unsigned slashes = 0; at > path && (at[-1] != '/' || ++slashes < 2);)
        at--;
    return at;
}

static void print_pool_line(const struct pool_line *l, FILE *out)
{
    const char *const *f = l->field;
    char what[128];
    int n = snprintf(what, sizeof what, "%s",
                     strcmp(f[FIELD_INTERNAL_API], "openmp") == 0 ? f[FIELD_PREFIX] : f[FIELD_INTERNAL_API]);
    if (*f[FIELD_VERSION])
        n += snprintf(what + n, sizeof what - (size_t)n, " %s", f[FIELD_VERSION]);
    if (*f[FIELD_THREADING_LAYER] && n < (int)sizeof what)
        n += snprintf(what + n, sizeof what - (size_t)n, ", %s", f[FIELD_THREADING_LAYER]);
    if (*f[FIELD_ARCHITECTURE] && n < (int)sizeof what)
        snprintf(what + n, sizeof what - (size_t)n, ", %s", f[FIELD_ARCHITECTURE]);
    fprintf(out, "  %-7s %-44s %7s  %-8s  %s\n", f[FIELD_USER_API], what,
            *f[FIELD_NUM_THREADS] ? f[FIELD_NUM_THREADS] : "-", f[FIELD_OURS], last_two(f[FIELD_FILEPATH]));
    fprintf(out, "          %s\n", f[FIELD_ADVICE]);
}

static const char *command_of(const struct process *p) { return p->command && *p->command ? p->command : "?"; }

/* Prints the pools of process i once, for all processes from i on that have the same pools. */
static void print_group(const struct report *r, unsigned i, FILE *out)
{
    const struct process *first = &r->process[i];
    unsigned num = 0;
    for (unsigned k = i; k < r->num; k++)
        num += is_same_pools(first, &r->process[k]);
    if (first->pid == 0)
        fprintf(out, "thread pools in these files:\n");
    else if (num == 1)
        fprintf(out, "thread pools of process %ld: %s\n", first->pid, command_of(first));
    else
        fprintf(out, "thread pools of each of %u processes: %ld and others: %s\n", num, first->pid, command_of(first));
    fprintf(out, "  %-7s %-44s %7s  %-8s  %s\n", "kind", "what", "threads", "ours", "library");
    for (unsigned k = 0; k < first->num; k++)
        print_pool_line(&first->pool[k], out);
}

void report_print(const struct report *r, FILE *out)
{
    unsigned without = 0;
    for (unsigned i = 0; i < r->num; i++) {
        bool shown = false;
        for (unsigned k = 0; k < i && !shown; k++)
            shown = is_same_pools(&r->process[k], &r->process[i]);
        if (r->process[i].num == 0)
            without++;
        else if (!shown)
            print_group(r, i, out);
    }
    if (without == 0 || (r->num == 1 && r->process[0].pid == 0))
        return;
    fprintf(out, "no thread pool that is known in %u process%s:", without, without == 1 ? "" : "es");
    unsigned told = 0;
    for (unsigned i = 0; i < r->num; i++)
        if (r->process[i].num == 0 && told++ < 3)
            fprintf(out, "%s %ld (%.60s)", told > 1 ? "," : "", r->process[i].pid, command_of(&r->process[i]));
    fprintf(out, "%s\n", told > 3 ? ", and others" : "");
}

/* --- JSON --- */

/* Returns how many bytes the first UTF-8 character of the text has; 0 if it is not UTF-8. */
static unsigned utf8_bytes(const char *text)
{
    const unsigned char *t = (const unsigned char *)text;
    unsigned n = t[0] < 0x80                   ? 1
                 : t[0] >= 0xc2 && t[0] < 0xe0 ? 2
                 : (t[0] & 0xf0) == 0xe0       ? 3
                 : (t[0] & 0xf8) == 0xf0       ? 4
                                               : 0;
    for (unsigned i = 1; i < n; i++)
        if ((t[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

/* File names have no encoding: a byte that is not UTF-8 becomes U+FFFD. */
void report_print_json_text(FILE *out, const char *text)
{
    if (!text || !*text) {
        fputs("null", out);
        return;
    }
    putc('"', out);
    for (unsigned n; *text; text += n ? n : 1) {
        n = utf8_bytes(text);
        if (n == 0)
            fputs("\\ufffd", out);
        else if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            fprintf(out, "\\u%04x", (unsigned)*text);
        else
            fwrite(text, 1, n, out);
    }
    putc('"', out);
}

static void print_json_pool(const struct pool_line *l, FILE *out)
{
    static const char *const names[NUM_FIELDS] = {"user_api", "internal_api",    "prefix",       "filepath",
                                                  "version",  "threading_layer", "architecture", "num_threads",
                                                  "ours",     "advice"};
    for (unsigned i = 0; i < NUM_FIELDS; i++) {
        fprintf(out, "%s\"%s\": ", i > 0 ? ", " : "{", names[i]);
        if (i == FIELD_NUM_THREADS)
            fputs(*l->field[i] ? l->field[i] : "null", out);
        else
            report_print_json_text(out, l->field[i]);
    }
    putc('}', out);
}

static void print_json_number(FILE *out, const char *name, long n)
{
    if (n > 0)
        fprintf(out, "\"%s\": %ld, ", name, n);
    else
        fprintf(out, "\"%s\": null, ", name);
}

void report_print_json(const struct report *r, FILE *out)
{
    putc('[', out);
    for (unsigned i = 0; i < r->num; i++) {
        const struct process *p = &r->process[i];
        fprintf(out, "%s\n  {", i > 0 ? "," : "");
        print_json_number(out, "pid", p->pid);
        print_json_number(out, "kernel_threads", p->kernel_threads);
        fputs("\"command\": ", out);
        report_print_json_text(out, p->command);
        fputs(", \"pools\": [", out);
        for (unsigned k = 0; k < p->num; k++) {
            fprintf(out, "%s\n    ", k > 0 ? "," : "");
            print_json_pool(&p->pool[k], out);
        }
        fputs("]}", out);
    }
    putc(']', out);
}
