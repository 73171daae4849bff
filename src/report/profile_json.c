/* Prints a profile as JSON; docs/seeing.md has the names. */
#include "advice.h"
#include "output.h"
#include "profile_print.h"

static void print_place(const struct place *place, FILE *out)
{
    fputs("\"place\": ", out);
    output_json_text(out, place->brief);
    const struct {
        const char *name, *text;
    } texts[] = {{"file", place->file}, {"function", place->function}, {"object", place->object}};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        fprintf(out, ", \"%s\": ", texts[i].name);
        if (texts[i].text)
            output_json_text(out, texts[i].text);
        else
            fputs("null", out);
    }
    fprintf(out, ", \"line\": %u", place->line);
}

static void print_states(const double state[REC_STATES], FILE *out)
{
    static const char *const names[REC_STATES] = {
        [REC_IN_RUNTIME] = "runtime_s",  [REC_USEFUL] = "useful_s", [REC_SERIAL] = "serial_s",
        [REC_IMBALANCE] = "imbalance_s", [REC_TASKS] = "tasks_s",   [REC_LOCKS] = "locks_s",
        [REC_OUTSIDE] = "mpi_s",         [REC_PARKED] = "parked_s"};
    for (unsigned i = 0; i < REC_STATES; i++)
        fprintf(out, "%s\"%s\": %.9f", i > 0 ? ", " : "", names[i], state[i] / 1e9);
}

/* Begins the next item of a list. */
static void begin_item(unsigned *num, FILE *out) { fputs((*num)++ > 0 ? ",\n    {" : "\n    {", out); }

static void print_json_regions(const struct profile *p, FILE *out)
{
    unsigned num = 0;
    fputs(",\n  \"regions\": [", out);
    for (const struct profile_row *r = p->row; r < p->row + p->num_rows; r++) {
        if (r->regions == 0)
            continue;
        begin_item(&num, out);
        print_place(r->place, out);
        fprintf(out, ", \"times\": %.0f, \"threads\": %.2f, \"inner\": %.0f, \"one_thread\": %.0f, \"loops\": %.0f, ",
                r->regions, r->threads / r->regions, r->inner, r->serialized, r->loops);
        fprintf(out, "\"iterations\": %.0f, \"wall_s\": %.9f, ", r->iterations, r->wall / 1e9);
        print_states(r->state, out);
        fputc('}', out);
    }
    fputc(']', out);
}

static void print_json_tasks(const struct profile *p, FILE *out)
{
    unsigned num = 0;
    fprintf(out, ",\n  \"tasks\": {\"number\": %.0f, \"mean_ns\": %.1f, \"sizes\": [", p->tasks,
            p->tasks > 0 ? p->task_ns / p->tasks : 0);
    for (unsigned i = 0; i < PROFILE_SIZES; i++) {
        fprintf(out, "%s{\"below_ns\": ", i > 0 ? ", " : "");
        if (profile_size_end(i) > 0)
            fprintf(out, "%.0f", profile_size_end(i));
        else
            fputs("null", out);
        fprintf(out, ", \"number\": %.0f}", p->sizes[i]);
    }
    fputs("], \"places\": [", out);
    for (const struct profile_row *r = p->row; r < p->row + p->num_rows; r++) {
        if (r->tasks == 0 && r->created == 0)
            continue;
        begin_item(&num, out);
        print_place(r->place, out);
        fprintf(out, ", \"made\": %.0f, \"number\": %.0f, \"mean_ns\": %.1f}", r->created, r->tasks,
                r->tasks > 0 ? r->task_ns / r->tasks : 0);
    }
    fputs("]}", out);
}

static void print_json_locks(const struct profile *p, FILE *out)
{
    unsigned num = 0;
    fputs(",\n  \"locks\": [", out);
    for (const struct profile_row *r = p->row; r < p->row + p->num_rows; r++) {
        if (r->locks == 0 && r->lock_waits == 0)
            continue;
        begin_item(&num, out);
        print_place(r->place, out);
        fprintf(out, ", \"taken\": %.0f, \"waits\": %.0f, \"waited_s\": %.9f, \"held_s\": %.9f}", r->locks,
                r->lock_waits, r->lock_ns / 1e9, r->lock_held / 1e9);
    }
    fputc(']', out);
}

static void print_json_advice(const struct profile *p, FILE *out)
{
    struct advice found[ADVICE_MOST];
    unsigned number = advice_find(p, found), num = 0;
    fputs(",\n  \"advice\": [", out);
    for (unsigned i = 0; i < number; i++) {
        begin_item(&num, out);
        fprintf(out, "\"rule\": \"%s\", \"number\": %.4f, \"place\": ", found[i].rule, found[i].number);
        if (found[i].place)
            output_json_text(out, found[i].place->brief);
        else
            fputs("null", out);
        fputs(", \"text\": ", out);
        output_json_text(out, found[i].text);
        fputc('}', out);
    }
    fputc(']', out);
}

void profile_print_json(const struct profile *p, FILE *out)
{
    fputs("{\n  \"command\": ", out);
    output_json_text(out, p->command ? p->command : "");
    fprintf(out, ", \"processes\": %u, \"pid\": %u, \"running\": %u, \"ended_early\": %u,\n", p->processes, p->pid,
            p->running, p->cut);
    fprintf(out, "  \"wall_s\": %.9f, \"vps\": %u, \"processors\": %u, \"quota\": %u,\n", p->wall / 1e9, p->vps,
            p->processors, p->quota);
    fprintf(out, "  \"efficiency\": {\"parallel\": %.4f, \"serial_parts\": %.4f, \"load_balance\": %.4f, ",
            p->efficiency, p->serial_parts, p->balance);
    fprintf(out, "\"serialisation\": %.4f, \"communication\": %.4f, \"runtime\": %.4f},\n  \"time\": {", p->waiting,
            p->communication, p->runtime);
    print_states(p->state, out);
    fputc('}', out);
    print_json_regions(p, out);
    print_json_tasks(p, out);
    print_json_locks(p, out);
    fputs(",\n  \"steals\": [", out);
    for (unsigned i = 0; i < PROFILE_DISTANCES; i++)
        fprintf(out, "%s%.0f", i > 0 ? ", " : "", p->steals[i]);
    fprintf(out, "], \"parks\": %.0f, \"spares\": %.0f", p->parks, p->spares);
    print_json_advice(p, out);
    fputs("\n}\n", out);
}
