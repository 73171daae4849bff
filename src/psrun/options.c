/* psrun's options, and the environment variables with the same meaning. See psrun.h. */
#include "trace.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char usage[] =
    "Usage: psrun [options] program [arguments...]\n"
    "  or:  psrun [options] doctor program [arguments...]\n"
    "  or:  psrun dump PID\n"
    "  or:  psrun stats PID\n"
    "  or:  psrun top [--json] [--once]\n"
    "  or:  psrun report TRACE... -o PAGE.html\n"
    "\n"
    "Runs a program on the psthreads OpenMP runtime. doctor lists the program's thread pools: what is replaced, what\n"
    "not, and why (psrun doctor --help). dump prints what the threads of a running program do and wait for. stats\n"
    "prints the profile of a program that runs under psrun --stats. top shows the processes that share processors:\n"
    "with --once one table, with --json a line a second. report makes a page of traces.\n"
    "\n"
    "Options:\n"
    "  -n, --threads N    threads of a parallel region, or a list, a number a level: 4,4 (OMP_NUM_THREADS)\n"
    "      --ee KIND      what carries OpenMP threads: psthreads (user-level threads; the default) or\n"
    "                     pthreads (kernel threads, the baseline, and what a program with an address or\n"
    "                     thread sanitizer and thread-local variables gets); also PSTHREADS_EE\n"
    "      --mpi WHAT     auto (the default): threads that wait in Open MPI or MPICH hold no virtual processor;\n"
    "                     off: MPI's calls stay as they are; also PSTHREADS_MPI\n"
    "      --pools WHAT   whose thread pools run on the same virtual processors: a list of openblas and fftw\n"
    "                     (the default: both), or none; also PSTHREADS_POOLS\n"
    "      --trace FILE   write a timeline of the run to this file, for ui.perfetto.dev; also PSTHREADS_TRACE\n"
    "      --stats[=FILE]\n"
    "                     print a profile of the run when it ends, or write it to this file as JSON; also\n"
    "                     PSTHREADS_STATS\n"
    "      --trace-limit SIZE\n"
    "                     keep so many bytes of events (64M, 1G; the default is 256M): older ones go; also\n"
    "                     PSTHREADS_TRACE_LIMIT\n"
    "      --dropin DIR   take the runtime from this folder\n"
    "  -v, --verbose      say what is done; the runtime says what it finds (PSTHREADS_VERBOSE)\n"
    "  -V, --version      print the version\n"
    "  -h, --help         print this\n"
    "\n"
    "Exit status: the program's; 125 psrun was used wrongly or finds no runtime; 126 the program cannot run on\n"
    "our runtime; 127 no such program, or it needs a library that is not there or OpenMP entry points that\n"
    "we do not have.\n";

/* Returns whether the text is a list such as "4" or "4,2": numbers from 1 to 2^20, separated by commas. */
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

/* Returns whether the text is "none", or a list such as "openblas,fftw". */
static bool is_pool_list(const char *text)
{
    static const char *const names[] = {"openblas", "fftw"};
    bool known = strcmp(text, "none") == 0;
    for (size_t n; !known; text += n + 1) {
        n = strcspn(text, ",");
        for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
            known |= strlen(names[i]) == n && memcmp(text, names[i], n) == 0;
        if (!known || !text[n])
            break;
        known = false;
    }
    return known;
}

const char *setting(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static int read_options(int argc, char **argv, struct wishes *w)
{
    enum { OPT_EE = 256, OPT_DROPIN, OPT_MPI, OPT_POOLS, OPT_TRACE, OPT_STATS, OPT_LIMIT };
    static const struct option options[] = {
        {"threads", required_argument, NULL, 'n'},
        {"ee", required_argument, NULL, OPT_EE},
        {"dropin", required_argument, NULL, OPT_DROPIN},
        {"mpi", required_argument, NULL, OPT_MPI},
        {"pools", required_argument, NULL, OPT_POOLS},
        {"trace", required_argument, NULL, OPT_TRACE},
        {"stats", optional_argument, NULL, OPT_STATS},
        {"trace-limit", required_argument, NULL, OPT_LIMIT},
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
        case OPT_POOLS:
            w->pools = optarg;
            w->pools_from_environment = false;
            break;
        case OPT_TRACE:
            w->trace = optarg;
            w->traces_by_option = true;
            break;
        case OPT_STATS:
            w->stats = optarg ? optarg : "";
            w->traces_by_option = true;
            break;
        case OPT_LIMIT:
            w->trace_limit = optarg;
            w->limit_from_environment = false;
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

/* Checks the options and the variables; PSTHREADS_EE was checked before the options were read. After a mistake in a
 * variable psrun warns and uses the default (for PSTHREADS_POOLS src/pools does both). After a mistake on the command
 * line returns EXIT_USAGE, with which psrun ends. */
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
    if (w->pools && !w->pools_from_environment && !is_pool_list(w->pools)) {
        fprintf(stderr, "psrun: --pools %s: there are none, or a list of openblas and fftw\n", w->pools);
        return EXIT_USAGE;
    }
    uint64_t bytes;
    if (!w->trace && w->limit_from_environment)
        w->trace_limit = NULL; /* an outer psrun may have set this variable for its recorder */
    if (w->trace_limit && !trace_size(w->trace_limit, &bytes)) {
        fprintf(stderr, "psrun: %s%s: wanted a size such as 64M, of 1024G at most%s\n",
                w->limit_from_environment ? "PSTHREADS_TRACE_LIMIT=" : "--trace-limit ", w->trace_limit,
                w->limit_from_environment ? "; 256M is used" : "");
        if (!w->limit_from_environment)
            return EXIT_USAGE;
        w->trace_limit = NULL;
    }
    if (w->trace_limit && !w->trace)
        fprintf(stderr, "psrun: --trace-limit without --trace has no effect\n");
    if (w->trace && !*w->trace) {
        fprintf(stderr, "psrun: --trace: wanted a file's name\n");
        return EXIT_USAGE;
    }
    return GO_ON;
}

/* Returns "" (the screen) if PSTHREADS_STATS says yes, NULL if it says no or is not set, otherwise the file's name that
 * it has. */
static const char *stats_setting(void)
{
    static const char *const yes[] = {"on", "1", "true", "yes"}, *const no[] = {"off", "0", "false", "no"};
    const char *value = setting("PSTHREADS_STATS");
    for (unsigned i = 0; value && i < sizeof yes / sizeof yes[0]; i++) {
        if (strcasecmp(value, yes[i]) == 0)
            return "";
        if (strcasecmp(value, no[i]) == 0)
            return NULL;
    }
    return value;
}

int wishes_read(int argc, char **argv, struct wishes *w)
{
    *w = (struct wishes){
        .entities = setting("PSTHREADS_EE"), .mpi = setting("PSTHREADS_MPI"), .pools = setting("PSTHREADS_POOLS")};
    w->trace = setting("PSTHREADS_TRACE");
    w->stats = stats_setting();
    w->trace_limit = setting("PSTHREADS_TRACE_LIMIT");
    w->limit_from_environment = w->trace_limit != NULL;
    w->pools_from_environment = w->pools != NULL;
    w->mpi_from_environment = w->mpi != NULL;
    if (w->entities && !is_entities(w->entities)) {
        fprintf(stderr, "psrun: PSTHREADS_EE=%s: there are psthreads and pthreads; psthreads is used\n", w->entities);
        w->entities = NULL;
    }
    int status = read_options(argc, argv, w);
    return status == GO_ON ? check_wishes(w) : status;
}
