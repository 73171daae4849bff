/* See app.h. */
#include "app.h"
#include "sample.h"

#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAMPLES_MAX = 1000 };

void *app_alloc(size_t bytes)
{
    void *p = calloc(1, bytes);
    if (!p) {
        fprintf(stderr, "app: no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return p;
}

static void check(const struct app *app, const char *how, uint64_t got, uint64_t wanted)
{
    if (got == wanted)
        return;
    fprintf(stderr, "%s, %s: %" PRIu64 ", wanted %" PRIu64 "\n", app->name, how, got, wanted);
    exit(1);
}

static double run_parallel(const struct app *app, unsigned size, int threads, uint64_t wanted)
{
    uint64_t result = 0;
    if (app->fresh)
        app->setup(size);
    double start = sample_now();
#pragma omp parallel num_threads(threads)
#pragma omp single
    result = app->parallel();
    double took = sample_now() - start;
    check(app, "parallel", app->result ? app->result() : result, wanted);
    return took;
}

static unsigned long read_number(const struct app *app, const char *text, unsigned long least, unsigned long most)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*end || end == text || value < least || value > most) {
        fprintf(stderr, "%s [SIZE [SAMPLES [THREADS [GRAIN]]]]: '%s' is not a number from %lu to %lu\n", app->name,
                text, least, most);
        exit(2);
    }
    return value;
}

int app_main(const struct app *app, int argc, char **argv)
{
    unsigned size = argc > 1 ? (unsigned)read_number(app, argv[1], app->size_least, app->size_most) : app->size;
    unsigned samples = argc > 2 ? (unsigned)read_number(app, argv[2], 1, SAMPLES_MAX) : 5;
    int threads = argc > 3 ? (int)read_number(app, argv[3], 1, 1000) : omp_get_max_threads();
    if (argc > 4 && !app->grain) {
        fprintf(stderr, "%s: a task has no limit that could be set; '%s' is not known\n", app->name, argv[4]);
        exit(2);
    }
    if (argc > 4)
        *app->grain->value = (unsigned)read_number(app, argv[4], app->grain->least, app->grain->most);
    double ms[SAMPLES_MAX], serial[SAMPLES_MAX];
    uint64_t wanted = 0;
    app->setup(size);
    for (unsigned i = 0; i < samples; i++) {
        if (i > 0 && app->fresh)
            app->setup(size);
        double start = sample_now();
        uint64_t result = app->serial();
        serial[i] = (sample_now() - start) * 1e3;
        if (app->result)
            result = app->result();
        check(app, "sequential", result, i ? wanted : result);
        wanted = result;
        if (serial[i] > 400) { /* long ones: a few do */
            for (unsigned k = i + 1; k < samples; k++)
                serial[k] = serial[i];
            break;
        }
    }
    if (app->known && app->known(size))
        check(app, "sequential, against the known answer", wanted, app->known(size));
    run_parallel(app, size, threads, wanted); /* teams and pools come into being here */
    for (unsigned i = 0; i < samples; i++)
        ms[i] = run_parallel(app, size, threads, wanted) * 1e3;
    struct sample_summary s = sample_summarize(ms, samples), twin = sample_summarize(serial, samples);
    double tasks = (double)app->tasks();
    printf("{\"bench\": \"%s\", \"unit\": \"ms\", \"median\": %.4f, \"ci95\": %.4f, \"least\": %.4f, \"serial\": %.4f, "
           "\"tasks\": %.0f, \"task_us\": %.3f, \"samples\": %u}\n",
           app->name, s.median, s.ci95, s.least, twin.median, tasks, twin.median * 1e3 / tasks, samples);
    return 0;
}
