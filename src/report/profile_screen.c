/* Prints the screen of psthreads-report stats. docs/seeing.md says what each line means. */
#include <ctype.h>
#include <string.h>

#include "advice.h"
#include "memory.h"
#include "profile_print.h"
#include "say.h"

enum { COLUMNS = 80, MOST_REGIONS = 7, MOST_TASKS = 3, MOST_LOCKS = 3, MOST_ADVICE = 3, MOST_LEVELS = 6, BAR = 30 };

static double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

/* Prints a command without control characters, which could act on a terminal. */
static void print_program(const char *command, int columns, FILE *out)
{
    for (int i = 0; command[i] && i < columns; i++)
        fputc((unsigned char)command[i] < ' ' || command[i] == 127 ? '?' : command[i], out);
}

static void print_head(const struct profile *p, FILE *out)
{
    char wall[16], which[48];
    snprintf(which, sizeof which, p->processes == 1 ? "process %u" : "%u processes",
             p->processes == 1 ? p->pid : p->processes);
    const char *how = p->running ? ", still running" : p->cut ? ", ended early" : "";
    print_program(p->command && *p->command ? p->command : "?", COLUMNS - 3 - (int)strlen(which) - (int)strlen(how),
                  out);
    fprintf(out, " (%s%s)\n", which, how);
    fprintf(out, "%s from the first region on, %u virtual processor%s%s on %u processor%s\n", say_ns(wall, p->wall),
            p->vps, p->vps == 1 ? "" : "s", p->processes == 1 ? "" : " in all", p->processors,
            p->processors == 1 ? "" : "s");
}

static void print_efficiency(const struct profile *p, FILE *out)
{
    bool several = profile_has_roots(p);
    const struct {
        const char *name;
        double part;
        const char *what;
        bool shown;
    } lines[] = {
        {"parallel efficiency", p->efficiency,
         several ? "of the time in regions was the program's own work"
                 : "of the processors' time was the program's own work",
         true},
        {"serial parts", p->serial_parts, "lost: outside of regions one processor works", !several},
        {"load balance", p->balance, "lost: waits for slower threads, at barriers", true},
        {"serialisation", p->waiting, "lost: waits for tasks and for locks", true},
        {"communication", p->communication, "lost: waits for MPI", p->state[REC_OUTSIDE] > 0},
        {"runtime", p->runtime, "lost: making and finding work, and its lack", true},
    };
    fputc('\n', out);
    for (unsigned i = 0, shown = 0; i < sizeof lines / sizeof *lines; i++) {
        const char *mark = shown == 0 ? "" : shown == 1 ? " = " : " x ";
        if (!lines[i].shown)
            continue;
        fprintf(out, "%s%-*s %3.0f %%  %s\n", mark, 20 - (int)strlen(mark), lines[i].name, 100 * lines[i].part,
                lines[i].what);
        shown++;
    }
}

static void print_regions(const struct profile *p, FILE *out)
{
    unsigned shown = 0, all = 0;
    for (unsigned i = 0; i < p->num_rows; i++)
        all += p->row[i].regions > 0;
    for (unsigned i = 0; i < p->num_rows && shown < MOST_REGIONS; i++) {
        const struct profile_row *r = &p->row[i];
        double time = profile_row_time(r);
        char wall[16], times[24];
        if (r->regions == 0)
            continue;
        if (shown++ == 0)
            fprintf(out, "\n%-20s %9s %7s %7s  useful balance tasks locks rest\n", "region", "times", "threads",
                    "time");
        fprintf(out, "%-20.20s %9s %7.1f %7s   %3.0f %%   %3.0f %% %3.0f %% %3.0f %% %2.0f %%\n", r->place->brief,
                say_count(times, r->regions), r->threads / r->regions, say_ns(wall, r->wall),
                percent(r->state[REC_USEFUL] + r->state[REC_SERIAL], time), percent(r->state[REC_IMBALANCE], time),
                percent(r->state[REC_TASKS], time), percent(r->state[REC_LOCKS], time),
                percent(r->state[REC_IN_RUNTIME] + r->state[REC_OUTSIDE] + r->state[REC_PARKED], time));
    }
    if (all > shown)
        fprintf(out, "and %u more\n", all - shown);
}

/* --- tasks and locks: the rows with the largest values --- */

typedef double measure(const struct profile_row *r);
static double number_of_tasks(const struct profile_row *r) { return r->tasks; }
static double lock_time(const struct profile_row *r) { return r->lock_ns; }

/* Returns the row that follows `before` in the order of decreasing values; before NULL: the row with the largest value.
 * Returns NULL if there is none. */
