/* What does an OpenMP construct cost, flat and nested? Method: epcc.h.
 *
 * epcc_nested [--constructs a,b,...] [--samples N] [--sample-us U] [--delay-ns D] [--list] CONFIG...
 * CONFIG: "4" a flat team of 4; "4x8" nested, four measurers with a team of 8 each. One line of JSON a construct and
 * CONFIG. The same binary runs under every runtime; nothing in it knows which one it is.
 * epcc_nested --reps N --constructs a CONFIG: runs a N times, without any clock. */
#include "epcc.h"

#include <getopt.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITERATIONS_PER_THREAD 128 /* of the scheduling constructs, as in the suite */

static void do_parallel(unsigned long reps, unsigned threads, unsigned measurer)
{
    (void)measurer;
    for (unsigned long r = 0; r < reps; r++) {
#pragma omp parallel num_threads(threads)
        epcc_delay();
    }
}

static void do_for(unsigned long reps, unsigned threads, unsigned measurer)
{
    (void)measurer;
#pragma omp parallel num_threads(threads)
    for (unsigned long r = 0; r < reps; r++) {
#pragma omp for
        for (unsigned i = 0; i < threads; i++)
            epcc_delay();
    }
}

static void do_parallel_for(unsigned long reps, unsigned threads, unsigned measurer)
{
    (void)measurer;
    for (unsigned long r = 0; r < reps; r++) {
#pragma omp parallel for num_threads(threads)
        for (unsigned i = 0; i < threads; i++)
            epcc_delay();
    }
}

static void do_barrier(unsigned long reps, unsigned threads, unsigned measurer)
{
    (void)measurer;
#pragma omp parallel num_threads(threads)
    for (unsigned long r = 0; r < reps; r++) {
        epcc_delay();
#pragma omp barrier
    }
}

static void do_single(unsigned long reps, unsigned threads, unsigned measurer)
{
    (void)measurer;
#pragma omp parallel num_threads(threads)
    for (unsigned long r = 0; r < reps; r++) {
#pragma omp single
        epcc_delay();
    }
}

static void do_critical(unsigned long reps, unsigned threads, unsigned measurer)
{
    (void)measurer;
#pragma omp parallel num_threads(threads)
    for (unsigned long r = 0; r < (reps + threads - 1) / threads; r++) {
#pragma omp critical
        epcc_delay();
    }
}

static omp_lock_t locks[EPCC_MEASURERS_MAX];

static void do_lock(unsigned long reps, unsigned threads, unsigned measurer)
{
#pragma omp parallel num_threads(threads)
    for (unsigned long r = 0; r < (reps + threads - 1) / threads; r++) {
        omp_set_lock(&locks[measurer]);
        epcc_delay();
        omp_unset_lock(&locks[measurer]);
    }
}

static void do_reduction(unsigned long reps, unsigned threads, unsigned measurer)
{
    (void)measurer;
    unsigned long sum = 0;
    for (unsigned long r = 0; r < reps; r++) {
#pragma omp parallel num_threads(threads) reduction(+ : sum)
        {
            epcc_delay();
            sum += 1;
        }
    }
    if (sum < reps)
        exit(1);
}

/* One function a schedule: the clause must be written out for the compiler to choose its entry points. */
#define SCHEDULE_BODY(name, clause)                                                                      \
    static void name(unsigned long reps, unsigned threads, unsigned measurer)                            \
    {                                                                                                    \
        (void)measurer;                                                                                  \
        _Pragma("omp parallel num_threads(threads)") for (unsigned long r = 0; r < reps; r++)            \
        {                                                                                                \
            _Pragma(clause) for (unsigned i = 0; i < threads * ITERATIONS_PER_THREAD; i++) epcc_delay(); \
        }                                                                                                \
    }
SCHEDULE_BODY(do_static, "omp for schedule(static, 1)")
SCHEDULE_BODY(do_dynamic, "omp for schedule(dynamic, 1)")
SCHEDULE_BODY(do_guided, "omp for schedule(guided, 1)")

static void do_task(unsigned long reps, unsigned threads, unsigned measurer)
{
    (void)measurer;
#pragma omp parallel num_threads(threads)
    for (unsigned long r = 0; r < reps; r++) {
#pragma omp task
        epcc_delay();
    }
}

static void do_taskwait(unsigned long reps, unsigned threads, unsigned measurer)
{
    (void)measurer;
#pragma omp parallel num_threads(threads)
    for (unsigned long r = 0; r < reps; r++) {
#pragma omp task
        epcc_delay();
#pragma omp taskwait
    }
}

/* No construct: what the bodies of the loops above take by themselves while all threads compute. Two processors of one
 * core are slower then than one of them alone, and every runtime's loops with them. */
