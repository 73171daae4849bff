/* psrun doctor by files: what a program would load, what is replaced, and what is not replaced and why. */
#include "doctor.h"

#include <stdlib.h>
#include <string.h>

#include "file_pools.h"
#include "psrun.h"

static void list_users(const struct closure *c, const char *name, FILE *out)
{
    const char *comma = "";
    for (unsigned i = 0; i < c->num; i++) {
        const struct object *o = c->object[i];
        for (unsigned k = 0; o->found && k < o->elf.num_needed; k++) {
            if (strcmp(o->elf.needed[k], name) == 0) {
                fprintf(out, "%s%s", comma, base_name(o->name));
                comma = ", ";
            }
        }
    }
    if (!*comma)
        fprintf(out, "(preloaded)");
}

/* Returns the object of c that is needed under this name; NULL if there is none. */
static const struct object *same_request(const struct closure *c, const char *name)
{
    for (unsigned i = 0; i < c->num; i++)
        if (strcmp(c->object[i]->name, name) == 0)
            return c->object[i];
    return NULL;
}

static void describe_runtime(const struct plan *p, const struct object *o, FILE *out)
{
    fprintf(out, "  %s  (%s entry points)\n", o->name, runtime_name(o->runtime));
    fprintf(out, "      file         %s\n      needed by    ", o->elf.path);
    list_users(&p->before, o->name, out);
    const struct object *after = same_request(&p->after, o->name);
    fprintf(out, "\n      replaced     ");
    if (o->runtime == RUNTIME_OTHER)
        fprintf(out, "no: its entry points are neither GCC's nor Clang's\n");
    else if (p->num_lacks)
        fprintf(out, "no: we lack entry points that are in use (below)\n");
    else if (p->status)
        fprintf(out, "no: %s\n", p->why);
    else if (after && after->ours)
        fprintf(out, "yes, by name (%s)\n",
                p->yields    ? "LD_LIBRARY_PATH; LD_PRELOAD, so that calls about a thread are ours as well"
                : p->preload ? "LD_PRELOAD, for it would be found before LD_LIBRARY_PATH"
                             : "LD_LIBRARY_PATH");
    else
        fprintf(out, "yes, by interposition (LD_PRELOAD): the file is loaded, but our symbols come first\n");
}

void doctor_print_program(const struct plan *p, FILE *out)
{
    if (p->file)
        fprintf(out, "program        %s\n", p->file);
    if (p->elf && p->file && strcmp(p->elf, p->file) != 0)
        fprintf(out, "               a script, run by %s\n", p->elf);
    if (p->dropin_dir)
        fprintf(out, "our runtime    %s/libgomp.so.1 (entities: %s%s)\n", p->dropin_dir, p->entities,
                p->for_sanitizer ? ", since it has a sanitizer and thread-local variables" : "");
}

void doctor_print_verdict(const struct plan *p, FILE *out)
{
    const struct object *open = p->pools && !p->only_counts ? file_pools_first_open(&p->after) : NULL;
    if (p->status)
        fprintf(out, "verdict        no: %s\n", p->why);
    else if (p->alone)
        fprintf(out, "verdict        nothing to replace%s: %s\n", p->linked_in ? "" : " (no OpenMP)", p->alone);
    else if (p->library)
        fprintf(out, "verdict        yes: a program that loads it under psrun gets our runtime\n");
    else if (p->num_wanted || closure_has_runtime(&p->before))
        fprintf(out, "verdict        yes: psrun runs it on our runtime\n");
    else if (open)
        fprintf(out, "verdict        yes: no OpenMP, but parallel calls of %s run on our runtime\n", open->name);
    else
        fprintf(out, "verdict        yes: what it loads or starts later gets our runtime\n");
}

static void print_runtimes(const struct plan *p, FILE *out)
{
    unsigned num = 0;
    for (unsigned i = closure_foreign(&p->before, 0); i < p->before.num; i = closure_foreign(&p->before, i + 1)) {
        if (num++ == 0)
            fprintf(out, "OpenMP runtimes among its %u libraries:\n", p->before.num - 1);
        describe_runtime(p, p->before.object[i], out);
    }
    if (num == 0)
        fprintf(out, "OpenMP runtimes among its %u libraries: none%s\n", p->before.num - 1,
                p->alone ? "" : "; ours is preloaded for what it loads or starts later");
}

static void print_entry_points(const struct plan *p, FILE *out)
{
    if (p->num_wanted == 0)
        fprintf(out, "entry points   no OpenMP in the program itself%s\n",
                p->alone ? "" : "; libraries are checked when they are loaded");
    else
        fprintf(out, "entry points   %u in use, %u missing\n", p->num_wanted, p->num_lacks);
    for (unsigned i = 0; i < p->num_lacks && i < PLAN_LACKS_MAX; i++)
        fprintf(out, "  missing      %s%s%s, wanted by %s\n", p->lack[i].symbol, p->lack[i].version ? "@" : "",
                p->lack[i].version ? p->lack[i].version : "", base_name(p->lack[i].user));
    if (p->num_lacks > PLAN_LACKS_MAX)
        fprintf(out, "  missing      and %u more\n", p->num_lacks - PLAN_LACKS_MAX);
}

void doctor_print_files(const struct plan *p, const struct report *others, FILE *out)
{
    doctor_print_program(p, out);
    if (p->before.num) {
        print_runtimes(p, out);
        for (unsigned i = 1; i < p->after.num; i++)
            if (!p->after.object[i]->found)
                fprintf(out, "not found      %s (the program will not start)\n", p->after.object[i]->name);
        print_entry_points(p, out);
        report_print(others, out);
    }
    doctor_print_verdict(p, out);
    if (!p->status && !p->alone && !p->library)
        fprintf(out, "not all        what it loads later is seen when it runs: psrun doctor --run %s\n", p->file);
}

void doctor_read_files(const struct plan *p, struct report *r, bool with_openmp)
{
    const struct elf **file = calloc(p->before.num + 1, sizeof *file);
    unsigned num = 0;
    for (unsigned i = 0; file && i < p->before.num; i++)
        if (p->before.object[i]->found && (with_openmp || p->before.object[i]->runtime == RUNTIME_NONE))
            file[num++] = &p->before.object[i]->elf;
    bool ours = !p->status && !p->alone;
    file_pools_add(report_process(r, 0), file, num,
                   &(struct file_pools_facts){.runtime = ours, .openmp_taken = ours, .takes_jobs = ours && p->pools});
    free(file);
}