static const struct profile_row *next_row(const struct profile *p, measure *of, const struct profile_row *before)
{
    const struct profile_row *best = NULL;
    for (const struct profile_row *r = p->row; r < p->row + p->num_rows; r++) {
        bool later = !before || of(r) < of(before) || (of(r) == of(before) && r > before);
        if (of(r) > 0 && later && (!best || of(r) > of(best)))
            best = r;
    }
    return best;
}

static void print_tasks(const struct profile *p, FILE *out)
{
    static const char *const sizes[PROFILE_SIZES] = {"below 1 us",     "1 to 10 us",    "10 to 100 us",
                                                     "100 us to 1 ms", "1 ms to 10 ms", "10 ms and more"};
    char many[24], mean[16];
    double all = 0;
    for (unsigned i = 0; i < PROFILE_SIZES; i++)
        all += p->sizes[i];
    if (p->tasks == 0)
        return;
    fprintf(out, "\ntasks: %s, of %s on average\n", say_count(many, p->tasks), say_ns(mean, p->task_ns / p->tasks));
    for (unsigned i = 0; i < PROFILE_SIZES; i++) {
        static const char bar[BAR + 1] = "##############################";
        if (percent(p->sizes[i], all) >= 0.05)
            fprintf(out, "  %-16s %5.1f %%  %.*s\n", sizes[i], percent(p->sizes[i], all),
                    (int)(BAR * p->sizes[i] / all + 0.5), bar);
    }
    const struct profile_row *r = NULL;
    for (unsigned i = 0; i < MOST_TASKS && (r = next_row(p, number_of_tasks, r)); i++)
        fprintf(out, "  %-24.24s %11s of %s\n", r->place->brief, say_count(many, r->tasks),
                say_ns(mean, r->task_ns / r->tasks));
}

static void print_locks(const struct profile *p, FILE *out)
{
    const struct profile_row *r = NULL;
    char taken[24], waits[24], waited[16], held[16];
    for (unsigned i = 0; i < MOST_LOCKS && (r = next_row(p, lock_time, r)); i++) {
        if (i == 0)
            fprintf(out, "\n%-24s %11s %12s %10s %10s\n", "lock", "taken", "waited for", "waits", "held");
        fprintf(out, "%-24.24s %11s %12s %10s %10s\n", r->place->brief, say_count(taken, r->locks),
                say_count(waits, r->lock_waits), say_ns(waited, r->lock_ns), say_ns(held, r->lock_held));
    }
}

static void print_scheduler(const struct profile *p, FILE *out)
{
    double steals = 0;
    unsigned levels = 0;
    char many[24];
    for (unsigned i = 0; i < REC_DISTANCES; i++) {
        steals += p->steals[i];
        levels += p->steals[i] > 0;
    }
    fprintf(out, "\nwork taken from other virtual processors: %s", say_count(many, steals));
    for (unsigned i = 0, shown = 0; i < REC_DISTANCES && levels > 1 && shown < MOST_LEVELS; i++)
        if (p->steals[i] > 0)
            fprintf(out, "%s %s", shown++ == 0 ? "\n  near to far:" : ",", say_count(many, p->steals[i]));
    fprintf(out, "\nsleeps without work: %s, %.0f %% of the processors' time\n", say_count(many, p->parks),
            percent(p->state[REC_PARKED], p->vps_time));
}

/* Returns the length of the first word. A number with spaces between groups of digits is one word. */
static int word_length(const char *text)
{
    int n = (int)strcspn(text, " ");
    while (n > 0 && text[n] == ' ' && isdigit((unsigned char)text[n - 1]) && isdigit((unsigned char)text[n + 1]))
        n += 1 + (int)strcspn(text + n + 1, " ");
    return n;
}

/* Prints a text in lines of at most COLUMNS columns; lines after the first begin with two spaces. */
static void print_wrapped(const char *text, FILE *out)
{
    int column = fprintf(out, "-");
    while (*text) {
        int n = word_length(text);
        if (column + 1 + n > COLUMNS) {
            fputs("\n ", out);
            column = 1;
        }
        column += fprintf(out, " %.*s", n, text);
        text += n + (text[n] == ' ');
    }
    fputc('\n', out);
}

void profile_print(const struct profile *p, FILE *out)
{
    struct advice found[ADVICE_MOST];
    unsigned num = advice_find(p, found);
    print_head(p, out);
    print_efficiency(p, out);
    print_regions(p, out);
    print_tasks(p, out);
    print_locks(p, out);
    print_scheduler(p, out);
    fputs(num ? "\nadvice\n" : "", out);
    for (unsigned i = 0; i < num && i < MOST_ADVICE; i++)
        print_wrapped(found[i].text, out);
}
