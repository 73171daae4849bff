/* psrun: runs an unmodified OpenMP program on our runtime. Sets the loader's variables (plan.h says which, and why),
 * then becomes the program: exit status and signals are the program's own. */
#include "psrun.h"
#include "thread_pools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void report_plan(const struct plan *p)
{
    fprintf(stderr, "psrun: runtime %s/libgomp.so.1, entities: %s\n", p->dropin_dir, p->entities);
    if (p->alone)
        fprintf(stderr, "psrun: %s runs as it is: %s\n", p->file, p->alone);
    else
        fprintf(stderr, "psrun: %s%s%s: %u entry points in use, all there\n", p->file, p->script ? ", run by " : "",
                p->script ? p->elf : "", p->num_wanted);
    for (unsigned i = closure_foreign(&p->before, 0); i < p->before.num; i = closure_foreign(&p->before, i + 1))
        fprintf(stderr, "psrun: replaces %s (%s)\n", p->before.object[i]->name, p->before.object[i]->elf.path);
    if (!p->alone && closure_foreign(&p->before, 0) == p->before.num)
        fprintf(stderr, "psrun: it needs no OpenMP runtime when it starts; what it loads or starts later gets ours\n");
    fprintf(stderr, "psrun: LD_LIBRARY_PATH=%s\n", p->library_path);
    if (p->mpi)
        fprintf(stderr, "psrun: MPI: %s; threads that wait in it hold no virtual processor (--mpi=off: they do)\n",
                strcmp(p->mpi, "openmpi") == 0 ? "Open MPI" : "MPICH");
    const struct object *open = p->pools ? thread_pools_first_open(&p->after) : NULL;
    if (open)
        fprintf(stderr, "psrun: %s lets others run its parallel jobs: they run on our runtime (--pools=none: not)\n",
                open->name);
    if (p->preload_value)
        fprintf(stderr, "psrun: LD_PRELOAD=%s\n", p->preload_value);
}

/* Said by one rank of a job. */
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

/* PSTHREADS_EE: what was asked for, for what the program starts; not set: each psrun decides. */
static void set_environment(const struct plan *p, const struct wishes *w)
{
    if (setenv("LD_LIBRARY_PATH", p->library_path, 1) ||
        (w->entities ? setenv("PSTHREADS_EE", w->entities, 1) : unsetenv("PSTHREADS_EE")) ||
        (p->preload_value && setenv("LD_PRELOAD", p->preload_value, 1)) ||
        (w->pools && setenv("PSTHREADS_POOLS", w->pools, 1)) ||
        (w->threads && setenv("OMP_NUM_THREADS", w->threads, 1)) ||
        (w->verbose && setenv("PSTHREADS_VERBOSE", "1", 1))) {
        fprintf(stderr, "psrun: cannot set the environment: %s\n", strerror(errno));
        exit(EXIT_USAGE);
    }
    if (p->preload_value && !*p->preload_value)
        unsetenv("LD_PRELOAD");
}

/* Whether the next argument is this command; after "--" it is a program of that name. */
static bool is_command(int argc, char **argv, const char *name)
{
    return optind < argc && strcmp(argv[optind], name) == 0 && strcmp(argv[optind - 1], "--") != 0;
}

static int become_program(const struct plan *p, char **argv)
{
    execvp(p->file, argv); /* for its shell; the name has a slash */
    int error = errno;
    fprintf(stderr, "psrun: %s: %s\n", p->file, strerror(error));
    return error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

int main(int argc, char **argv)
{
    struct wishes w;
    int status = read_wishes(argc, argv, &w);
    if (status != GO_ON)
        return status;
    bool examine = is_command(argc, argv, "doctor");
    optind += examine;
    if (!examine && is_command(argc, argv, "dump")) {
        if (argc - optind != 2) {
            fprintf(stderr, "psrun: dump: wanted a process's number\n");
            return EXIT_USAGE;
        }
        return dump_pid(argv[optind + 1]);
    }
    if (optind >= argc) {
        fprintf(stderr, "psrun: no program given; try psrun --help\n");
        return EXIT_USAGE;
    }
    static struct plan plan;
    plan.no_mpi = w.mpi && strcmp(w.mpi, "off") == 0;
    plan.no_pools = w.pools && strcmp(w.pools, "none") == 0;
    plan_make(&plan, argv[optind], w.entities, w.dropin_dir, examine || w.verbose, examine);
    if (examine)
        return doctor(&plan);
    if (plan.status) {
        fprintf(stderr, "psrun: %s\n", plan.why);
        return plan.status;
    }
    if (plan.for_sanitizer)
        fprintf(stderr,
                "psrun: %s has a sanitizer, whose state user-level threads share, and thread-local variables: kernel "
                "threads are used (--ee psthreads: not)\n",
                argv[optind]);
    if (plan.mpi_without_layer)
        report_no_layer(&plan);
    if (w.verbose)
        report_plan(&plan);
    set_environment(&plan, &w);
    return become_program(&plan, argv + optind);
}
