/* The NAS benchmarks' command line and report (nas.h). */
#include "nas.h"
#include "program.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arguments {
    struct nas_run run;
    unsigned copies;
    bool json;
};

static const char classes[] = "SWAB";

unsigned nas_class_index(char class) { return (unsigned)(strchr(classes, class) - classes); }

void *nas_alloc(size_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);

    if (!memory) {
        fprintf(stderr, "%s: no memory for %zu bytes\n", PROGRAM_NAME, bytes);
        exit(1);
    }
    return memory;
}

void nas_progress(const struct nas_run *run, unsigned done, unsigned total)
{
    static double start, last;

    if (!run->show_progress)
        return;
    double now = omp_get_wtime();
    if (done == 0) {
        start = last = now;
        fprintf(stderr, "iteration 0 of %u", total);
    } else if (done == total) {
        fprintf(stderr, "\r\033[K");
    } else if (now - last >= 0.2) {
        last = now;
        fprintf(stderr, "\riteration %u of %u, about %.0f s to go\033[K", done, total,
                (now - start) / done * (total - done));
    }
}

static void add(struct nas_result *result, struct nas_value value)
{
    if (result->num_values == NAS_MOST_VALUES)
        abort();
    result->value[result->num_values++] = value;
}

void nas_compare(struct nas_result *result, const char *name, unsigned number, double found, double published)
{
    double difference = fabs((found - published) / published);

    add(result, (struct nas_value){name, number, false, {found}, {published}, difference});
}

void nas_compare_complex(struct nas_result *result, const char *name, unsigned number, const double found[2],
                         const double published[2])
{
    double difference = hypot(found[0] - published[0], found[1] - published[1]) / hypot(published[0], published[1]);

    add(result, (struct nas_value){name, number, true, {found[0], found[1]}, {published[0], published[1]}, difference});
}

static void print_usage(const struct nas_program *program)
{
    printf("Usage: %s [options] CLASS\n"
           "CLASS is S, W, A or B, from the smallest to the largest.\n"
           "  --threads T   threads of the team (OMP_NUM_THREADS, or the processors)\n"
           "  --copies P    an outer team of P threads, each with a run and a team of its own (1)\n"
           "  --json        a line of JSON more\n"
           "  --version     the version\n",
           PROGRAM_NAME);
    if (program->variants) {
        printf("  --variant V   %s", program->variants[0]);
        for (unsigned v = 1; program->variants[v]; v++)
            printf(" or %s", program->variants[v]);
        printf("; the first is the usual one\n");
    }
}

static int bad(const char *what, const char *value, const char *expected)
{
    fprintf(stderr, "%s: %s %s: expected %s\n", PROGRAM_NAME, what, value, expected);
    return 2;
}

static int read_count(const char *what, const char *text, unsigned *value)
{
    char *end;

    errno = 0;
    unsigned long count = strtoul(text, &end, 10);
    if (end == text || *end || errno || text[0] == '-' || count < 1 || count > 4096)
        return bad(what, text, "a whole number from 1 to 4096");
    *value = (unsigned)count;
    return 0;
}

static int read_variant(const struct nas_program *program, const char *text, unsigned *variant)
{
    for (*variant = 0; program->variants && program->variants[*variant]; ++*variant)
        if (strcmp(program->variants[*variant], text) == 0)
            return 0;
    return bad("--variant", text, program->variants ? "one that --help lists" : "none: this program has no variants");
}

