/* Turns a plan into a running program: messages, environment, start. See psrun.h. */
#include "psrun.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file_pools.h"

void start_options(struct plan *p, const struct wishes *w)
{
    p->no_mpi = w->mpi && strcmp(w->mpi, "off") == 0;
    p->no_pools = w->pools && strcmp(w->pools, "none") == 0;
    p->asks_pools = w->pools && !p->no_pools;
}

static void report_plan(const struct plan *p)
{
    fprintf(stderr, "psrun: runtime %s/libgomp.so.1, entities: %s\n", p->dropin_dir, p->entities);
    if (p->alone)
        fprintf(stderr, "psrun: %s: nothing to replace%s: %s\n", p->file, p->linked_in ? "" : " (no OpenMP)", p->alone);
    else if (!p->num_wanted)
        fprintf(stderr, "psrun: %s%s%s: no OpenMP in the program itself; libraries are checked when they are loaded\n",
                p->file, p->script ? ", run by " : "", p->script ? p->elf : "");
    else
        fprintf(stderr, "psrun: %s%s%s: %u entry points in use, all there\n", p->file, p->script ? ", run by " : "",
                p->script ? p->elf : "", p->num_wanted);
    for (unsigned i = closure_foreign(&p->before, 0); i < p->before.num; i = closure_foreign(&p->before, i + 1))
        fprintf(stderr, "psrun: replaces %s (%s)\n", p->before.object[i]->name, p->before.object[i]->elf.path);
    fprintf(stderr, "psrun: LD_LIBRARY_PATH=%s\n", p->library_path);
    if (p->mpi)
        fprintf(stderr, "psrun: MPI: %s; threads that wait in it hold no virtual processor (--mpi=off: they do)\n",
                strcmp(p->mpi, "openmpi") == 0 ? "Open MPI" : "MPICH");
    const struct object *open = p->pools ? file_pools_first_open(&p->after) : NULL;
    if (open)
        fprintf(stderr, "psrun: %s lets others run its parallel jobs: they run on our runtime (--pools=none: not)\n",
                open->name);
    if (p->preload_value)
        fprintf(stderr, "psrun: LD_PRELOAD=%s\n", p->preload_value);
}

/* Warns that the layer over MPI is not installed. Of the ranks of a job only rank 0 does so. */
static void report_no_layer(const struct plan *p)
{
    static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK"};
    for (unsigned i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        const char *rank = setting(ranks[i]);
        if (rank && strcmp(rank, "0") != 0)
            return;
    }
    bool open = strcmp(p->mpi_without_layer, "openmpi") == 0;
    fprintf(stderr,
            "psrun: %s uses %s, and the layer over it is not built here: a thread that waits in MPI holds its virtual "
            "processor. Install %s and build again (--mpi=off: go on as it is)\n",
            p->file, open ? "Open MPI" : "MPICH", open ? "libopenmpi-dev" : "libmpich-dev");
}

/* Sets this process's environment for the program. PSTHREADS_EE gets what the user asked for, so that the program's
 * children get the same; if the user asked for nothing, each psrun decides by itself. */
void start_environment(const struct plan *p, const struct wishes *w)
{
    if (setenv("LD_LIBRARY_PATH", p->library_path, 1) ||
        (w->entities ? setenv("PSTHREADS_EE", w->entities, 1) : unsetenv("PSTHREADS_EE")) ||
        (p->preload_value && setenv("LD_PRELOAD", p->preload_value, 1)) ||
        (p->only_counts ? setenv("PSTHREADS_POOLS", "none", 1) : w->pools && setenv("PSTHREADS_POOLS", w->pools, 1)) ||
        (w->threads && setenv("OMP_NUM_THREADS", w->threads, 1)) ||
        (w->verbose && setenv("PSTHREADS_VERBOSE", "1", 1))) {
        fprintf(stderr, "psrun: cannot set the environment: %s\n", strerror(errno));
        exit(EXIT_USAGE);
    }
    if (p->preload_value && !*p->preload_value)
        unsetenv("LD_PRELOAD");
}

int start_program(const struct plan *p, char **argv)
{
    /* execvp starts a shell for scripts without "#!"; the name has a slash, so PATH is not searched */
    execvp(p->file, argv);
    int error = errno;
    fprintf(stderr, "psrun: %s: %s\n", p->file, strerror(error));
    return error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

void start_report(const struct plan *p, const struct wishes *w)
{
    if (p->for_sanitizer)
        fprintf(stderr,
                "psrun: %s has a sanitizer, whose state user-level threads share, and thread-local variables: kernel "
                "threads are used (--ee psthreads: not)\n",
                p->file);
    if (p->mpi_without_layer)
        report_no_layer(p);
    if (w->verbose)
        report_plan(p);
}
