/* The values of the loader's variables: the drop-in, the layers, and what the variables had before. See
 * plan_parts.h. */
#include "plan_parts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POOLS_FILE "libpsthreads-pools.so"

/* Returns "first:old" without the entries of `old` that an outer psrun has put there, which are recognised by their
 * ends. For the loader an empty folder is the current one, so it is kept. */
char *plan_put_first(const char *first, const char *old, const char *separators, bool files)
{
    char *value = plan_text("%s", first);
    for (const char *at = old && *old ? old : NULL; at;) {
        size_t n = strcspn(at, separators);
        const char *leaf = files ? "/" DROPIN_LINK : "";
        char *entry = n > 0 || files ? plan_text("%.*s", (int)n, at) : plan_text(".");
        char *a = plan_text("lib/dropin%s", leaf), *b = plan_text("lib/dropin-pthreads%s", leaf);
        char *c = plan_text("psthreads/dropin%s", leaf), *d = plan_text("psthreads/dropin-pthreads%s", leaf);
        const char *const ends[] = {a,
                                    b,
                                    c,
                                    d,
                                    first,
                                    files ? "/" POOLS_FILE : "",
                                    files ? "/libpsthreads-mpi-openmpi.so" : "",
                                    files ? "/libpsthreads-mpi-mpich.so" : ""};
        bool drop = !*entry;
        for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++) {
            size_t m = strlen(ends[i]);
            drop = drop || (m > 0 && n >= m && strcmp(entry + n - m, ends[i]) == 0);
        }
        if (!drop) {
            char *longer = *value ? plan_text("%s:%s", value, entry) : plan_text("%s", entry);
            free(value);
            value = longer;
        }
        free(entry);
        free(a), free(b), free(c), free(d);
        at = at[n] ? at + n + 1 : NULL;
    }
    return value;
}

char *plan_layer_file(const struct plan *p, const char *folder, const char *name)
{
    char *dir = plan_text("%s/../%s", p->dropin_dir, folder), *real = realpath(dir, NULL);
    char *file = real ? plan_text("%s/%s", real, name) : NULL;
    free(dir);
    free(real);
    if (file && access(file, R_OK) == 0)
        return file;
    free(file);
    return NULL;
}

/* --- other libraries' thread pools --- */

void plan_find_pools(struct plan *p)
{
    p->pools = p->no_pools || strcmp(p->entities, "psthreads") != 0 ? NULL : plan_layer_file(p, "pools", POOLS_FILE);
}

void plan_preload_pools(struct plan *p)
{
    size_t n = strcspn(p->preload_value, ":");
    char *value = plan_text("%.*s:%s%s", (int)n, p->preload_value, p->pools, p->preload_value + n);
    free(p->preload_value);
    p->preload_value = value;
}

/* Returns whether the program has AddressSanitizer's runtime: this ends a program in which another library is preloaded
 * before it. */
static bool has_address_sanitizer(const struct closure *c)
{
    for (unsigned i = 1; i < c->num; i++)
        if (c->object[i]->found && elf_defines(&c->object[i]->elf, "__asan_init", NULL))
            return true;
    return false;
}

bool plan_add_census(struct plan *p)
{
    if (p->pools)
        return true;
    p->pools = has_address_sanitizer(&p->after) ? NULL : plan_layer_file(p, "pools", POOLS_FILE);
    if (!p->pools)
        return false;
    p->only_counts = true;
    const char *others = p->preload_value ? p->preload_value : getenv("LD_PRELOAD");
    if (p->preload)
        plan_preload_pools(p);
    else
        p->preload_value = plan_text("%s%s%s", p->pools, others && *others ? ":" : "", others ? others : "");
    return true;
}

/* --- MPI --- */

static bool is_linked_to(const struct closure *c, const char *name)
{
    for (unsigned i = 1; i < c->num; i++)
        if (strcmp(c->object[i]->name, name) == 0)
            return true;
    return false;
}

/* Returns the MPI that the program uses, or the processes that it starts; NULL: none. It is recognised by the libraries
 * that the program is linked to, by the launcher that it is, or by the launcher that has started it. */
static const char *which_mpi(const struct plan *p)
{
    char real[PATH_MAX];
    const struct closure *c = &p->after;
    if (is_linked_to(c, "libmpi.so.40"))
        return "openmpi";
    if (is_linked_to(c, "libmpich.so.12") || is_linked_to(c, "libmpi.so.12"))
        return "mpich";
    if (is_linked_to(c, "libopen-rte.so.40"))
        return "openmpi";
    const char *name = realpath(p->elf, real) ? strrchr(real, '/') + 1 : "";
    if (strcmp(name, "mpiexec.hydra") == 0 || strcmp(name, "hydra_pmi_proxy") == 0)
        return "mpich";
    if (getenv("OMPI_COMM_WORLD_SIZE"))
        return "openmpi";
    return getenv("MPI_LOCALNRANKS") && getenv("PMI_SIZE") ? "mpich" : NULL;
}

/* Returns whether the object lies between the program and MPI, as profilers do: it defines MPI's functions, but none of
 * the functions that it would call for them (PMPI_Recv). */
static bool is_mpi_tool(const struct elf *e)
{
    bool any = false;
    for (size_t i = e->end_wanted; i < e->num_sym; i++) {
        const char *name = elf_sym_given(e, i) ? elf_sym_name(e, i) : "";
        if (strncmp(name, "PMPI_", 5) == 0)
            return false;
        any = any || (strncmp(name, "MPI_", 4) == 0 && name[4] >= 'A' && name[4] <= 'Z' && name[5] >= 'a');
    }
    return any;
}

/* Returns the files of the program's libraries that lie between it and MPI, each followed by ':'. A preloaded layer
 * would come before them. So they are preloaded themselves, before the layer. */
static char *mpi_tools(const struct closure *c)
{
    char *value = plan_text("%s", "");
    for (unsigned i = 1; i < c->num; i++) {
        const struct object *o = c->object[i];
        if (!o->found || strstr(o->name, "libpsthreads-mpi-") || strpbrk(o->elf.path, ": ;") || !is_mpi_tool(&o->elf))
            continue;
        char *longer = plan_text("%s%s:", value, o->elf.path);
        free(value);
        value = longer;
    }
    return value;
}

/* Puts the layer last among the preloads, after tools that lie between the program and MPI (src/mpi/tools.c). */
void plan_preload_mpi(struct plan *p, const char *cleaned)
{
    const char *mpi = which_mpi(p);
    if (!mpi || p->no_mpi || strcmp(p->entities, "psthreads") != 0)
        return;
    char *name = plan_text("libpsthreads-mpi-%s.so", mpi), *file = plan_layer_file(p, "mpi", name);
    if (file) {
        const char *others = p->preload_value ? p->preload_value : cleaned;
        char *tools = mpi_tools(&p->after);
        char *value = plan_text("%s%s%s%s", others, *others ? ":" : "", tools, file);
        free(tools);
        free(p->preload_value);
        p->preload_value = value;
        p->mpi = mpi;
    } else {
        p->mpi_without_layer = mpi;
    }
    free(name);
    free(file);
}
