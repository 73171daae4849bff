/* pcure - groups the points of a file (cure.h says how). The labels go to standard output once all are known, one
 * integer a line. */
#include "cure.h"
#include "points.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: pcure [options] FILE.csv|FILE.npy\n"
    "Groups points by hierarchical clustering with representatives (CURE); labels, one a line, on standard output.\n"
    "  --k K                 clusters that remain (10, or as many as there are points)\n"
    "  --representatives C   scattered points that stand for a cluster (10)\n"
    "  --shrink A            how far they are moved towards the cluster's centre, 0 to 1 (0.3)\n"
    "  --variant V           nested: both loops of the update phase parallel (default); tasks: by work queues; "
    "sequential\n"
    "  --threads T           threads of the outer loop (OMP_NUM_THREADS, or the processors)\n"
    "  --inner T             threads of the inner loop (1; the papers' figure: the same as --threads)\n"
    "  --times               a line of JSON on standard error: seconds of the phases\n";

struct arguments {
    struct cure_options cure;
    bool times, k_given;
    const char *path;
};

static int bad_option(const char *name, const char *value, const char *expected)
{
    fprintf(stderr, "pcure: --%s %s: expected %s\n", name, value, expected);
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

/* 0, or the exit status plus 1. */
static int read_arguments(int argc, char **argv, struct arguments *a)
{
    static const struct option options[] = {
        {"k", required_argument, NULL, 'k'},
        {"representatives", required_argument, NULL, 'c'},
        {"shrink", required_argument, NULL, 'a'},
        {"variant", required_argument, NULL, 'v'},
        {"threads", required_argument, NULL, 't'},
        {"inner", required_argument, NULL, 'i'},
        {"times", no_argument, NULL, 'T'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    unsigned long count = 0;
    char *end;
    int which = 0;

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
        case 'v':
            if (read_variant(optarg, &a->cure.variant))
                return 2;
            break;
        case 'T':
            a->times = true;
            break;
        case 'h':
            fputs(usage, stdout);
            return 1;
        default:
            fprintf(stderr, "pcure: pcure --help lists the options\n");
            return 2;
        }
    }
    if (argc - optind != 1) {
        fprintf(stderr, "pcure: %s; expected one FILE.csv or FILE.npy\n",
                argc == optind ? "no file given" : "more than one file given");
        return 2;
    }
    a->path = argv[optind];
    return 0;
}

/* A line on the terminal that is written over, five times a second. */
static void show_progress(const char *phase, double part, size_t done, size_t total)
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

static int print_labels(const uint32_t *labels, size_t n)
{
    for (size_t i = 0; i < n; i++)
        printf("%u\n", labels[i]);
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "pcure: standard output: %s\n", strerror(errno));
        return 1;
    }
    return 0;
}

static int run(struct arguments *a, const struct points *points)
{
    struct cure_times times;
    uint32_t *labels = malloc(points->num * sizeof *labels);

    int error = labels ? cure(points->x, points->num, points->dim, &a->cure, labels, &times) : ENOMEM;
    if (error) {
        fprintf(stderr, "pcure: %s: %zu points: %s\n", a->path, points->num, strerror(error));
        free(labels);
        return 1;
    }
    if (a->times)
        fprintf(stderr,
                "{\"points\": %zu, \"dim\": %zu, \"k\": %zu, \"first_s\": %.6f, \"merge_s\": %.6f, \"update_s\": %.6f, "
                "\"searches\": %zu}\n",
                points->num, points->dim, a->cure.k, times.first, times.merge, times.update, times.searches);
    int status = print_labels(labels, points->num);
    free(labels);
    return status;
}

int main(int argc, char **argv)
{
    struct arguments a = {.cure = {.k = 10, .representatives = 10, .shrink = 0.3, .variant = CURE_LAZY, .inner = 1}};
    struct points points;

    int wrong = read_arguments(argc, argv, &a);
    if (wrong)
        return wrong - 1;
    if (!points_read(a.path, &points))
        return 1;
    if (points.num > UINT32_MAX - 1) {
        fprintf(stderr, "pcure: %s: %zu points; at most %u are possible\n", a.path, points.num, UINT32_MAX - 1);
        free(points.x);
        return 1;
    }
    if (a.cure.k > points.num) {
        if (a.k_given) {
            fprintf(stderr, "pcure: %s: --k %zu, but there are only %zu points\n", a.path, a.cure.k, points.num);
            free(points.x);
            return 1;
        }
        a.cure.k = points.num;
    }
    if (!a.cure.outer)
        a.cure.outer = (unsigned)omp_get_max_threads();
    if (a.cure.inner > 1)
        omp_set_max_active_levels(2);
    if (isatty(STDERR_FILENO))
        a.cure.progress = show_progress;
    int status = run(&a, &points);
    free(points.x);
    return status;
}
