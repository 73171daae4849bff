/* psrun doctor: what a program would load, what is replaced, and what is not and why. Reads a plan; changes nothing. */
#include "psrun.h"

#include <stdio.h>
#include <string.h>

static void list_users(const struct closure *c, const char *name)
{
    const char *comma = "";
    for (unsigned i = 0; i < c->num; i++) {
        const struct object *o = c->object[i];
        for (unsigned k = 0; o->found && k < o->elf.num_needed; k++) {
            if (strcmp(o->elf.needed[k], name) == 0) {
                printf("%s%s", comma, base_name(o->name));
                comma = ", ";
            }
        }
    }
    if (!*comma)
        printf("(preloaded)");
}

/* The same request in the closure that will be; NULL: it is not there any more. */
static const struct object *same_request(const struct closure *c, const char *name)
{
    for (unsigned i = 0; i < c->num; i++)
        if (strcmp(c->object[i]->name, name) == 0)
            return c->object[i];
    return NULL;
}

static void describe_runtime(const struct plan *p, const struct object *o)
{
    printf("  %s  (%s entry points)\n", o->name, runtime_name(o->runtime));
    printf("      file         %s\n      needed by    ", o->elf.path);
    list_users(&p->before, o->name);
    const struct object *after = same_request(&p->after, o->name);
    printf("\n      replaced     ");
    if (o->runtime == RUNTIME_OTHER)
        printf("no: its entry points are neither GCC's nor Clang's\n");
    else if (p->num_lacks)
        printf("no: we lack entry points that are in use (below)\n");
    else if (p->status)
        printf("no: %s\n", p->why);
    else if (after && after->ours)
        printf("yes, by name (%s)\n", p->yields
                                          ? "LD_LIBRARY_PATH; LD_PRELOAD, so that calls about a thread are ours as well"
                                      : p->preload ? "LD_PRELOAD, for it would be found before LD_LIBRARY_PATH"
                                                   : "LD_LIBRARY_PATH");
    else
        printf("yes, by interposition (LD_PRELOAD): the file is loaded, but our symbols come first\n");
}

int doctor(const struct plan *p)
{
    if (p->file)
        printf("program        %s\n", p->file);
    if (p->elf && p->file && strcmp(p->elf, p->file) != 0)
        printf("               a script, run by %s\n", p->elf);
    if (p->dropin_dir)
        printf("our runtime    %s/libgomp.so.1 (entities: %s%s)\n", p->dropin_dir, p->entities,
               p->for_sanitizer ? ", since it has a sanitizer and thread-local variables" : "");
    if (p->before.num) {
        unsigned num = 0;
        for (unsigned i = closure_foreign(&p->before, 0); i < p->before.num; i = closure_foreign(&p->before, i + 1)) {
            if (num++ == 0)
                printf("OpenMP runtimes among its %u libraries:\n", p->before.num - 1);
            describe_runtime(p, p->before.object[i]);
        }
        if (num == 0)
            printf("OpenMP runtimes among its %u libraries: none%s\n", p->before.num - 1,
                   p->alone ? "" : "; ours is preloaded for what it loads or starts later");
        for (unsigned i = 1; i < p->after.num; i++)
            if (!p->after.object[i]->found)
                printf("not found      %s (the program will not start)\n", p->after.object[i]->name);
        printf("entry points   %u in use, %u missing\n", p->num_wanted, p->num_lacks);
        for (unsigned i = 0; i < p->num_lacks && i < PLAN_LACKS_MAX; i++)
            printf("  missing      %s%s%s, wanted by %s\n", p->lack[i].symbol, p->lack[i].version ? "@" : "",
                   p->lack[i].version ? p->lack[i].version : "", base_name(p->lack[i].user));
        if (p->num_lacks > PLAN_LACKS_MAX)
            printf("  missing      and %u more\n", p->num_lacks - PLAN_LACKS_MAX);
    }
    if (p->status)
        printf("verdict        no: %s\n", p->why);
    else if (p->alone)
        printf("verdict        yes: it runs as it is (%s)\n", p->alone);
    else
        printf("verdict        yes: %s\n",
               p->library ? "a program that loads it under psrun gets our runtime" : "psrun runs it on our runtime");
    return p->status ? 1 : 0;
}
