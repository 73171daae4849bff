/* See arguments.h. */
#include "arguments.h"
#include "program.h"

#include <errno.h>
#include <getopt.h>
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool arguments_silent;

static const char usage[] =
    "Usage: %s [OPTION...] FILE.csv|FILE.npy\n"
    "\n"
    "Groups points by hierarchical clustering with representatives (CURE); labels, one a line, on standard output.\n"
    "\n"
    "Options:\n"
    "  --k K                 clusters that remain (10, or as many as there are points)\n"
    "  --representatives C   scattered points that stand for a cluster (10)\n"
    "  --shrink A            how far they are moved towards the cluster's centre, 0 to 1 (0.3)\n"
    "  --outliers O          remove: small clusters that grow slowly; their points join the closest cluster at the "
    "end\n"
    "                        (default); keep: they count as all others\n"
    "  --variant V           lazy: neighbours are looked for as late as can be (default); nested: both loops of the\n"
    "                        update phase parallel; tasks: by work queues (not over MPI); sequential\n"
    "  --threads T           threads of the outer loop (OMP_NUM_THREADS, or the processors)\n"
    "  --inner T             threads of the inner loop (1; the papers' figure: the same as --threads)\n"
    "  --plot OUT.png        the clusters as a picture (not over MPI)\n"
    "  --times               a line of JSON on standard error: seconds of the phases\n"
    "  --help                prints this\n"
    "  --version             the version\n"
    "\n"
    "Exit status: 0; 1 after a line that says what is wrong with the arguments, the input or the output.\n";

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
    va_list arguments;

    if (arguments_silent)
        return;
    fprintf(stderr, "%s: ", PROGRAM_NAME);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

static int bad_option(const char *name, const char *value, const char *expected)
{
    say("--%s %s: expected %s", name, value, expected);
    return 1;
}

static bool read_count(const char *text, unsigned long most, unsigned long *value)
{
    char *end;

    errno = 0;
    *value = strtoul(text, &end, 10);
    return end != text && !*end && !errno && text[0] != '-' && *value >= 1 && *value <= most;
}

static int read_variant(const char *text, enum cure_variant *variant)
{
    static const char *const names[] = {"sequential", "nested", "tasks", "lazy"};

    for (unsigned v = 0; v < 4; v++) {
        if (strcmp(text, names[v]) == 0) {
            *variant = (enum cure_variant)v;
            return 0;
        }
    }
    return bad_option("variant", text, "lazy, nested, tasks or sequential");
}

int arguments_read(int argc, char **argv, struct arguments *a)
{
    static const struct option options[] = {
        {"k", required_argument, NULL, 'k'},       {"representatives", required_argument, NULL, 'c'},
        {"shrink", required_argument, NULL, 'a'},  {"outliers", required_argument, NULL, 'o'},
        {"variant", required_argument, NULL, 'v'}, {"threads", required_argument, NULL, 't'},
        {"inner", required_argument, NULL, 'i'},   {"plot", required_argument, NULL, 'p'},
        {"times", no_argument, NULL, 'T'},         {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},       {NULL, 0, NULL, 0},
    };
    unsigned long count = 0;
    char *end;
    int which = 0;

    *a = (struct arguments){
        .cure = {.k = 10, .representatives = 10, .shrink = 0.3, .outliers = true, .variant = CURE_LAZY, .inner = 1}};
    opterr = !arguments_silent;

    for (int option; (option = getopt_long(argc, argv, "", options, &which)) != -1;) {
        if (strchr("kcti", option) && !read_count(optarg, strchr("ti", option) ? 65536 : UINT32_MAX, &count))
            return 1 + bad_option(options[which].name, optarg, "a whole number of at least 1");
        switch (option) {
        case 'k':
            a->cure.k = count;
            a->k_given = true;
            break;
        case 'c':
            a->cure.representatives = (unsigned)count;
            break;
        case 't':
            a->cure.outer = (unsigned)count;
            break;
        case 'i':
            a->cure.inner = (unsigned)count;
            break;
        case 'a':
            a->cure.shrink = strtod(optarg, &end);
            if (end == optarg || *end || !(a->cure.shrink >= 0 && a->cure.shrink <= 1))
                return 1 + bad_option("shrink", optarg, "a number from 0 to 1");
            break;
        case 'o':
            a->cure.outliers = strcmp(optarg, "remove") == 0;
            if (!a->cure.outliers && strcmp(optarg, "keep") != 0)
                return 1 + bad_option("outliers", optarg, "remove or keep");
            break;
        case 'v':
            if (read_variant(optarg, &a->cure.variant))
                return 2;
            break;
        case 'p':
            a->plot = optarg;
            break;
        case 'T':
            a->times = true;
            break;
        case 'h':
            if (!arguments_silent)
                printf(usage, PROGRAM_NAME);
            return 1;
        case 'V':
            if (!arguments_silent)
                program_print_version();
            return 1;
        default:
            say("%s --help lists the options", PROGRAM_NAME);
            return 2;
        }
    }
    if (argc - optind != 1) {
        say("%s; expected one FILE.csv or FILE.npy", argc == optind ? "no file given" : "more than one file given");
        return 2;
    }
    a->path = argv[optind];
    return 0;
}

bool arguments_fit(struct arguments *a, size_t points)
{
    if (points > UINT32_MAX - 1) {
        say("%s: %zu points; at most %u are possible", a->path, points, UINT32_MAX - 1);
        return false;
    }
    if (a->cure.k > points) {
        if (a->k_given) {
            say("%s: --k %zu, but there are only %zu points", a->path, a->cure.k, points);
            return false;
        }
        a->cure.k = points;
    }
    return true;
}

void arguments_progress(const char *phase, double part, size_t done, size_t total)
{
    static double start, last;
    static const char *running;
    double now = omp_get_wtime();

    if (running != phase) {
        running = phase;
        start = last = now;
    }
    if (done == total) {
        fprintf(stderr, "\r\033[K");
    } else if (now - last >= 0.2) {
        last = now;
        fprintf(stderr, "\r%s: %zu of %zu", phase, done, total);
        if (part > 0.01 && now - start > 1)
            fprintf(stderr, ", about %.0f s to go", (now - start) * (1 - part) / part);
        fprintf(stderr, "\033[K");
    }
}

bool arguments_print_labels(const uint32_t *labels, size_t n)
{
    for (size_t i = 0; i < n; i++)
        printf("%u\n", labels[i]);
    if (fflush(stdout) || ferror(stdout)) {
        say("standard output: %s", strerror(errno));
        return false;
    }
    return true;
}
