/* psrun: runs an unmodified OpenMP program on our runtime. Sets the loader's variables (plan.h says which, and why),
 * then becomes the program: exit status and signals are the program's own. */
#include "psrun.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "psrun [options] program [arguments...]   run a program on the psthreads OpenMP runtime\n"
    "psrun [options] doctor program           tell what would be replaced, what not, and why\n"
    "psrun dump PID                           print what the threads of a running program do and wait for\n"
    "\n"
    "  -n, --threads N    threads of a parallel region, or a list, a number a level: 4,4 (OMP_NUM_THREADS)\n"
    "      --ee KIND      what carries OpenMP threads: psthreads (user-level threads; the default) or\n"
    "                     pthreads (kernel threads, the baseline, and what a program with an address or\n"
    "                     thread sanitizer and thread-local variables gets); also PSTHREADS_EE\n"
    "      --mpi WHAT     auto (the default): threads that wait in Open MPI or MPICH hold no virtual processor;\n"
    "                     off: MPI's calls stay as they are; also PSTHREADS_MPI\n"
    "      --dropin DIR   take the runtime from this folder\n"
    "  -v, --verbose      say what is done; the runtime says what it finds (PSTHREADS_VERBOSE)\n"
    "  -V, --version      print the version\n"
    "  -h, --help         print this\n"
    "\n"
    "Exit status: the program's; 125 psrun was used wrongly or finds no runtime; 126 the program cannot run on\n"
    "our runtime; 127 no such program, or it needs a library that is not there or OpenMP entry points that\n"
    "we do not have.\n";

const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "4" or "4,2": numbers from 1, separated by commas. */
static bool is_thread_list(const char *text)
{
    for (;;) {
        char *end;
        errno = 0;
        long n = strtol(text, &end, 10);
        if (end == text || *text < '0' || *text > '9' || errno || n < 1 || n > 1 << 20)
            return false;
        if (*end == '\0')
            return true;
        if (*end != ',')
            return false;
        text = end + 1;
    }
}

static bool is_entities(const char *text) { return strcmp(text, "psthreads") == 0 || strcmp(text, "pthreads") == 0; }

/* A variable that is set to nothing counts as not set. */
static const char *setting(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
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

/* `entities`: what was asked for, for what the program starts; NULL: each psrun decides. */
static void set_environment(const struct plan *p, const char *entities, const char *threads, bool verbose)
{
    if (setenv("LD_LIBRARY_PATH", p->library_path, 1) ||
        (entities ? setenv("PSTHREADS_EE", entities, 1) : unsetenv("PSTHREADS_EE")) ||
        (p->preload_value && setenv("LD_PRELOAD", p->preload_value, 1)) ||
        (threads && setenv("OMP_NUM_THREADS", threads, 1)) || (verbose && setenv("PSTHREADS_VERBOSE", "1", 1))) {
        fprintf(stderr, "psrun: cannot set the environment: %s\n", strerror(errno));
        exit(EXIT_USAGE);
    }
    if (p->preload_value && !*p->preload_value)
        unsetenv("LD_PRELOAD");
}

/* What the command line and the environment ask for; NULL: nothing. */
struct wishes {
    const char *threads, *dropin_dir, *entities, *mpi;
    bool mpi_from_environment, verbose;
};

enum { GO_ON = -1 }; /* else the exit status */

static int read_options(int argc, char **argv, struct wishes *w)
{
    enum { OPT_EE = 256, OPT_DROPIN, OPT_MPI };
    static const struct option options[] = {
        {"threads", required_argument, NULL, 'n'},
        {"ee", required_argument, NULL, OPT_EE},
        {"dropin", required_argument, NULL, OPT_DROPIN},
        {"mpi", required_argument, NULL, OPT_MPI},
        {"verbose", no_argument, NULL, 'v'},
        {"version", no_argument, NULL, 'V'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    for (int c; (c = getopt_long(argc, argv, "+n:vVh", options, NULL)) != -1;) {
        switch (c) {
        case 'n':
            w->threads = optarg;
            break;
        case OPT_EE:
            w->entities = optarg;
            break;
        case OPT_DROPIN:
            w->dropin_dir = optarg;
            break;
        case OPT_MPI:
            w->mpi = optarg;
            w->mpi_from_environment = false;
            break;
        case 'v':
            w->verbose = true;
            break;
        case 'V':
            printf("psrun (psthreads) %s\n", PS_VERSION);
            return 0;
        case 'h':
            fputs(usage, stdout);
            return 0;
        default:
            fprintf(stderr, "psrun: try psrun --help\n");
            return EXIT_USAGE;
        }
    }
    return GO_ON;
}

/* A mistake in a variable is said, and the default used; one on the command line ends psrun. */
static int check_wishes(struct wishes *w)
{
    if (w->threads && !is_thread_list(w->threads)) {
        fprintf(stderr, "psrun: -n %s: wanted a number of threads from 1, or a list such as 4,2\n", w->threads);
        return EXIT_USAGE;
    }
    if (w->entities && !is_entities(w->entities)) {
        fprintf(stderr, "psrun: --ee %s: there are psthreads and pthreads\n", w->entities);
        return EXIT_USAGE;
    }
    if (w->mpi && strcmp(w->mpi, "auto") != 0 && strcmp(w->mpi, "off") != 0) {
        fprintf(stderr, "psrun: %s%s: there are auto and off%s\n",
                w->mpi_from_environment ? "PSTHREADS_MPI=" : "--mpi ", w->mpi,
                w->mpi_from_environment ? "; auto is used" : "");
        if (!w->mpi_from_environment)
            return EXIT_USAGE;
        w->mpi = NULL;
    }
    return GO_ON;
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
    struct wishes w = {.entities = setting("PSTHREADS_EE"), .mpi = setting("PSTHREADS_MPI")};
    w.mpi_from_environment = w.mpi != NULL;
    if (w.entities && !is_entities(w.entities)) {
        fprintf(stderr, "psrun: PSTHREADS_EE=%s: there are psthreads and pthreads; psthreads is used\n", w.entities);
        w.entities = NULL;
    }
    int status = read_options(argc, argv, &w);
    if (status == GO_ON)
        status = check_wishes(&w);
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
    set_environment(&plan, w.entities, w.threads, w.verbose);
    return become_program(&plan, argv + optind);
}