/* 0, or the exit status plus 1. */
static int read_arguments(const struct nas_program *program, int argc, char **argv, struct arguments *a)
{
    static const struct option options[] = {
        {"threads", required_argument, NULL, 't'},
        {"copies", required_argument, NULL, 'c'},
        {"variant", required_argument, NULL, 'v'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    int wrong = 0;

    for (int option; !wrong && (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 't') {
            wrong = read_count("--threads", optarg, &a->run.threads);
        } else if (option == 'c') {
            wrong = read_count("--copies", optarg, &a->copies);
        } else if (option == 'v') {
            wrong = read_variant(program, optarg, &a->run.variant);
        } else if (option == 'j') {
            a->json = true;
        } else if (option == 'h') {
            print_usage(program);
            return 1;
        } else if (option == 'V') {
            program_print_version();
            return 1;
        } else {
            wrong = 2; /* getopt has said it */
        }
    }
    if (wrong)
        return wrong;
    if (argc - optind != 1) {
        fprintf(stderr, "%s: one class is expected (S, W, A or B), not %d\n", PROGRAM_NAME, argc - optind);
        return 2;
    }
    const char *class = argv[optind];
    if (strlen(class) != 1 || !strchr(classes, class[0])) {
        fprintf(stderr, "%s: class '%s': expected one of S, W, A, B\n", PROGRAM_NAME, class);
        return 2;
    }
    a->run.class = class[0];
    return 0;
}

static bool verified(const struct nas_result *result)
{
    bool fine = result->num_values > 0;

    for (unsigned i = 0; i < result->num_values; i++)
        fine = fine && result->value[i].difference <= result->epsilon; /* not a number: not fine */
    return fine;
}

static void format_number(char *text, size_t size, bool complex, const double number[2])
{
    if (complex)
        snprintf(text, size, "%.13e %+.13ei", number[0], number[1]);
    else
        snprintf(text, size, "%.13e", number[0]);
}

static void print_values(const struct nas_result *result)
{
    for (unsigned i = 0; i < result->num_values; i++) {
        const struct nas_value *v = &result->value[i];
        char name[64], found[64], published[64];
        snprintf(name, sizeof name, v->number ? "%s %u" : "%s", v->name, v->number);
        format_number(found, sizeof found, v->complex, v->found);
        format_number(published, sizeof published, v->complex, v->published);
        printf("%-16s  found %s  published %s  difference %.1e%s\n", name, found, published, v->difference,
               v->difference <= result->epsilon ? "" : "  WRONG");
    }
}

static int report(const struct nas_program *program, const struct arguments *a, const struct nas_result *results)
{
    char text[128] = "";
    double seconds = 0;
    bool fine = true;

    program->describe(a->run.class, text, sizeof text);
    printf("NAS %s, class %c: %s; %u threads", program->name, a->run.class, text, a->run.threads);
    if (a->copies > 1)
        printf(" in each of %u copies", a->copies);
    if (program->variants)
        printf("; %s", program->variants[a->run.variant]);
    printf("\n");
    for (unsigned i = 0; i < a->copies; i++) {
        if (i == 0 || !verified(&results[i]))
            print_values(&results[i]);
        fine = fine && verified(&results[i]);
        seconds = results[i].seconds > seconds ? results[i].seconds : seconds;
    }
    double mops = results[0].operations * a->copies / seconds * 1e-6;
    printf("epsilon %.0e: VERIFICATION %s\n%.3f seconds, %.2f Mop/s\n", results[0].epsilon,
           fine ? "SUCCESSFUL" : "FAILED", seconds, mops);
    if (a->json)
        printf("{\"program\": \"%s\", \"class\": \"%c\", \"threads\": %u, \"copies\": %u, \"verified\": %s, "
               "\"seconds\": %.6f, "
               "\"mops\": %.3f}\n",
               program->name, a->run.class, a->run.threads, a->copies, fine ? "true" : "false", seconds, mops);
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "%s: standard output: %s\n", PROGRAM_NAME, strerror(errno));
        return 1;
    }
    return !fine;
}

int nas_main(const struct nas_program *program, int argc, char **argv)
{
    struct arguments a = {.copies = 1};

    int wrong = read_arguments(program, argc, argv, &a);
    if (wrong)
        return wrong - 1;
    if (!a.run.threads)
        a.run.threads = (unsigned)omp_get_max_threads();
    struct nas_result *results = calloc(a.copies, sizeof *results);
    if (!results) {
        fprintf(stderr, "%s: no memory\n", PROGRAM_NAME);
        return 1;
    }
    if (a.copies == 1) {
        a.run.show_progress = isatty(STDERR_FILENO);
        program->solve(&a.run, results);
    } else {
        omp_set_max_active_levels(2);
#pragma omp parallel for schedule(static, 1) num_threads(a.copies)
        for (unsigned i = 0; i < a.copies; i++)
            program->solve(&a.run, &results[i]);
    }
    int status = report(program, &a, results);
    free(results);
    return status;
}