static void do_bodies(unsigned long reps, unsigned threads, unsigned measurer)
{
    (void)measurer;
#pragma omp parallel num_threads(threads)
    for (unsigned long i = 0; i < reps * ITERATIONS_PER_THREAD; i++)
        epcc_delay();
}

static const struct epcc_construct constructs[] = {
    {"parallel", do_parallel, 1, true, 1},
    {"for", do_for, 1, true, 100},
    {"parallel for", do_parallel_for, 1, true, 1},
    {"barrier", do_barrier, 1, true, 100},
    {"single", do_single, 1, false, 100},
    {"critical", do_critical, 1, false, 100},
    {"lock", do_lock, 1, false, 100},
    {"reduction", do_reduction, 1, true, 1},
    {"static", do_static, ITERATIONS_PER_THREAD, true, 20},
    {"dynamic", do_dynamic, ITERATIONS_PER_THREAD, true, 20},
    {"guided", do_guided, ITERATIONS_PER_THREAD, true, 20},
    {"task", do_task, 1, true, 100},
    {"taskwait", do_taskwait, 1, true, 100},
    {"bodies", do_bodies, ITERATIONS_PER_THREAD, true, 20},
};
#define NUM_CONSTRUCTS (sizeof constructs / sizeof constructs[0])

static void refuse(const char *what, const char *value)
{
    fprintf(stderr, "epcc_nested: %s '%s'; see the head of epcc_nested.c\n", what, value);
    exit(2);
}

static bool listed(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = list; p; p = strchr(p, ',')) {
        p += *p == ',';
        if (strncmp(p, name, n) == 0 && (p[n] == ',' || p[n] == '\0'))
            return true;
    }
    return false;
}

static unsigned count_known(const char *list)
{
    unsigned known = 0;
    for (size_t i = 0; i < NUM_CONSTRUCTS; i++)
        known += listed(list, constructs[i].name);
    return known;
}

/* "4" or "4x8". */
static bool read_config(const char *text, unsigned *outer, unsigned *inner)
{
    char end;
    *outer = 0;
    if (sscanf(text, "%ux%u%c", outer, inner, &end) == 2)
        return *outer > 0 && *outer <= EPCC_MEASURERS_MAX && *inner > 0;
    *outer = 0;
    return sscanf(text, "%u%c", inner, &end) == 1 && *inner > 0;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"constructs", required_argument, NULL, 'c'},
        {"samples", required_argument, NULL, 's'},
        {"sample-us", required_argument, NULL, 'u'},
        {"delay-ns", required_argument, NULL, 'd'},
        {"list", no_argument, NULL, 'l'},
        {"reps", required_argument, NULL, 'r'},
        {0},
    };
    struct epcc_options o = {.samples = 10, .sample_seconds = 2e-3, .delay_ns = 10};
    const char *only = NULL;
    unsigned long reps = 0; /* 0: as many as the samples' time needs */
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (c) {
        case 'c':
            only = optarg;
            break;
        case 's':
            o.samples = (unsigned)atoi(optarg);
            break;
        case 'u':
            o.sample_seconds = atof(optarg) * 1e-6;
            break;
        case 'd':
            o.delay_ns = atof(optarg);
            break;
        case 'r':
            reps = strtoul(optarg, NULL, 10);
            break;
        case 'l':
            for (size_t i = 0; i < NUM_CONSTRUCTS; i++)
                puts(constructs[i].name);
            return 0;
        default:
            return 2;
        }
    }
    if (o.samples < 2 || o.samples > 100000 || o.sample_seconds <= 0 || o.delay_ns < 0)
        refuse("cannot measure with", "--samples, --sample-us or --delay-ns");
    if (only && count_known(only) == 0)
        refuse("no such construct in", only);
    if (optind == argc)
        refuse("no configuration", "4 or 4x8");
    omp_set_dynamic(0);
    omp_set_max_active_levels(2);
    if (!reps)
        epcc_calibrate(o.delay_ns);
    for (unsigned i = 0; i < EPCC_MEASURERS_MAX; i++)
        omp_init_lock(&locks[i]);
    bool all_threads = true;
    for (int a = optind; a < argc; a++) {
        unsigned outer = 0, inner = 0;
        if (!read_config(argv[a], &outer, &inner))
            refuse("not a configuration:", argv[a]);
        for (size_t i = 0; i < NUM_CONSTRUCTS; i++)
            if (!only || listed(only, constructs[i].name))
                all_threads &= reps ? epcc_repeat(&constructs[i], outer, inner, reps)
                                    : epcc_measure(&constructs[i], outer, inner, &o);
    }
    if (!all_threads)
        fprintf(stderr,
                "epcc_nested: the runtime gave fewer threads than asked for; see \"measurers\" and \"threads\"\n");
    return all_threads ? 0 : 1;
}
